// The registry leaves nothing out: every kind the engine knows appears in a sample, so that every one is proved by the
// conformance tests. A kind added to the engine fails here until it has a sample.
#include "engine/registry.hpp"

#include <gtest/gtest.h>

#include <set>

#include "engine/engine.hpp"
#include "laws/table.hpp"
#include "model/load.hpp"

namespace clatter {
namespace {

struct Seen {
  std::set<JointKind> joints;
  std::set<BodyKind> bodies;
  std::set<Mobility> mobilities;
  std::set<MeasureKind> measures;
  std::set<LawKind> laws;
  std::set<LawEvent> events;
  std::set<Deformation::Stress> stresses;
  std::set<Curve::Kind> curves;
  std::set<FunctionInput::Kind> inputs;
  std::set<std::string> contact_laws;
  int reversed_tree_joints = 0, joint_coordinate_measures = 0, nonholonomic_rows = 0;
};

void look(const System& system, Seen& seen) {
  for (const Joint& j : system.model.joints) {
    seen.joints.insert(j.kind);
    if (j.kind == JointKind::point_on_curve) seen.curves.insert(j.curve.kind);
  }
  for (const Body& b : system.model.bodies) seen.bodies.insert(b.kind);
  for (const Contact& c : system.model.contacts)
    if (const auto* law = std::get_if<CompliantContact>(&c.law))
      seen.contact_laws.insert(laws::row(law->normal).name());
  for (const Link& l : system.tree.links) seen.mobilities.insert(l.mobility);
  for (const System::JointIndex& j : system.joints) seen.reversed_tree_joints += j.link >= 0 && j.reversed;
  for (const Measure& m : system.measures) {
    if (m.velocity >= 0)
      ++seen.joint_coordinate_measures;
    else
      seen.measures.insert(m.kind);
  }
  const auto inputs = [&](const CompiledFunction& f) {
    for (const FunctionInput& in : f.inputs) seen.inputs.insert(in.kind);
  };
  for (const Deformation& d : system.deformations) {
    inputs(d.formula);
    if (d.status != DeformationStatus::elastic) continue;
    seen.stresses.insert(d.stress);
    if (d.stress == Deformation::Stress::law) seen.laws.insert(d.law.kind);
  }
  for (const System::EventIndex& e : system.events) seen.events.insert(e.which);
  for (const CompiledLoad& load : system.loads)
    for (const CompiledFunction& f : load.component) inputs(f);
  seen.nonholonomic_rows += system.sizes.nn;
}

const Seen& seen() {
  static const Seen all = [] {
    Seen out;
    for (const Registered& r : registry())
      for (const bool joint : {false, true}) {
        Model model = load_model_text(r.sample, r.name);
        model.joint_coordinates = joint;
        look(*System::compile(model), out);
      }
    return out;
  }();
  return all;
}

// Kinds are numbered from 0 to `last`.
template <class Kind>
void expect_all(const std::set<Kind>& have, Kind last, const char* what) {
  for (int k = 0; k <= static_cast<int>(last); ++k)
    EXPECT_TRUE(have.contains(static_cast<Kind>(k))) << what << " number " << k << " is in no sample";
}

TEST(Registry, HoldsEveryKindOfJointAndCurve) {
  expect_all(seen().joints, JointKind::coordinate, "joint kind");
  expect_all(seen().curves, Curve::Kind::formula, "curve kind");
  EXPECT_GT(seen().nonholonomic_rows, 0);
}

TEST(Registry, HoldsEveryKindOfBodyAndMobility) {
  expect_all(seen().bodies, BodyKind::planar_particle, "body kind");
  expect_all(seen().mobilities, Mobility::particle2, "mobility");
  EXPECT_GT(seen().reversed_tree_joints, 0);
}

TEST(Registry, HoldsEveryMeasureLawAndEvent) {
  expect_all(seen().measures, MeasureKind::slip, "measure kind");
  EXPECT_GT(seen().joint_coordinate_measures, 0);
  expect_all(seen().laws, LawKind::play_clipped, "law");
  expect_all(seen().stresses, Deformation::Stress::actuator, "stress");
  expect_all(seen().events, LawEvent::knot, "event");
}

TEST(Registry, HoldsEveryContactLaw) {
  for (const laws::LawRow& row : laws::table()) EXPECT_TRUE(seen().contact_laws.contains(row.name())) << row.name();
}

TEST(Registry, UsesEveryInputOfAFormula) { expect_all(seen().inputs, FunctionInput::Kind::own_rate, "input"); }

TEST(Registry, NamesEachSampleOnce) {
  std::set<std::string> names;
  for (const Registered& r : registry()) EXPECT_TRUE(names.insert(r.name).second) << r.name;
}

}  // namespace
}  // namespace clatter

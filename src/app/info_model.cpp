#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <ostream>

#include "app/changes.hpp"
#include "app/info.hpp"
#include "app/simulation.hpp"
#include "app/text.hpp"
#include "contact/motion.hpp"
#include "laws/table.hpp"
#include "model/beam.hpp"
#include "model/crowd.hpp"
#include "model/kinds.hpp"
#include "model/schema.hpp"
#include "record/reader.hpp"

namespace clatter::app {

namespace {

const char* kind_of(const Body& body) {
  switch (body.kind) {
    case BodyKind::rigid:
      return "rigid";
    case BodyKind::planar:
      return "planar";
    case BodyKind::particle:
      return "particle";
    case BodyKind::planar_particle:
      return "planar particle";
    case BodyKind::flexible:
      return "flexible";
    case BodyKind::planar_flexible:
      return "planar flexible";
    case BodyKind::beam:
      return "beam";
    case BodyKind::planar_beam:
      return "planar beam";
  }
  return "";
}

const char* kind_of(const ContactShape& shape) {
  using enum ContactShape::Kind;
  switch (shape.kind) {
    case line:
      return "line";
    case circle:
      return "circle";
    case polygon:
      return "polygon";
    case ellipse:
      return "ellipse";
    case curve:
      return "curve";
    case spline:
      return "spline";
    case plane:
      return "plane";
    case sphere:
      return "sphere";
    case box:
      return "box";
    case capsule:
      return "capsule";
    case cylinder:
      return "cylinder";
    case polytope:
      return "polytope";
  }
  return "";
}

std::string friction_text(const Friction& friction) {
  if (friction.curve) return ", friction by a curve";
  return friction.mu > 0 ? ", friction " + number(friction.mu) : ", no friction";
}

std::string friction_text(const JointFriction& f) {
  std::string text;
  const auto add = [&](const char* what, const Friction& law, const char* unit) {
    if (!law.any()) return;
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", what, law.curve ? "by a curve, at rest " : "",
                        number(law.mu) + unit);
  };
  add("torque", f.torque, " N m");
  add("force", f.force, " N");
  add("coefficient", f.coefficient, "");
  return text;
}

std::string moment_text(double rolling, double drilling) {
  std::string text;
  if (rolling > 0) text += fmt::format(", rolling friction {} m", number(rolling));
  if (drilling > 0) text += fmt::format(", drilling friction {} m", number(drilling));
  return text;
}

std::string law_text(const RigidContact& law) {
  using enum RigidContact::Impact;
  const char* impact = law.impact == newton ? "newton" : law.impact == poisson ? "poisson" : "moreau";
  std::string text = fmt::format("rigid, {} with restitution {}", impact, number(law.restitution));
  if (law.tangential_restitution != 0) text += fmt::format(" (tangential {})", number(law.tangential_restitution));
  text += friction_text(law.friction);
  if (law.impact_friction) text += fmt::format(" ({} in impacts)", number(*law.impact_friction));
  return text + moment_text(law.rolling, law.drilling);
}

// With the parameters that differ from what they are unless given.
std::string law_text(const CompliantContact& law) {
  const laws::LawRow& row = laws::row(law.normal);
  std::string text = row.name();
  for (std::size_t i = 0; i < row.parameters.size(); ++i)
    if (const laws::Parameter& p = row.parameters[i]; law.normal.parameter[i] != p.otherwise)
      text += fmt::format(", {} {}", p.key, number(law.normal.parameter[i]));
  return text + friction_text(law.friction) + moment_text(law.rolling, law.drilling);
}

// "hull (circle) and floor (line)"
std::string between_text(const Model& model, const Contact& contact) {
  if (contact.beams) {
    const auto name = [&](int body) { return model.bodies[static_cast<std::size_t>(body)].name; };
    return contact.beams->first == contact.beams->second
               ? fmt::format("{} (beam) and itself", name(contact.beams->first))
               : fmt::format("{} (beam) and {} (beam)", name(contact.beams->first), name(contact.beams->second));
  }
  if (contact.first < 0 || contact.second < 0) return "a gap in coordinates";
  const ContactShape& a = model.shapes[static_cast<std::size_t>(contact.first)];
  const ContactShape& b = model.shapes[static_cast<std::size_t>(contact.second)];
  return fmt::format("{} ({}) and {} ({})", a.name, kind_of(a), b.name, kind_of(b));
}

std::string vector_text(const Vec3& x) {
  return fmt::format("{} {} {}", number(x.x(), 4), number(x.y(), 4), number(x.z(), 4));
}

constexpr std::size_t kShown = 40;  // rows of a table before it is cut

void print_table(const Table& table, std::size_t left_out, std::ostream& out) {
  if (!table.empty()) fmt::print(out, "\n{}", table.text());
  if (left_out > 0) fmt::print(out, "  and {} more\n", whole(left_out));
}

}  // namespace

int info_model(const std::string& path, const Changes& changes, const Console& console) {
  Prepared prepared = prepare(load_changed(path, changes));
  const System& system = *prepared.system;
  const Model& model = system.model;
  Engine& engine = *prepared.engine;
  std::ostream& out = console.out;

  fmt::print(out, "{}{}{}\n", path, model.title.empty() ? "" : ": ", model.title);
  if (!model.description.empty()) fmt::print(out, "  {}\n", model.description);
  fmt::print(out, "  {}, {}, {}{}\n", counted(model.bodies.size(), "body", "bodies"),
             counted(model.joints.size(), "joint"),
             counted(model.loads.size() + model.force_elements.size(), "force element"),
             model.contacts.empty() ? "" : ", " + counted(model.contacts.size(), "contact"));
  fmt::print(out, "  {} coordinates: {}, {} ({} holonomic, {} non-holonomic), {}\n",
             model.joint_coordinates ? "joint" : "absolute",
             counted(static_cast<std::uint64_t>(system.sizes.nv), "velocity", "velocities"),
             counted(static_cast<std::uint64_t>(system.sizes.nc()), "constraint"), system.sizes.nh, system.sizes.nn,
             counted(static_cast<std::uint64_t>(system.sizes.nz), "inner state"));
  fmt::print(
      out, "  {} at the start\n",
      counted(static_cast<std::uint64_t>(prepared.degrees_of_freedom()), "degree of freedom", "degrees of freedom"));
  const std::vector<std::string> redundant = prepared.redundant();
  if (redundant.empty()) {
    if (system.sizes.nc() > 0) fmt::print(out, "  no redundant constraints\n");
  } else {
    fmt::print(out, "  {}:\n", counted(redundant.size(), "redundant constraint"));
    for (std::size_t i = 0; i < redundant.size() && i < kShown; ++i) {
      std::vector<std::string> others;
      for (const int row : prepared.rank.redundant[i].depends_on)
        others.push_back(prepared.told().engine->row_name(row));
      fmt::print(out, "    {}{}{}\n", redundant[i], others.empty() ? "" : ", already said by ", listed(others, 6));
    }
    if (redundant.size() > kShown) fmt::print(out, "    and {} more\n", redundant.size() - kShown);
  }
  engine.observe(prepared.start, nullptr);
  fmt::print(out, "  energy at the start: kinetic {} J, potential {} J\n", number(engine.kinetic(), 8),
             number(engine.potential(prepared.start), 8));
  const Simulate& s = model.simulate;
  fmt::print(out, "  runs {} from {} s to {} s, {}\n", method_name(s.method), number(s.start), number(s.end),
             model.checks.empty() ? std::string("has no checks") : counted(model.checks.size(), "check"));

  const auto shown = [](std::size_t n) { return std::min(n, kShown); };
  using enum Table::Align;
  Table bodies({"body", "kind", "mass/kg", "at/m", "velocity/(m/s)"}, {left, left, right});
  for (std::size_t i = 0; i < shown(model.bodies.size()); ++i) {
    const Body& body = model.bodies[i];
    const auto frame = engine.frame_state(system.bodies[i].frame);
    bodies.row({body.name, kind_of(body), number(body.mass), vector_text(frame.p), vector_text(frame.v)});
  }
  print_table(bodies, model.bodies.size() - shown(model.bodies.size()), out);

  const bool friction =
      std::any_of(model.joints.begin(), model.joints.end(), [](const Joint& j) { return j.friction.has_value(); });
  Table joints(friction ? std::vector<std::string>{"joint", "kind", "between", "friction"}
                        : std::vector<std::string>{"joint", "kind", "between"});
  for (std::size_t i = 0; i < shown(model.joints.size()); ++i) {
    const Joint& joint = model.joints[i];
    std::string between = joint.a.label.empty() ? joint.first : joint.a.label;
    const std::string& other = joint.b.label.empty() ? joint.second : joint.b.label;
    if (!other.empty()) between += " and " + other;
    std::vector<std::string> row{joint.name, joint_kind_name(joint.kind), between};
    if (friction) row.push_back(joint.friction ? friction_text(*joint.friction) : "");
    joints.row(row);
  }
  print_table(joints, model.joints.size() - shown(model.joints.size()), out);

  Table forces({"force", "on"});
  for (const Load& load : model.loads) forces.row({load.name, load.at.label});
  for (const Body& body : model.bodies)
    if (body.beam)
      for (const BeamSource::Pressure& p : body.beam->pressures)
        forces.row({p.name, fmt::format("{} ({})", body.name, p.above ? "above" : "below")});
  for (const ForceElement& e : model.force_elements) {
    forces.row({e.name, e.quantity.empty() ? e.a.label + " and " + e.b.label : e.quantity});
  }
  print_table(forces, 0, out);

  if (!prepared.motion->has_contacts()) return kDone;
  const contact::ContactSystem& system_contacts = prepared.motion->contacts();
  if (model.crowd) {
    Table crowd({"contact", "between", "law"});
    for (const CrowdContact& entry : model.crowd->contacts) {
      const auto shapes = [](const std::vector<int>& list) { return counted(list.size(), "shape"); };
      crowd.row(
          {entry.name,
           entry.among ? "any two of " + shapes(entry.first) : shapes(entry.first) + " and " + shapes(entry.second),
           law_text(entry.law)});
    }
    for (const CrowdRope& rope : model.crowd->ropes)
      crowd.row({rope.name, rope.a.label + " and " + rope.b.label, "rope of " + number(rope.length) + " m"});
    print_table(crowd, 0, out);
    return kDone;
  }
  Table contacts({"contact", "between", "law", "points"}, {left, left, left, right});
  for (std::size_t i = 0; i < shown(system_contacts.pairs.size()); ++i) {
    const contact::PairInstance& pair = system_contacts.pairs[i];
    const auto at = static_cast<std::size_t>(pair.contact);
    contacts.row({pair.name, between_text(model, model.contacts[at]),
                  std::visit([](const auto& law) { return law_text(law); }, system_contacts.laws[at]),
                  whole(static_cast<std::uint64_t>(pair.slots))});
  }
  print_table(contacts, system_contacts.pairs.size() - shown(system_contacts.pairs.size()), out);
  return kDone;
}

int info(const std::string& path, const Changes& changes, const Console& console) {
  if (record::Reader::is_result(path)) return info_result(path, console);
  return info_model(path, changes, console);
}

int schema(const Console& console) {
  console.out << json_schema() << "\n";
  return kDone;
}

}  // namespace clatter::app

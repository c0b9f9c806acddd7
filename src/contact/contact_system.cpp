#include "contact/contact_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "contact/compliant_law.hpp"
#include "laws/table.hpp"
#include "model/crowd.hpp"
#include "model/expression.hpp"

namespace clatter::contact {

namespace {

// Damping X with which a body that meets F = c delta^n (1 + X ddelta / v) at speed v leaves at e v, whatever its mass:
// from M ddelta' = -F, with w = ddelta / v, the work on the way in equals that on the way out,
//   int_0^1 w / (1 + X w) dw = int_0^e w / (1 - X w) dw,   so  X (1 + e) = log((1 + X) / (1 - X e)),   0 < X < 1 / e.
// (The law's own 3 (1 - e^2) / 4 is its limit for e near 1 and gives back far more below.)
double damping_for(double restitution) {
  constexpr double kSmallest = 0.02;  // e = 0 would take an unbounded damping
  const double e = std::max(restitution, kSmallest);
  if (e >= 1) return 0;
  double low = 0, high = 1 / e;  // the difference of the two sides is negative next to 0, +infinity at 1 / e
  for (int i = 0; i < 200; ++i) {
    const double x = 0.5 * (low + high);
    (std::log1p(x) - std::log1p(-x * e) - x * (1 + e) < 0 ? low : high) = x;
  }
  return 0.5 * (low + high);
}

// A compliant law that behaves like a rigid one on the model's own scales: stiff enough that the weight of the model's
// mass scale sinks in by kSink of its length scale, damped for the wanted restitution.
// Of beams it is elastic: what an impact takes from them is what their own elasticity does not give back, and the
// places where they touch have no history.
CompliantContact substitute(const RigidContact& law, const System& system, bool beams) {
  constexpr double kSink = 1e-5;
  CompliantContact c;
  const double acceleration = system.length_scale / (system.time_scale * system.time_scale);
  const double stiffness = system.mass_scale * acceleration / (kSink * system.length_scale);
  if (beams)
    c.normal = laws::value_of(laws::Elastic{{}, stiffness});
  else
    c.normal =
        laws::value_of(laws::LankaraniNikravesh{{}, stiffness, damping_for(law.restitution), 1, law.restitution});
  c.friction = law.friction;
  c.friction_velocity = 1e-4 * system.length_scale / system.time_scale;
  c.rolling = law.rolling;
  c.drilling = law.drilling;
  return c;
}

// Of models that no loader has read.
void check_parameters(const Model& model, const Contact& contact, const ContactLaw& law) {
  const auto* compliant = std::get_if<CompliantContact>(&law);
  const laws::Parameter* wrong = compliant == nullptr ? nullptr : laws::first_wrong(compliant->normal);
  if (wrong != nullptr)
    throw InputError(model.texts, contact.source,
                     fmt::format("the {} of contact `{}` {}", wrong->key, contact.name, laws::bound_text(wrong->bound)),
                     wrong->why);
}

// What places where beams touch each other cannot have: they wander, and share what a point has.
void refuse_between_beams(const Model& model, const Contact& contact, const ContactLaw& law, bool moments) {
  const auto refuse = [&](std::string message, std::string hint) {
    throw InputError(model.texts, contact.source, std::move(message), std::move(hint));
  };
  if (moments)
    refuse(fmt::format("contact `{}` is between beams and has no moments", contact.name),
           "leave out `rolling_friction` and `drilling_friction`");
  const auto* compliant = std::get_if<CompliantContact>(&law);
  if (compliant == nullptr) return;
  if (has_surface(*compliant) || remembers(*compliant))
    refuse(fmt::format("the law of contact `{}` remembers how each point was touched, but the places where beams touch "
                       "each other wander",
                       contact.name),
           "use a law that goes by the penetration and its rate alone, with a given `damping`");
  if (laws::row(compliant->normal).find("stiffness") == nullptr)
    refuse(fmt::format("the law of contact `{}` has no `stiffness` that places along beams could share", contact.name),
           "use a law with a `stiffness`");
}

// Joint coordinates by the names of their quantities; only those that are coordinates of the tree.
CoordinateRow coordinate_row(const Function& f, const System& sys, const Contact& contact) {
  CoordinateRow row;
  row.formula = f.expression;
  row.constant = f.constant;
  for (const std::string& name : f.inputs) {
    if (name == "t") {
      row.inputs.push_back({});
      continue;
    }
    const Measure* found = nullptr;
    std::vector<std::string> known;
    for (const System::JointComponentIndex& c : sys.joint_components) {
      const Measure& m = sys.measures[static_cast<std::size_t>(c.measure)];
      const std::string full = sys.model.joints[static_cast<std::size_t>(c.joint)].name + "." + c.name;
      if (m.velocity < 0) continue;
      known.push_back(full);
      if (full == name) found = &m;
    }
    if (found == nullptr)
      throw InputError(sys.model.texts, f.source,
                       fmt::format("contact `{}`: `{}` is not a coordinate of this model", contact.name, name),
                       known.empty()
                           ? "contacts written in coordinates need `coordinates: joint` and joints in the tree"
                           : did_you_mean(name, known));
    row.inputs.push_back({found->q, found->velocity, found->rate_scale});
  }
  return row;
}

int link_of_velocity(const System& sys, int v) {
  for (std::size_t l = 0; l < sys.tree.links.size(); ++l)
    if (v >= sys.tree.links[l].v && v < sys.tree.links[l].v + sys.tree.links[l].nv) return static_cast<int>(l);
  return -1;
}

void compile_coordinates(const Contact& contact, const System& sys, PairInstance& p) {
  auto c = std::make_shared<CoordinateContact>();
  c->row[0] = coordinate_row(*contact.gap, sys, contact);
  if (contact.slide) c->row[1] = coordinate_row(*contact.slide, sys, contact);
  p.tangents = 1;
  std::vector<int> trees;
  for (const CoordinateRow& row : c->row)
    for (const CoordinateRow::Input& in : row.inputs) {
      const int link = in.v < 0 ? -1 : link_of_velocity(sys, in.v);
      if (link < 0) continue;
      const int tree = sys.tree.links[static_cast<std::size_t>(link)].tree;
      if (std::find(trees.begin(), trees.end(), tree) != trees.end()) continue;
      trees.push_back(tree);
      (trees.size() == 1 ? p.link1 : p.link2) = link;
    }
  if (trees.empty() || trees.size() > 2)
    throw InputError(
        sys.model.texts, contact.source,
        fmt::format("contact `{}` must depend on the coordinates of one or two chains of bodies", contact.name), "");
  p.coordinates = std::move(c);
}

void compile_frictions(const System& sys, ContactSystem& out) {
  for (std::size_t i = 0; i < sys.joint_frictions.size(); ++i) {
    const JointFrictionIndex& f = sys.joint_frictions[i];
    FrictionInstance row;
    row.joint = static_cast<int>(i);
    row.count = f.count;
    row.name = sys.model.joints[static_cast<std::size_t>(f.joint)].name;
    if (out.friction_channels.empty() || out.friction_channels.back() != row.name)
      out.friction_channels.push_back(row.name);
    out.channel_of_friction.push_back(static_cast<int>(out.friction_channels.size()) - 1);
    const auto same = [&](const JointFrictionIndex& other) { return other.joint == f.joint; };
    if (std::count_if(sys.joint_frictions.begin(), sys.joint_frictions.end(), same) > 1)
      row.name += "." + (f.count > 1 ? std::string("slide") : f.component[0]);
    row.velocity = f.velocity;
    for (int k = 0; k < f.count; ++k) row.scale[k] = f.scale[k];
    const double arm = f.angular[0] ? f.scale[0] / out.length_scale : 1;
    row.speed_scale = out.velocity_scale * arm;
    row.force_scale = out.force_scale / arm;
    const Measure& m = sys.measures[static_cast<std::size_t>(f.measure[0])];
    if (m.velocity >= 0) {
      row.link1 = link_of_velocity(sys, m.velocity);
    } else {
      row.link1 = sys.frames[static_cast<std::size_t>(m.a)].link;
      row.link2 = sys.frames[static_cast<std::size_t>(m.b)].link;
    }
    out.frictions.push_back(std::move(row));
  }
  out.joint_frictions = static_cast<int>(out.frictions.size());
  out.friction_of_slot.assign(static_cast<std::size_t>(out.slots()), -1);
  for (const PairInstance& pair : out.pairs) {
    if (!pair.rigid || !pair.moments) continue;
    const RigidContact& law = std::get<RigidContact>(out.laws[static_cast<std::size_t>(pair.contact)]);
    for (int slot = pair.slot0; slot < pair.slot0 + pair.slots; ++slot) {
      FrictionInstance row;
      row.slot = slot;
      row.link1 = pair.link1;
      row.link2 = pair.link2;
      row.scale[0] = row.scale[1] = out.length_scale;
      row.speed_scale = out.velocity_scale;
      row.force_scale = out.force_scale;
      const auto add = [&](const char* what, double length, int count, int first) {
        if (length <= 0) return;
        if (out.friction_of_slot[static_cast<std::size_t>(slot)] < 0)
          out.friction_of_slot[static_cast<std::size_t>(slot)] = static_cast<int>(out.frictions.size());
        row.name = out.slot_name(slot) + "." + what;
        row.count = count;
        row.component[0] = first;
        row.component[1] = count == 2 ? first + 1 : -1;
        row.ratio = length / out.length_scale;
        out.frictions.push_back(row);
      };
      // In the plane everything turns about t2.
      add("rolling", law.rolling, pair.tangents, pair.tangents == 2 ? 4 : 5);
      if (pair.tangents == 2) add("drilling", law.drilling, 1, 3);
    }
  }
}

}  // namespace

std::shared_ptr<const ContactSystem> ContactSystem::compile(std::shared_ptr<const System> sys, bool smooth) {
  auto out = std::make_shared<ContactSystem>();
  const Model& model = sys->model;
  out->length_scale = sys->length_scale;
  out->velocity_scale = sys->length_scale / sys->time_scale;
  out->force_scale = sys->mass_scale * sys->length_scale / (sys->time_scale * sys->time_scale);
  for (const ContactShape& shape : model.shapes) {
    ShapeInstance s;
    s.name = shape.name;
    s.geometry = make_geometry(shape);
    // The body's own frame on its link, then the shape's place in the body's frame.
    Mat3 R_body = Mat3::Identity();
    Vec3 r_body = Vec3::Zero();
    if (!shape.at.marker.empty()) {
      const Frame place = sys->on_marker(shape.at);
      s.link = place.link;
      s.R = place.R;
      s.r = place.r;
      out->shapes.push_back(std::move(s));
      continue;
    }
    if (shape.at.body >= 0) {
      const BodyIndex& body = sys->bodies[static_cast<std::size_t>(shape.at.body)];
      const Frame& frame = sys->frames[static_cast<std::size_t>(body.frame)];
      s.link = frame.link;
      R_body = frame.R;
      r_body = frame.r;
    }
    s.R = R_body * shape.at.placement.rotation.toRotationMatrix();
    s.r = r_body + R_body * shape.at.placement.position;
    out->shapes.push_back(std::move(s));
  }
  for (std::size_t i = 0; i < model.contacts.size(); ++i) {
    const Contact& contact = model.contacts[i];
    ContactLaw law = contact.law;
    if (smooth && std::holds_alternative<RigidContact>(law))
      law = contact.smooth ? *contact.smooth : substitute(std::get<RigidContact>(law), *sys, contact.beams != nullptr);
    if (auto* c = std::get_if<CompliantContact>(&law);
        c != nullptr && c->friction_velocity <= 0 && (c->friction.any() || c->rolling > 0 || c->drilling > 0))
      c->friction_velocity = 1e-3 * out->velocity_scale;
    check_parameters(model, contact, law);
    PairInstance p;
    p.moments = std::visit([](const auto& l) { return l.rolling > 0 || l.drilling > 0; }, law);
    p.name = contact.name;
    p.shape1 = contact.first;
    p.shape2 = contact.second;
    p.contact = static_cast<int>(i);
    p.rigid = std::holds_alternative<RigidContact>(law);
    const std::string& group = contact.group.empty() ? contact.name : contact.group;
    const auto found = std::find(out->groups.begin(), out->groups.end(), group);
    p.group = static_cast<int>(found - out->groups.begin());
    if (found == out->groups.end()) out->groups.push_back(group);
    if (contact.beams) {
      refuse_between_beams(model, contact, law, p.moments);
      auto beams = std::make_shared<BeamPair>(*contact.beams, *sys, p.rigid);
      p.slots = beams->slots();
      p.tangents = beams->dim - 1;
      p.link1 = beams->beam[0].link;
      p.link2 = beams->self ? -1 : beams->beam[1].link;
      p.beams = std::move(beams);
    } else if (contact.gap) {
      if (!p.rigid)
        throw InputError(
            model.texts, contact.source,
            fmt::format("contact `{}` is written in coordinates and can only be rigid", contact.name),
            smooth ? "use method: event-driven or time-stepping" : "use a force element with a law instead");
      if (p.moments)
        throw InputError(model.texts, contact.source,
                         fmt::format("contact `{}` is written in coordinates and has no moments", contact.name),
                         "leave out `rolling_friction` and `drilling_friction`");
      compile_coordinates(contact, *sys, p);
    } else {
      const ShapeInstance& s1 = out->shapes[static_cast<std::size_t>(p.shape1)];
      const ShapeInstance& s2 = out->shapes[static_cast<std::size_t>(p.shape2)];
      const PairKind kind = pair_kind(s1.geometry, s2.geometry, contact);
      p.slots = kind.slots;
      p.tangents = kind.tangents;
      p.link1 = s1.link;
      p.link2 = s2.link;
    }
    p.slot0 = out->slots();
    for (int k = 0; k < p.slots; ++k) out->pair_of_slot.push_back(static_cast<int>(i));
    (p.rigid ? out->any_rigid : out->any_compliant) = true;
    out->laws.push_back(std::move(law));
    out->pairs.push_back(std::move(p));
  }
  if (model.crowd) {
    // Pairs are made while it runs (crowd_search.hpp); entries and ropes have their channels all the same.
    for (const CrowdContact& entry : model.crowd->contacts) out->groups.push_back(entry.name);
    for (const CrowdRope& rope : model.crowd->ropes) out->groups.push_back(rope.name);
  }
  out->smooth = smooth;
  compile_frictions(*sys, *out);
  out->system = std::move(sys);
  return out;
}

std::string ContactSystem::slot_name(int slot) const {
  const PairInstance& p = pair(slot);
  return p.slots == 1 ? p.name : fmt::format("{}[{}]", p.name, slot - p.slot0 + 1);
}

std::vector<ContactEntry> ContactSystem::several() const {
  std::vector<ContactEntry> entries;
  for (std::size_t i = 0; i < pairs.size();) {
    std::size_t end = i;
    ContactEntry e{groups[static_cast<std::size_t>(pairs[i].group)], pairs[i].slot0, 0, pairs[i].tangents};
    for (; end < pairs.size() && pairs[end].group == pairs[i].group; ++end) e.slots += pairs[end].slots;
    if (end - i > 1) entries.push_back(std::move(e));
    i = end;
  }
  return entries;
}

double friction_coefficient(const Friction& friction, double v, double* derivative) {
  if (!friction.curve) {
    if (derivative != nullptr) *derivative = 0;
    return friction.mu;
  }
  double gradient = 0;
  const double mu = friction.curve->gradient({&v, 1}, {&gradient, 1});
  if (derivative != nullptr) *derivative = gradient;
  return std::max(0.0, mu);
}

}  // namespace clatter::contact

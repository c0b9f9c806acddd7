#include "contact/overlap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"
#include "contact/contact_dynamics.hpp"
#include "contact/gap_correction.hpp"
#include "integrate/projection.hpp"

namespace clatter::contact {

namespace {

// Of the smaller shape's bound.
constexpr double kLargestOverlap = 0.1;
// Of the length scale: contacts this near touch, in every method.
constexpr double kTouching = 1e-9;
constexpr int kPasses = 50;

StartOverlap measure(Contacts& places) {
  const ContactSystem& contacts = places.system();
  const Model& model = contacts.system->model;
  const auto size = [&](int shape) {
    const double bound = shape < 0 ? 0 : contacts.shapes[static_cast<std::size_t>(shape)].geometry.bound;
    return bound > 0 ? bound : std::numeric_limits<double>::infinity();
  };
  StartOverlap out;
  double worst = -1;
  for (const int slot : places.near()) {
    const PairInstance& pair = contacts.pair(slot);
    const double depth = -places[slot].gap;
    if (!pair.rigid || !(depth > kTouching * contacts.length_scale)) continue;
    const bool shapes = !pair.in_coordinates();
    const double share = shapes ? depth / std::min(size(pair.shape1), size(pair.shape2)) : 0;
    ++out.places;
    out.depth = std::max(out.depth, depth);
    if (!(share > worst)) continue;
    worst = out.share = share;
    const Contact& contact = model.contacts[static_cast<std::size_t>(pair.contact)];
    out.source = contact.source;
    out.contact = contact.group.empty() ? contact.name : contact.group;
    out.shape1 = shapes ? contacts.shapes[static_cast<std::size_t>(pair.shape1)].name : std::string();
    out.shape2 = shapes ? contacts.shapes[static_cast<std::size_t>(pair.shape2)].name : std::string();
  }
  return out;
}

std::string what(const StartOverlap& o, const char* verb) {
  if (o.shape1.empty()) return fmt::format("contact `{}` {} by {:.3g} m at the start", o.contact, verb, o.depth);
  return fmt::format("contact `{}`: `{}` and `{}` {} by {:.3g} m at the start", o.contact, o.shape1, o.shape2, verb,
                     o.depth);
}

}  // namespace

std::string StartOverlap::text() const {
  std::string more = places > 1 ? fmt::format(" (deepest of {} places)", places) : std::string();
  std::string rest = left > 0 ? fmt::format("; {:.3g} m are left to the first steps", left) : std::string();
  return fmt::format("start-overlap: {}{}; bodies were moved by up to {:.3g} m to take it back{}",
                     what(*this, "overlapped"), more, moved, rest);
}

void judge_overlap(const Model& model, const StartOverlap& o) {
  if (o.places == 0) return;
  if (o.share > kLargestOverlap)
    throw InputError(model.texts, o.source, what(o, "overlap"),
                     "move them apart: more than a tenth of a shape is not taken for an inaccuracy");
  if (!model.initial.adjust_positions)
    throw InputError(model.texts, o.source, what(o, "overlap"),
                     "move them apart, or allow positions to be adjusted (`initial: adjust_positions`)");
}

std::vector<Vec3> mass_centres(const Engine& engine) {
  std::vector<Vec3> out;
  for (const LinkMotion& m : engine.links().motion) out.push_back(m.p);
  return out;
}

double largest_shift(const Engine& engine, const std::vector<Vec3>& before) {
  double most = 0;
  for (std::size_t i = 0; i < before.size(); ++i)
    most = std::max(most, (engine.links().motion[i].p - before[i]).norm());
  return most;
}

StartOverlap take_back_overlap(const std::shared_ptr<const ContactSystem>& contacts, Engine& engine, State& start) {
  if (!contacts->any_rigid) return {};
  ContactDynamics dynamics(contacts, engine);  // of its own: a look leaves traces in what it remembers
  Contacts& places = dynamics.contacts();
  State s = start;
  s.z.conservativeResize(dynamics.sizes().nz);
  if (s.z.size() > start.z.size()) s.z.tail(s.z.size() - start.z.size()).setZero();
  places.detect(dynamics.engine_state(s), 0);
  StartOverlap out = measure(places);
  const Model& model = engine.system().model;
  judge_overlap(model, out);
  if (out.places == 0) return out;

  const std::vector<Vec3> before = mass_centres(engine);
  const Sizes& n = dynamics.sizes();
  Projector projector(dynamics);
  projector.start(s);
  StepProblem problem(places, dynamics.frictions());
  GapCorrection correction(n);
  std::unique_ptr<StepMatrix> matrix;
  if (!engine.system().flexible.empty()) {
    matrix = std::make_unique<StepMatrix>(dynamics);
    const double T = engine.system().time_scale;
    if (!matrix->factorize(s, Vec::Zero(n.nv), Vec::Zero(n.nc()), 0, T * T)) matrix.reset();
  }
  const double touching = kTouching * contacts->length_scale;
  out.left = out.depth;
  for (int pass = 0; pass < kPasses && out.left > 1e-3 * touching; ++pass) {
    places.detect(dynamics.engine_state(s), GapCorrection::kReach * out.left);
    if (!correction.find(problem, places, matrix.get(), out.left)) break;
    dynamics.plus(s.q, correction.delta, s.q);
    if (n.nh > 0) projector.positions(s);
    places.detect(dynamics.engine_state(s), 0);
    out.left = 0;
    for (const int slot : places.near())
      if (contacts->pair(slot).rigid) out.left = std::max(out.left, -places[slot].gap);
  }
  if (out.left > touching)
    throw InputError(
        model.texts, out.source, what(out, "overlap"),
        fmt::format("move them apart: joints or other shapes hold them, {:.3g} m are left of it", out.left));
  out.left = 0;
  if (n.nc() > 0) projector.velocities(s);
  out.moved = largest_shift(engine, before);
  start.q = s.q;
  start.v = s.v;
  return out;
}

}  // namespace clatter::contact

// Compliant contacts: kinematics of the slots -> laws -> wrenches, and the tangents of it all.
//
// With r(gap, gap', s1, s2, spins) the force components along (n, t1, t2) and the moments about them, g_k the gradients
// of the rates in link space, J the columns of the two links at their mass centres and w_k = J^T g_k (symbols as in
// engine/derivatives.hpp),
//
//   residual  -sum_k r_k w_k
//   K += -sum_k r_k J^T H'_k J - sum_k w_k (dr_k/dgap w_0 + sum_j dr_k/drate_j (J^T rate_x_j + Zq^T g_j))^T
//   C += -sum_kj w_k dr_k/drate_j w_j^T
//
// H' contains the lever arm that moves with the link; the turning of the columns under the applied wrenches is the
// engine's part.
#include "contact/compliant.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "contact/compliant_law.hpp"
#include "laws/table.hpp"

namespace clatter::contact {

namespace {

// Distance of the two event functions of a slot, in parts of the length scale: far below any tolerance of a run, far
// above the rounding of a gap.
constexpr double kShift = 1e-12;
// A touch slower than this part of the velocity scale counts as this fast for laws that remember it, whose damping
// would grow without bound in the last bounces.
constexpr double kSlowest = 1e-4;
// Shapes farther apart than this part of their size are not looked at closely.
constexpr double kReach = 0.1;

const Vec3 kNone = Vec3::Zero();

}  // namespace

CompliantForces::CompliantForces(Contacts& contacts) : contacts_(contacts) {
  const ContactSystem& sys = contacts_.system();
  shift_ = kShift;
  index_.assign(static_cast<std::size_t>(sys.slots()), -1);
  std::size_t longest = 0;
  for (const std::vector<int>& p : sys.system->tree.path) longest = std::max(longest, p.size());
  std::size_t beam_slots = 0;
  for (const PairInstance& pair : sys.pairs)
    if (!pair.rigid && pair.beams) beam_slots += static_cast<std::size_t>(pair.slots);
  beam_laws_.reserve(beam_slots);
  if (beam_slots > 0) generalized_.setZero(contacts.engine().sizes().nv);
  for (std::size_t i = 0; i < sys.pairs.size(); ++i) {
    const PairInstance& pair = sys.pairs[i];
    if (pair.rigid) continue;
    if (pair.beams) beams_.push_back({static_cast<int>(i), {}});
    for (int k = 0; k < pair.slots; ++k) {
      Slot s;
      s.slot = pair.slot0 + k;
      s.pair = static_cast<int>(i);
      s.link1 = pair.link1;
      s.link2 = pair.link2;
      s.tangents = pair.tangents;
      s.moments = pair.moments;
      s.group = pair.group;
      s.law = &std::get<CompliantContact>(sys.law(s.slot));
      if (pair.beams) {
        CompliantContact& own = beam_laws_.emplace_back(*s.law);
        const double stiffness = laws::parameter(own.normal, "stiffness");
        laws::spread(own.normal, pair.beams->stiffness(k, stiffness) / stiffness);
        s.law = &own;
        s.gap = sys.length_scale;  // until it is near something
      }
      if (has_surface(*s.law)) s.z = inner_++;
      set_hysteresis(s);
      index_[static_cast<std::size_t>(s.slot)] = static_cast<int>(slots_.size());
      slots_.push_back(s);
    }
  }
  if (slots_.empty()) return;
  for (auto& p : points_) p.reserve(static_cast<int>(longest));
  columns_.reserve(2 * longest);
  rows_.setZero(12, static_cast<Eigen::Index>(2 * longest));
}

void CompliantForces::set_hysteresis(Slot& s) const {
  const double scale = contacts_.system().velocity_scale;
  s.phase.chi = hysteresis(*s.law, s.approach > 0 ? std::max(s.approach, kSlowest * scale) : scale);
}

// Forces of beams on beams: laws go by the gap.
void CompliantForces::apply_beams(Beams& beams) {
  const double reach = kReach * contacts_.system().pairs[static_cast<std::size_t>(beams.pair)].beams->beam[0].reach();
  for (const int slot : beams.near) {
    Slot& s = slots_[static_cast<std::size_t>(index_[static_cast<std::size_t>(slot)])];
    s.gap = contacts_.system().length_scale;
    evaluate(s, Where::far);
  }
  contacts_.find_beams(beams.pair, reach, beams.near);
  beams.gap = contacts_.system().length_scale;
  for (const int slot : beams.near) {
    Slot& s = slots_[static_cast<std::size_t>(index_[static_cast<std::size_t>(slot)])];
    evaluate(s, Where::found);
    beams.gap = std::min(beams.gap, s.gap);
    for (int k = 0; k <= s.tangents; ++k) {
      if (s.force[k] == 0) continue;
      contacts_.add_beam_force(slot, k, s.force[k], generalized_.data());
    }
  }
}

// Balls around the two shapes do not come near each other; `apart` is then a lower bound of every gap of the pair.
bool CompliantForces::far(const PairInstance& pair, const CompliantContact& law, double& apart) const {
  const ContactSystem& sys = contacts_.system();
  const ShapeInstance& s1 = sys.shapes[static_cast<std::size_t>(pair.shape1)];
  const ShapeInstance& s2 = sys.shapes[static_cast<std::size_t>(pair.shape2)];
  const double b1 = s1.geometry.bound, b2 = s2.geometry.bound;
  if (!std::isfinite(b1 + b2) || s1.geometry.hollow || s2.geometry.hollow) return false;
  const auto place = [&](const ShapeInstance& s, Vec3& p, Vec3& v, double& w) {
    p = s.r;
    v.setZero();
    w = 0;
    if (s.link < 0) return;
    const LinkMotion& m = contacts_.engine().links().motion[static_cast<std::size_t>(s.link)];
    const Vec3 r = m.R * s.r;
    p = m.p + r;
    v = m.v + m.w.cross(r);
    w = m.w.norm();
  };
  Vec3 p1, p2, v1, v2;
  double w1, w2;
  place(s1, p1, v1, w1);
  place(s2, p2, v2, w2);
  apart = (p1 - p2).norm() - b1 - b2;
  double reach = kReach * (b1 + b2);
  // Some laws act before touch, the sooner the faster.
  if (acts_before_touch(law)) reach += reach_before_touch(law, (v1 - v2).norm() + w1 * b1 + w2 * b2);
  return apart > reach;
}

void CompliantForces::evaluate(Slot& s, Where where) {
  bool near = where != Where::far;
  if (near) {
    if (where == Where::found)
      contacts_.evaluate_found(s.slot);
    else
      contacts_.evaluate(s.slot, false);
    const SlotState& k = contacts_[s.slot];
    near = k.present;
    s.gap = k.gap;
    for (int i = 0; i < 6; ++i) s.rate[i] = near ? k.rate[i] : 0;
  }
  s.near = near;
  if (!near) {
    s.force.setZero();
    s.moment.setZero();
    std::fill(s.rate, s.rate + 6, 0.0);
    // A surface that nobody touches goes on relaxing.
    const NormalLaw<double> left = s.z >= 0 ? left_surface(*s.law, s.surface) : NormalLaw<double>{0, 0, 0};
    s.stored = left.stored;
    s.loss = left.loss;
    return;
  }
  const NormalLaw<double> n = normal_law<double>(*s.law, s.phase, s.gap, s.rate[0], s.surface);
  const double lost = friction_law<double>(*s.law, s.tangents, n.force, s.rate[1], s.rate[2], s.force.data());
  s.stored = n.stored;
  s.loss = n.loss + lost;
  if (where == Where::found) measure(s);
  if (s.moments)
    s.loss +=
        moment_law<double>(*s.law, s.tangents, n.force, s.rate + 3, contacts_.system().length_scale, s.moment.data());
}

// Beams: the law by its part m. Where m changes, or the place moves along the beam to where the gap is another, the
// stored energy m E(gap) changes without work of the force: booked as m' E + m E' drift.
void CompliantForces::measure(Slot& s) {
  const SlotState& k = contacts_[s.slot];
  s.measure = k.measure;
  double passed = 0;
  if (k.measure_rate != 0 || k.drift != 0) {
    using D = Dual<1>;
    const NormalLaw<D> law = normal_law<D>(*s.law, s.phase, D::variable(s.gap, 0), D(s.rate[0]), D(s.surface));
    passed = k.measure_rate * law.stored.v + k.measure * law.stored.d[0] * k.drift;
  }
  s.force *= s.measure;
  s.stored *= s.measure;
  s.loss = s.measure * s.loss + passed;
}

void CompliantForces::apply(double, const double* z, std::vector<Engine::LinkWrench>& wrenches) {
  int pair = -1;
  bool near = false;
  double apart = 0;
  if (!beams_.empty()) generalized_.setZero();
  for (Beams& beams : beams_) apply_beams(beams);
  for (Slot& s : slots_) {
    if (contacts_.system().pairs[static_cast<std::size_t>(s.pair)].beams) continue;
    if (s.pair != pair) {
      pair = s.pair;
      near = !far(contacts_.system().pairs[static_cast<std::size_t>(pair)], *s.law, apart);
    }
    if (s.z >= 0) {
      s.state = z[s.z];
      s.surface = s.state + s.offset;
    }
    if (!near) s.gap = apart;
    evaluate(s, near ? Where::near : Where::far);
    if (s.force[0] != 0) contacts_.wrenches(s.slot, s.force, wrenches);
    if (!s.moment.isZero(0.0)) {
      const Vec3 torque = contacts_[s.slot].basis * s.moment;
      if (s.link1 >= 0) wrenches.push_back({s.link1, kNone, torque});
      if (s.link2 >= 0) wrenches.push_back({s.link2, kNone, -torque});
    }
  }
}

void CompliantForces::inner_rates(const double* z, double* zdot) const {
  for (const Slot& s : slots_)
    if (s.z >= 0)
      zdot[s.z] = s.near ? surface_rate(*s.law, s.phase, s.gap, s.rate[0], z[s.z] + s.offset)
                         : -relaxation(*s.law) * (z[s.z] + s.offset);
}

double CompliantForces::stored_energy() const {
  double E = 0;
  for (const Slot& s : slots_) E += s.stored;
  return E;
}

void CompliantForces::powers(std::span<double> p) const {
  for (const Slot& s : slots_) p[static_cast<std::size_t>(s.group)] += s.loss;
}

void CompliantForces::events(double* g) const {
  const double length = contacts_.system().length_scale;
  for (const Slot& s : slots_) {
    double &begins = *g++, &ends = *g++;
    begins = ends = 1;
    const PairInstance& pair = contacts_.system().pairs[static_cast<std::size_t>(s.pair)];
    if (pair.beams) {
      if (s.slot != pair.slot0) continue;
      for (const Beams& beams : beams_)
        if (beams.pair == s.pair && beams.watched) begins = beams.gap / length + shift_;
      continue;
    }
    if (!s.near) {
      // A slot whose point of contact is lost (an edge passed) has lost its force too.
      if (s.phase.closure == Closure::closed) ends = -1;
      continue;
    }
    const bool relaxing = s.z >= 0;
    if (s.phase.closure == Closure::closed)
      ends = indicator(*s.law, s.phase, length, s.gap, s.rate[0]) + shift_;
    else if (relaxing)
      begins = (s.gap - s.surface) / length + shift_;
    else
      begins = shift_ - indicator(*s.law, s.phase, length, s.gap, s.rate[0]);  // positive also where it just touches
  }
}

std::pair<int, int> CompliantForces::event_info(int index) const {
  return {slots_[static_cast<std::size_t>(index / 2)].slot, index % 2};
}

void CompliantForces::on_events(std::span<const int> indices) {
  for (const int index : indices) {
    Slot& s = slots_[static_cast<std::size_t>(index / 2)];
    if (contacts_.system().pairs[static_cast<std::size_t>(s.pair)].beams) continue;
    bool closes = index % 2 == 0;
    if (s.near) evaluate(s, Where::near);
    // Nobody settled this contact: its first event may as well be its end.
    if (s.phase.closure == Closure::unknown) closes = s.near && s.rate[0] < 0;
    s.phase.closure = closes ? Closure::closed : Closure::open;
    if (closes && s.rate[0] < 0) {
      s.approach = -s.rate[0];
      set_hysteresis(s);
    }
    if (!closes && s.z >= 0 && s.near) {
      s.offset = s.gap - s.state;
      s.surface = s.gap;
    }
    evaluate(s, s.near ? Where::near : Where::far);
  }
}

void CompliantForces::beam_rooms(double reach, std::vector<double>& rooms) {
  for (const Beams& beams : beams_) {
    double room = beams.gap;
    if (room > 0) {
      const BeamPair& pair = *contacts_.system().pairs[static_cast<std::size_t>(beams.pair)].beams;
      const double far = reach * (pair.beam[0].reach() + pair.beam[1].reach());
      room = far;
      contacts_.find_beams(beams.pair, far, found_);
      for (const int slot : found_) {
        contacts_.evaluate_found(slot);
        room = std::min(room, contacts_[slot].gap);
      }
    }
    rooms.push_back(room);
  }
}

double CompliantForces::nearest_open() const {
  double nearest = std::numeric_limits<double>::infinity();
  for (const Slot& s : slots_)
    if (!laws::closed(s.phase, s.gap, s.surface)) nearest = std::min(nearest, s.gap);
  return nearest;
}

void CompliantForces::settle() {
  const double touch = kShift * contacts_.system().length_scale;
  for (Slot& s : slots_) {
    if (contacts_.system().pairs[static_cast<std::size_t>(s.pair)].beams) continue;
    const bool penetrates = s.near && s.gap < s.surface - touch;
    const bool touches = s.near && !penetrates && s.gap <= s.surface + touch && s.rate[0] < 0;
    const bool pushes = s.near && indicator(*s.law, s.phase, contacts_.system().length_scale, s.gap, s.rate[0]) > 0;
    const bool by_force = acts_before_touch(*s.law) || s.z >= 0;
    const bool closes = by_force ? (penetrates || touches || s.z < 0) && pushes : penetrates || touches;
    s.phase.closure = closes ? Closure::closed : Closure::open;
    s.approach = touches ? -s.rate[0] : 0;
    set_hysteresis(s);
    // A surface found behind the gap starts from it.
    s.offset = s.z >= 0 && (penetrates || touches) ? s.gap - s.state : 0;
    if (s.z >= 0) s.surface = s.state + s.offset;
    evaluate(s, s.near ? Where::near : Where::far);
  }
}

void CompliantForces::exchange(Archive& archive) {
  for (Slot& s : slots_) {
    auto closure = static_cast<int>(s.phase.closure);
    archive.count(closure);
    archive.value(s.approach);
    archive.value(s.offset);
    if (!archive.reading()) continue;
    s.phase.closure = static_cast<Closure>(closure);
    set_hysteresis(s);
  }
}

const CompliantForces::Slot* CompliantForces::find(int slot) const {
  const int i = index_[static_cast<std::size_t>(slot)];
  return i < 0 ? nullptr : &slots_[static_cast<std::size_t>(i)];
}

Vec3 CompliantForces::force(int slot) const {
  const Slot* s = find(slot);
  return s == nullptr ? kNone : s->force;
}

Vec3 CompliantForces::moment(int slot) const {
  const Slot* s = find(slot);
  return s == nullptr ? kNone : s->moment;
}

double CompliantForces::surface(int slot) const {
  const Slot* s = find(slot);
  return s == nullptr || s->z < 0 ? 0 : (laws::closed(s->phase, s->gap, s->surface) ? s->gap : s->surface);
}

bool CompliantForces::closed(int slot) const {
  const Slot* s = find(slot);
  return s != nullptr && laws::closed(s->phase, s->gap, s->surface);
}

const std::vector<int>& CompliantForces::path(int link) const {
  static const std::vector<int> none;
  return link < 0 ? none : contacts_.system().system->tree.path[static_cast<std::size_t>(link)];
}

void CompliantForces::add_pattern(PatternBuilder& pattern) const {
  int pair = -1;
  for (const Slot& s : slots_) {
    if (s.pair == pair) continue;
    pair = s.pair;
    if (contacts_.system().pairs[static_cast<std::size_t>(pair)].beams) continue;
    std::vector<int> columns = path(s.link1);
    const std::vector<int>& second = path(s.link2);
    columns.insert(columns.end(), second.begin(), second.end());
    pattern.add_block(columns, columns);
  }
}

bool CompliantForces::grow(std::vector<std::unique_ptr<BeamCouplings>>& couplings) {
  bool grown = false;
  for (const Beams& beams : beams_) {
    BeamCouplings& own = *couplings[static_cast<std::size_t>(beams.pair)];
    const auto meet = [&] {
      bool any = false;
      for (const int slot : beams.near) {
        elements_.clear();
        contacts_.elements(slot, elements_);
        any = own.meet(elements_) || any;
      }
      return any;
    };
    if (!meet()) continue;
    grown = true;
    if (!own.crowded()) continue;
    own.forget();
    meet();
  }
  return grown;
}

void CompliantForces::beam_tangents(const Beams& beams, Tangents& out) {
  using D = Dual<7>;
  for (const int slot : beams.near) {
    const Slot& s = slots_[static_cast<std::size_t>(index_[static_cast<std::size_t>(slot)])];
    if (!s.near) continue;
    const D gap = D::variable(s.gap, 0), rate = D::variable(s.rate[0], 1);
    const D s1 = D::variable(s.rate[1], 2), s2 = D::variable(s.rate[2], 3);
    const NormalLaw<D> law = normal_law<D>(*s.law, s.phase, gap, rate, D(s.surface));
    D r[3] = {D(0.0), D(0.0), D(0.0)};
    friction_law<D>(*s.law, s.tangents, law.force, s1, s2, r);
    if (r[0].v == 0 && (r[0].d == 0).all()) continue;
    const int rows = 1 + s.tangents;
    BeamTangent& t = beam_;
    contacts_.tangent(slot, t);
    const double m = s.measure;
    const auto n = static_cast<Eigen::Index>(t.columns.size());
    const std::span<double> K = out.K.values(), C = out.C.values();
    for (Eigen::Index j = 0; j < n; ++j) {
      double dq[3], dv[3];
      bool damps = false;
      for (int k = 0; k < rows; ++k) {
        dq[k] = m * r[k].d[0] * t.gap_by_q[j] + r[k].v * t.measure_by_q[j];
        dv[k] = 0;
        for (int i = 0; i < rows; ++i) {
          dq[k] += m * r[k].d[1 + i] * t.rate_by_q[i][j];
          dv[k] += m * r[k].d[1 + i] * t.g[i][j];
        }
        damps = damps || dv[k] != 0;
      }
      const int column = t.columns[static_cast<std::size_t>(j)];
      for (Eigen::Index i = 0; i < n; ++i) {
        const auto entry = static_cast<std::size_t>(out.K.slot(t.columns[static_cast<std::size_t>(i)], column));
        double k_ij = 0, c_ij = 0;
        for (int k = 0; k < rows; ++k) {
          k_ij -= m * r[k].v * t.H[k](i, j) + t.g[k][i] * dq[k];
          c_ij -= t.g[k][i] * dv[k];
        }
        K[entry] += k_ij;
        if (damps) C[entry] += c_ij;
      }
    }
  }
}

void CompliantForces::add_tangents(Tangents& out) {
  for (const Beams& beams : beams_) beam_tangents(beams, out);
  using D = Dual<7>;
  const Engine& engine = contacts_.engine();
  const int z0 = engine.sizes().nz;
  for (Slot& s : slots_) {
    if (contacts_.system().pairs[static_cast<std::size_t>(s.pair)].beams) continue;
    const int z = z0 + s.z;
    if (!s.near) {
      if (s.z >= 0) out.Fz.add(z, z, -relaxation(*s.law));
      continue;
    }
    const D gap = D::variable(s.gap, 0), rate = D::variable(s.rate[0], 1);
    const D s1 = D::variable(s.rate[1], 2), s2 = D::variable(s.rate[2], 3);
    const NormalLaw<D> law = normal_law<D>(*s.law, s.phase, gap, rate, D(s.surface));
    D r[6];
    friction_law<D>(*s.law, s.tangents, law.force, s1, s2, r);
    if (s.moments) {
      const D spin[3] = {D::variable(s.rate[3], 4), D::variable(s.rate[4], 5), D::variable(s.rate[5], 6)};
      moment_law<D>(*s.law, s.tangents, law.force, spin, contacts_.system().length_scale, r + 3);
    }
    // A surface that follows the gap: the only law whose inner state feels the motion.
    const bool follows = s.z >= 0 && surface_follows(*s.law, s.phase, s.gap, s.rate[0], s.surface);
    if (s.z >= 0 && !follows) out.Fz.add(z, z, -relaxation(*s.law));
    if (!follows && r[0].v == 0 && (r[0].d == 0).all()) continue;

    contacts_.tangent(s.slot, tangent_);
    columns_.clear();
    const int links[2] = {s.link1, s.link2};
    for (int b = 0; b < 2; ++b) {
      points_[b].n = 0;
      if (links[b] < 0) continue;
      const LinkMotion& m = engine.links().motion[static_cast<std::size_t>(links[b])];
      engine.point_columns(links[b], m.p, m.v, points_[b]);
      const std::vector<int>& p = path(links[b]);
      columns_.insert(columns_.end(), p.begin(), p.end());
    }
    const int na = points_[0].n, n = static_cast<int>(columns_.size()), rows = s.moments ? 6 : 1 + s.tangents;
    for (int j = 0; j < n; ++j) {
      const TreeTangent::PointColumns& p = points_[j < na ? 0 : 1];
      const int col = j < na ? j : j - na, first = j < na ? 0 : 6;
      for (int k = 0; k < rows; ++k) {
        const Vec6 g = tangent_.g[k].segment<6>(first);
        rows_(k, j) = p.J.col(col).dot(g);
        rows_(6 + k, j) = p.J.col(col).dot(tangent_.rate_x[k].segment<6>(first)) + p.Zq.col(col).dot(g);
      }
    }
    if (follows)
      for (int j = 0; j < n; ++j) {
        out.Fv.add(z, columns_[static_cast<std::size_t>(j)], rows_(0, j));
        out.Fq.add(z, columns_[static_cast<std::size_t>(j)], rows_(6, j));
      }

    Eigen::Matrix<double, 12, 12> H = Eigen::Matrix<double, 12, 12>::Zero();
    for (int k = 0; k < rows; ++k) {
      if (r[k].v == 0) continue;
      H -= r[k].v * tangent_.H[k];
      H.block<3, 3>(3, 0) += r[k].v * skew<double>(tangent_.g[k].segment<3>(0));
      H.block<3, 3>(9, 6) += r[k].v * skew<double>(tangent_.g[k].segment<3>(6));
    }
    const auto K = out.K.values(), C = out.C.values();
    for (int j = 0; j < n; ++j) {
      const TreeTangent::PointColumns& p = points_[j < na ? 0 : 1];
      const Eigen::Matrix<double, 12, 1> Hx = H.middleCols<6>(j < na ? 0 : 6) * p.J.col(j < na ? j : j - na);
      double dq[6], dv[6];
      for (int k = 0; k < rows; ++k) {
        dq[k] = r[k].d[0] * rows_(0, j);
        dv[k] = 0;
        for (int i = 0; i < rows; ++i) {
          dq[k] += r[k].d[1 + i] * rows_(6 + i, j);
          dv[k] += r[k].d[1 + i] * rows_(i, j);
        }
      }
      for (int i = 0; i < n; ++i) {
        double k_ij = i < na ? points_[0].J.col(i).dot(Hx.head<6>()) : points_[1].J.col(i - na).dot(Hx.tail<6>());
        double c_ij = 0;
        for (int k = 0; k < rows; ++k) {
          k_ij -= rows_(k, i) * dq[k];
          c_ij -= rows_(k, i) * dv[k];
        }
        const auto at = static_cast<std::size_t>(
            out.K.slot(columns_[static_cast<std::size_t>(i)], columns_[static_cast<std::size_t>(j)]));
        K[at] += k_ij;
        C[at] += c_ij;
      }
    }
  }
}

}  // namespace clatter::contact

#include "contact/friction_rows.hpp"

#include <algorithm>
#include <cmath>

namespace clatter::contact {

FrictionRows::FrictionRows(Contacts& contacts)
    : contacts_(contacts),
      engine_(contacts.engine()),
      state_(contacts.system().frictions.size()),
      carrier_(contacts.engine()) {}

void FrictionRows::evaluate(int i, bool accelerations) {
  const FrictionInstance& f = (*this)[i];
  State2& s = state_[static_cast<std::size_t>(i)];
  if (f.slot >= 0) {
    const SlotState& slot = contacts_[f.slot];
    for (int c = 0; c < f.count; ++c) {
      s.rate[c] = f.scale[c] * slot.rate[f.component[c]];
      s.bias[c] = f.scale[c] * slot.bias[f.component[c]];
    }
    return;
  }
  const System& sys = engine_.system();
  for (int c = 0; c < f.count; ++c) {
    const Measure& m = sys.measures[static_cast<std::size_t>(joint(i).measure[c])];
    if (m.velocity >= 0) {
      s.rate[c] = f.scale[c] * m.rate_scale * v_[m.velocity];
      s.bias[c] = 0;
      continue;
    }
    const FrameState<double> A = engine_.frame_state(m.a), B = engine_.frame_state(m.b);
    clatter::evaluate(m.kind, m.params, A, B, s.measure[c]);
    s.rate[c] = f.scale[c] * s.measure[c].de;
    if (accelerations) s.bias[c] = f.scale[c] * s.measure[c].bias;
    const int frames[2] = {m.a, m.b};
    const Vec3 origins[2] = {A.p, B.p};
    for (int b = 0; b < 2; ++b) {
      const int link = sys.frames[static_cast<std::size_t>(frames[b])].link;
      s.arm[c][b] =
          link < 0 ? Vec3(Vec3::Zero()) : Vec3(origins[b] - engine_.links().motion[static_cast<std::size_t>(link)].p);
    }
  }
}

double FrictionRows::speed(int i) const {
  const double* r = rate(i);
  return (*this)[i].count == 2 ? std::hypot(r[0], r[1]) : std::abs(r[0]);
}

void FrictionRows::column(int i, int c, double* out) const {
  const FrictionInstance& f = (*this)[i];
  const int nv = engine_.sizes().nv;
  if (f.slot >= 0) {
    contacts_.column(f.slot, f.component[c], out);
    for (int k = 0; k < nv; ++k) out[k] *= f.scale[c];
    return;
  }
  std::fill(out, out + nv, 0.0);
  const System& sys = engine_.system();
  const Measure& m = sys.measures[static_cast<std::size_t>(joint(i).measure[c])];
  if (m.velocity >= 0) {
    out[m.velocity] = f.scale[c] * m.rate_scale;
    return;
  }
  const State2& s = state_[static_cast<std::size_t>(i)];
  const MeasureValue<double>& v = s.measure[c];
  const auto add = [&](int frame, const Vec3& force, const Vec3& torque, const Vec3& arm) {
    engine_.add_generalized(sys.frames[static_cast<std::size_t>(frame)].link, f.scale[c] * force,
                            f.scale[c] * (torque + arm.cross(force)), out);
  };
  add(m.a, v.fA, v.nA, s.arm[c][0]);
  add(m.b, v.fB, v.nB, s.arm[c][1]);
}

void FrictionRows::wrenches(int i, const double force[2], std::vector<Engine::LinkWrench>& out) const {
  const FrictionInstance& f = (*this)[i];
  const System& sys = engine_.system();
  const State2& s = state_[static_cast<std::size_t>(i)];
  for (int c = 0; c < f.count; ++c) {
    const double r = force[c] * f.scale[c];
    if (f.slot >= 0) {
      const Vec3 torque = r * contacts_[f.slot].basis.col(f.component[c] - 3);
      if (f.link1 >= 0) out.push_back({f.link1, Vec3::Zero(), torque});
      if (f.link2 >= 0) out.push_back({f.link2, Vec3::Zero(), -torque});
      continue;
    }
    const Measure& m = sys.measures[static_cast<std::size_t>(joint(i).measure[c])];
    if (m.velocity >= 0) continue;  // a torque on the coordinate itself turns no column
    const MeasureValue<double>& v = s.measure[c];
    const int a = sys.frames[static_cast<std::size_t>(m.a)].link, b = sys.frames[static_cast<std::size_t>(m.b)].link;
    if (a >= 0) out.push_back({a, r * v.fA, r * (v.nA + s.arm[c][0].cross(v.fA))});
    if (b >= 0) out.push_back({b, r * v.fB, r * (v.nB + s.arm[c][1].cross(v.fB))});
  }
}

double FrictionRows::load(int i, const Vec& lambda, std::vector<std::pair<int, double>>* gradient) const {
  const System& sys = engine_.system();
  double sum = 0;
  for (const FrictionLoad& load : joint(i).load) {
    double F[2] = {0, 0}, m[2] = {0, 0};
    int force_row[2] = {-1, -1}, moment_row[2] = {-1, -1};
    for (int k = 0; k < 2; ++k) {
      if (load.force[k] >= 0) force_row[k] = sys.deformations[static_cast<std::size_t>(load.force[k])].row;
      if (load.moment[k] >= 0) moment_row[k] = sys.deformations[static_cast<std::size_t>(load.moment[k])].row;
      if (force_row[k] >= 0) F[k] = lambda[force_row[k]];
      if (moment_row[k] >= 0) m[k] = load.inverse_length[k] * lambda[moment_row[k]];
    }
    for (const double sign : {1.0, -1.0}) {
      const double x = 0.5 * F[0] + sign * m[0], y = 0.5 * F[1] + sign * m[1], size = std::hypot(x, y);
      sum += load.weight * size;
      if (gradient == nullptr || size == 0) continue;
      const double d[2] = {x / size, y / size};
      for (int k = 0; k < 2; ++k) {
        if (force_row[k] >= 0) gradient->emplace_back(force_row[k], load.weight * 0.5 * d[k]);
        if (moment_row[k] >= 0)
          gradient->emplace_back(moment_row[k], load.weight * sign * load.inverse_length[k] * d[k]);
      }
    }
  }
  return sum;
}

double FrictionRows::coefficient(int i, double speed) const {
  return friction_coefficient(joint(i).coefficient, speed);
}

double FrictionRows::limit(int i, double speed, double load, double* by_speed) const {
  const JointFrictionIndex& f = joint(i);
  const double scale = f.scale[0];
  double base_slope = 0, mu_slope = 0;
  const double base = friction_coefficient(f.base, speed / scale, &base_slope) / scale;
  const double mu = friction_coefficient(f.coefficient, speed, &mu_slope);
  if (by_speed != nullptr) *by_speed = base_slope / (scale * scale) + mu_slope * load;
  return base + mu * load;
}

std::vector<int> FrictionRows::columns(int i) const {
  const FrictionInstance& f = (*this)[i];
  const System& sys = engine_.system();
  if (f.joint >= 0) {
    const Measure& m = sys.measures[static_cast<std::size_t>(joint(i).measure[0])];
    if (m.velocity >= 0) {
      std::vector<int> own;
      for (int c = 0; c < f.count; ++c)
        own.push_back(sys.measures[static_cast<std::size_t>(joint(i).measure[c])].velocity);
      return own;
    }
  }
  std::vector<int> all;
  for (const int link : {f.link1, f.link2})
    if (link >= 0) {
      const std::vector<int>& path = sys.tree.path[static_cast<std::size_t>(link)];
      all.insert(all.end(), path.begin(), path.end());
    }
  return all;
}

void FrictionRows::rows(int i, const double f[2], Rows& out) {
  const FrictionInstance& friction = (*this)[i];
  const System& sys = engine_.system();
  out.columns.clear();
  if (friction.joint < 0) {
    contacts_.tangent(friction.slot, slot_tangent_);
    carrier_.place(friction.link1, friction.link2, out.columns);
    out.begin(friction.count);
    for (int c = 0; c < friction.count; ++c) {
      const LinkRow row = slot_tangent_.row(friction.component[c]);
      carrier_.add(row, friction.scale[c], c, true, out);
      carrier_.turn(row, friction.scale[c] * f[c]);
    }
    carrier_.finish(out);
    return;
  }
  out.columns = columns(i);
  out.begin(friction.count);
  for (int c = 0; c < friction.count; ++c) {
    const Measure& m = sys.measures[static_cast<std::size_t>(joint(i).measure[c])];
    if (m.velocity >= 0) {  // the one of columns(i)
      out.row(out.g, c)[static_cast<std::size_t>(c)] = friction.scale[c] * m.rate_scale;
      continue;
    }
    const FrameState<double> A = engine_.frame_state(m.a), B = engine_.frame_state(m.b);
    measure_tangent(m.kind, m.params, A, B, measure_tangent_);
    const int link[2] = {friction.link1, friction.link2};
    const Vec3 at[2] = {A.p, B.p}, velocity[2] = {A.v, B.v};
    same_.clear();
    carrier_.place(link, at, velocity, same_);
    const MeasureTangent& t = measure_tangent_;
    const LinkRow row{&t.g, &t.de_x, &t.bias_x, &t.bias_xi, &t.H};
    carrier_.add(row, friction.scale[c], c, true, out);
    carrier_.turn(row, friction.scale[c] * f[c]);
    carrier_.finish(out);
  }
}

void Relaxation::advance(Vec& now, const Vec& next) {
  step_ = next - now;
  omega_ = 1;
  if (count_ > 0 && count_ % 2 == 0) {
    const Vec change = step_ - last_;
    const double square = change.squaredNorm();
    const double omega = square > 0 ? -last_.dot(change) / square : 1;
    if (omega > 0) omega_ = std::min(omega, 3.0);
  }
  last_ = step_;
  ++count_;
  now = (now + omega_ * step_).cwiseMax(0.0);
}

double smooth_slope(double u, double u_eps, double* derivative) {
  if (u < u_eps) {
    if (derivative != nullptr) *derivative = -1 / (u_eps * u_eps);
    return (2 - u / u_eps) / u_eps;
  }
  if (derivative != nullptr) *derivative = -1 / (u * u);
  return 1 / u;
}

}  // namespace clatter::contact

#include "contact/creep_force.hpp"

#include <cmath>
#include <numbers>

#include "base/dual.hpp"

namespace clatter::contact {
namespace {

using D = Dual<kCreepVariables>;

// The parts of the law on numbers that carry their derivatives by the five variables.
struct Law {
  const CreepPatch& patch;
  const CreepFriction& friction;
  D a, b, N;

  Law(const CreepPatch& p, const CreepFriction& f) : patch(p), friction(f), N(D::variable(p.N, kCreepLoad)) {
    a = D(p.a);
    b = D(p.b);
    a.d[kCreepLoad] = p.a / (3 * p.N);
    b.d[kCreepLoad] = p.b / (3 * p.N);
  }

  D mu(const D& s, const D& speed) const {
    if (friction.limit == 1) return D(friction.mu);
    return friction.mu * ((1 - friction.limit) * exp(-friction.decay * s * speed) + friction.limit);
  }

  // F / s_C for the coefficient c_jj. Near s_C = 0 its limit, G a b c_jj (k_A + k_S) / 2.
  D force_by_creepage(const D& c, const D& s_C, const D& mu) const {
    constexpr double pi = std::numbers::pi;
    const D linear = patch.shear_modulus * a * b * c, limit = mu * N;
    const D eps = (0.25 * pi) * linear * s_C / limit;
    const D adhesion = friction.adhesion * eps, slip = friction.slip * eps;
    if (eps.v < 1e-4) {  // (atan x)/x = 1 - x^2/3, beyond it 1e-17
      return 0.5 * linear *
             (friction.adhesion / (1 + adhesion * adhesion) + friction.slip * (1 - slip * slip * (1.0 / 3)));
    }
    return (2 / pi) * limit * (adhesion / (1 + adhesion * adhesion) + atan(slip)) / s_C;
  }

  // Kalker's force of spin by phi, with its saturation.
  D spin_factor(const D& s_y, const D& s_C, const D& mu) const {
    const D root = sqrt(a * b), kappa = 1 + 6.3 * (1 - exp(-a / b));
    const D linear = patch.shear_modulus * patch.C23 * a * b * root;
    const D eps = (8.0 / 3) * b * root * patch.shear_modulus * patch.C23 * s_y / (kappa * mu * N);
    const D q = 1 + eps * eps;
    const D share = s_C.v > 0 ? (s_y.v < 0 ? -s_y : s_y) / s_C : D(1.0);
    return linear * share / (q * q);
  }
};

}  // namespace

CreepForce creep_force(const Creepage& creepage, const CreepPatch& patch, const CreepFriction& friction) {
  CreepForce out;
  if (!(patch.N > 0) || !(friction.mu > 0)) return out;
  const Law law(patch, friction);
  const D x = D::variable(creepage.x, kCreepX), y = D::variable(creepage.y, kCreepY);
  const D phi = D::variable(creepage.spin, kCreepSpin), speed = D::variable(creepage.speed, kCreepSpeed);
  const D with_spin = y + phi * law.a;
  const bool spins = std::abs(with_spin.v) > std::abs(y.v);
  const D s_y = spins ? with_spin : y;
  const D s_C = hypot(x, s_y), s = hypot(x, y);
  const D mu = law.mu(s, speed);

  D force_x, force_y;
  if (s.v > 0) {
    const D c = hypot(patch.C11 * x, patch.C22 * y) / s;
    const D pull = law.force_by_creepage(c, s_C, mu);
    force_x = -pull * x;
    force_y = -pull * y;
  } else {  // along each axis c_jj is that axis' coefficient
    force_x = -law.force_by_creepage(patch.C11, s_C, mu) * x;
    force_y = -law.force_by_creepage(patch.C22, s_C, mu) * y;
  }
  force_y -= law.spin_factor(s_y, s_C, mu) * phi;
  out.force << force_x.v, force_y.v;
  out.by.row(0) = force_x.d.matrix().transpose();
  out.by.row(1) = force_y.d.matrix().transpose();
  return out;
}

Eigen::Vector2d linear_creep_force(const Creepage& creepage, const CreepPatch& patch) {
  if (!(patch.N > 0)) return Eigen::Vector2d::Zero();
  const double stiffness = patch.shear_modulus * patch.a * patch.b;
  return {-stiffness * patch.C11 * creepage.x,
          -stiffness * (patch.C22 * creepage.y + std::sqrt(patch.a * patch.b) * patch.C23 * creepage.spin)};
}

CreepageOfMotion creepage_of(const Eigen::Vector2d& slip_velocity, double spin_velocity, double speed,
                             double least_speed) {
  using M = Dual<4>;
  const M V = M::variable(std::abs(speed), 3);
  M V_r = V;
  if (V.v < least_speed) V_r = (V * V + least_speed * least_speed) / (2 * least_speed);
  const M rows[4] = {M::variable(slip_velocity.x(), 0) / V_r, M::variable(slip_velocity.y(), 1) / V_r,
                     M::variable(spin_velocity, 2) / V_r, V_r};
  CreepageOfMotion out;
  for (int i = 0; i < 4; ++i) {
    out.by.row(i) = rows[i].d.matrix().transpose();
    if (speed < 0) out.by(i, 3) = -out.by(i, 3);
  }
  out.creepage = {rows[0].v, rows[1].v, rows[2].v, rows[3].v};
  return out;
}

}  // namespace clatter::contact

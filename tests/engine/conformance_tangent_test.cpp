// Every block of the tangents of every registered element, against differences of what it is the derivative of.
// Tolerance: 1e-8 of the block's largest entry; the differences themselves are good to about 1e-10.
#include "engine/conformance.hpp"

namespace clatter::test {
namespace {

void expect_block(const char* name, const Mat& exact, const Mat& differences) {
  if (exact.size() == 0) return;
  const double scale = std::max(1.0, largest(differences));
  Eigen::Index i, j;
  const double worst = (exact - differences).cwiseAbs().maxCoeff(&i, &j);
  EXPECT_LT(worst, 1e-8 * scale) << name << "(" << i << "," << j << ") is " << exact(i, j) << ", differences give "
                                 << differences(i, j);
}

using Tangent = Conformance;

TEST_P(Tangent, BlocksAreTheDerivativesOfTheResiduals) {
  each_setting([](Setting& x) {
    const int nv = x.sizes().nv, nc = x.sizes().nc(), nz = x.sizes().nz, nh = x.sizes().nh;
    // General accelerations and multipliers: the tangents must not lean on the equations being satisfied.
    Dice dice(31);
    const Vec a = x.a + dice(nv);
    x.lambda += dice(nc);
    Tangents T = x.dynamics().tangent_layout();
    x.dynamics().tangents(x.s, a, x.lambda, T);

    Mat M(nv, nv), C(nv, nv), K(nv, nv), Rz(nv, nz), Fq(nz, nv), Fv(nz, nv), Fz(nz, nz), G(nc, nv), Gq(nh, nv),
        Vq(nc, nv), Aq(nc, nv), Av(nc, nv);
    const auto shifted = [&](int k, double h, char part) {
      State s = x.s;
      if (part == 'q') x.dynamics().plus(x.s.q, h * Vec::Unit(nv, k), s.q);
      if (part == 'v') s.v[k] += h;
      if (part == 'z') s.z[k] += h;
      return s;
    };
    const auto rates = [&](const State& s) {
      Vec r(nv), z(nz);
      x.dynamics().residual(s, a, x.lambda, r, z);
      return z;
    };
    const auto velocity = [&](const State& s) {
      Vec phi(nh), y(nc);
      x.dynamics().constraints(s, phi, y);
      return y;
    };
    const auto position = [&](const State& s) {
      Vec phi(nh), y(nc);
      x.dynamics().constraints(s, phi, y);
      return phi;
    };
    for (int k = 0; k < nv; ++k) {
      M.col(k) = x.residual(x.s, a + 0.5 * Vec::Unit(nv, k)) - x.residual(x.s, a - 0.5 * Vec::Unit(nv, k));
      C.col(k) = slope([&](double h) { return x.residual(shifted(k, h, 'v'), a); });
      K.col(k) = slope([&](double h) { return x.residual(shifted(k, h, 'q'), a); });
      Fq.col(k) = slope([&](double h) { return rates(shifted(k, h, 'q')); });
      Fv.col(k) = slope([&](double h) { return rates(shifted(k, h, 'v')); });
      G.col(k) = slope([&](double h) { return velocity(shifted(k, h, 'v')); });
      Gq.col(k) = slope([&](double h) { return position(shifted(k, h, 'q')); });
      Vq.col(k) = slope([&](double h) { return velocity(shifted(k, h, 'q')); });
      Aq.col(k) = slope([&](double h) { return x.constraint_accelerations(shifted(k, h, 'q'), a); });
      Av.col(k) = slope([&](double h) { return x.constraint_accelerations(shifted(k, h, 'v'), a); });
    }
    for (int k = 0; k < nz; ++k) {
      Rz.col(k) = slope([&](double h) { return x.residual(shifted(k, h, 'z'), a); });
      Fz.col(k) = slope([&](double h) { return rates(shifted(k, h, 'z')); });
    }
    expect_block("M", dense(T.M), M);
    expect_block("C", dense(T.C), C);
    expect_block("K", dense(T.K), K);
    expect_block("Rz", dense(T.Rz), Rz);
    expect_block("Fq", dense(T.Fq), Fq);
    expect_block("Fv", dense(T.Fv), Fv);
    expect_block("Fz", dense(T.Fz), Fz);
    expect_block("G", dense(T.G), G);
    expect_block("d(phi)/dq", dense(T.G).topRows(nh), Gq);
    expect_block("Vq", dense(T.Vq), Vq);
    expect_block("Aq", dense(T.Aq), Aq);
    expect_block("Av", dense(T.Av), Av);
  });
}

TEST_P(Tangent, ConstraintRatesAreTheTimeDerivativesOfTheConstraints) {
  each_setting([](Setting& x) {
    const int nc = x.sizes().nc(), nh = x.sizes().nh;
    if (nc == 0) return;
    const auto at = [&](double dt, bool rate) {
      Vec phi(nh), y(nc);
      x.dynamics().constraints(along(x, dt), phi, y);
      return rate ? y : phi;
    };
    Vec phi(nh), y(nc);
    // A state off the constraints too, where the rates are not zero.
    x.s.v += 0.3 * Dice(5)(x.s.v.size());
    x.a += Dice(6)(x.a.size());
    x.dynamics().constraints(x.s, phi, y);
    const Vec phi_rate = slope([&](double dt) { return at(dt, false); });
    if (nh > 0) {
      EXPECT_LT(largest(phi_rate - y.head(nh)), 1e-8 * (1 + largest(y)));
    }
    const Vec y_rate = slope([&](double dt) { return at(dt, true); });
    const Vec ydd = x.constraint_accelerations(x.s, x.a);
    EXPECT_LT(largest(y_rate - ydd), 1e-8 * (1 + largest(ydd)));
  });
}

INSTANTIATE_TEST_SUITE_P(Registry, Tangent, ::testing::ValuesIn(samples()), sample_name);

}  // namespace
}  // namespace clatter::test

// Floating frame of reference: inertia against sums over point masses (EVX-1), Lagrange's equations of the stiffening
// terms, the planar block of E-16 against the element it is made of, rotating beams (EVX-3) and Kane's spin-up.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/rotation.hpp"
#include "dense.hpp"
#include "engine/conformance.hpp"
#include "engine/quantity.hpp"
#include "integrate/run.hpp"

namespace clatter::test {
namespace {

Model lone(ReducedBody reduced) {
  Model model;
  model.bodies.push_back(flexible_body("body", std::move(reduced)));
  return model;
}

struct Local {  // where the frame is and how it moves
  Mat3 R;
  Vec3 Omega;
  Vec eta, etad;
};

Local local(const Setting& x) {
  const FlexibleIndex& f = x.system->flexible[0];
  const bool planar = x.system->model.bodies[0].reduced->planar;
  Local l;
  l.R = planar ? rotation_z(x.s.q[2]) : Quat(x.s.q[3], x.s.q[4], x.s.q[5], x.s.q[6]).toRotationMatrix();
  l.Omega = planar ? Vec3(0, 0, x.s.v[2]) : Vec3(x.s.v.segment<3>(3));
  l.eta = x.s.q.segment(f.q, f.n);
  l.etad = x.s.v.segment(f.v, f.n);
  return l;
}

// L of E-5 in the velocities of the tree: dx0/dt in world axes, Omega in the body's; z and turns about x, y are struck
// out in the plane.
Mat point_columns(const Local& at, const Cloud::Point& p, bool planar) {
  const Eigen::Index n = at.eta.size();
  Mat L(3, 6 + n);
  const Vec3 a = p.X + p.Phi * at.eta;
  L << Mat3::Identity(), -at.R * skew<double>(a), at.R * p.Phi;
  if (!planar) return L;
  Mat flat(3, 3 + n);
  flat << L.leftCols<2>(), L.col(5), L.rightCols(n);
  return flat;
}

// Kinds of bodies that are evaluated in ways of their own: in mean axes, where no mode moves the centre of mass; with
// modes that only stretch beside modes that only bend, as a beam has them.
enum class Modes { any, mean_axes, beam };

Cloud cloud_of(int n, Modes modes, bool planar, bool unit_mass, Dice& dice) {
  Cloud cloud = random_cloud(n, n + 4, planar, false, 0, [&] { return dice(); });
  const int stretching = n / 5;
  double mass = 0;
  Mat N = Mat::Zero(3, n);
  for (Cloud::Point& p : cloud.points) {
    if (modes == Modes::beam) {
      p.Phi.leftCols(stretching).bottomRows<2>().setZero();
      p.Phi.rightCols(n - stretching).topRows<1>().setZero();
    }
    mass += p.mass;
    N += p.mass * p.Phi;
  }
  Mat M = Mat::Zero(n, n);
  for (Cloud::Point& p : cloud.points) {
    if (modes == Modes::mean_axes) p.Phi -= N / mass;
    M += p.mass * p.Phi.transpose() * p.Phi;
  }
  if (unit_mass) {
    const Mat L = M.llt().matrixL();
    for (Cloud::Point& p : cloud.points)
      p.Phi = L.triangularView<Eigen::Lower>().solve(p.Phi.transpose()).transpose().eval();
  }
  return cloud;
}

TEST(FloatingFrame, MassMatrixAndVelocityForcesAreSumsOverPointMasses) {
  for (const int n : {3, 5, 20})
    for (const Modes modes : {Modes::any, Modes::mean_axes, Modes::beam})
      for (const bool planar : {false, true})
        for (const bool unit_mass : {false, true}) {
          SCOPED_TRACE(
              fmt::format("{} modes of kind {}, planar {}, mass I {}", n, static_cast<int>(modes), planar, unit_mass));
          Dice dice(11);
          const Cloud cloud = cloud_of(n, modes, planar, unit_mass, dice);
          Setting x(lone(cloud.reduced(false)));
          x.engine->plus(x.s.q, 0.5 * dice(x.s.v.size()), x.s.q);
          x.s.v = 2 * dice(x.s.v.size());
          const Local at = local(x);
          const Eigen::Index nv = x.s.v.size();
          Mat M = Mat::Zero(nv, nv);
          Vec h = Vec::Zero(nv);
          for (const Cloud::Point& p : cloud.points) {
            const Mat L = point_columns(at, p, planar);
            const Vec3 a = p.X + p.Phi * at.eta;
            const Vec3 bias = at.R * (at.Omega.cross(at.Omega.cross(a)) + 2 * at.Omega.cross(Vec3(p.Phi * at.etad)));
            M += p.mass * L.transpose() * L;
            h += p.mass * L.transpose() * bias;
          }
          Tangents T = x.engine->tangent_layout();
          x.engine->tangents(x.s, x.a, x.lambda, T);
          // Rounding of sums that agree term by term.
          EXPECT_LT(largest(dense(T.M) - M), 1e-13 * largest(M));
          EXPECT_LT(largest(x.residual(x.s, Vec::Zero(nv)) - h), 1e-13 * (1 + largest(h)));
          const Vec a = dice(nv);
          EXPECT_LT(largest(x.residual(x.s, a) - M * a - h), 1e-13 * (1 + largest(M * a)));
          x.engine->observe(x.s, nullptr);
          EXPECT_NEAR(x.engine->kinetic(), 0.5 * x.s.v.dot(M * x.s.v), 1e-13 * x.engine->kinetic());
          // The solver of the equations of motion is the inverse of this matrix.
          x.solve();
          EXPECT_LT(largest(M * x.a + h), 1e-11 * (1 + largest(h)));
        }
}

// Between observations nobody asks where this marker is: it is found where its mode shapes put it at the state that is
// observed, not where it was last seen. Tolerance: rounding of a few sums of lengths about one.
TEST(Marker, ThatOnlyObserversLookAtIsFoundWhereItsShapesPutIt) {
  Dice dice(13);
  ReducedBody reduced = random_cloud(6, 10, false, true, 0, [&] { return dice(); }).reduced(false);
  reduced.markers.push_back(
      random_marker("tip", Vec3(0.3, -0.2, 0.1), Mat3::Identity(), 6, false, true, 0, [&] { return dice(); }));
  const Marker tip = reduced.markers[0];
  Setting x(lone(std::move(reduced)));
  for (int i = 0; i < 3; ++i) {
    x.engine->plus(x.s.q, 0.3 * dice(x.s.v.size()), x.s.q);
    x.s.v = dice(x.s.v.size());
    x.solve();
    x.engine->observe(x.s, &x.a);
    const Local at = local(x);
    const Vec3 u = tip.X + tip.S * at.eta, ud = tip.S * at.etad;
    const Vec3 udd = tip.S * x.a.segment(x.system->flexible[0].v, 6), Omegad = x.a.segment<3>(3);
    const FrameState<double> f = x.engine->frame_state(x.system->flexible[0].frames[0]);
    EXPECT_LT((f.p - (x.s.q.head<3>() + at.R * u)).norm(), 1e-14);
    EXPECT_LT((f.v - (x.s.v.head<3>() + at.R * (at.Omega.cross(u) + ud))).norm(), 1e-14);
    EXPECT_LT((f.R - at.R * rotation_exp<double>(tip.Psi * at.eta)).norm(), 1e-14);
    const Vec3 a = Omegad.cross(u) + at.Omega.cross(at.Omega.cross(u) + 2 * ud) + udd;
    EXPECT_LT((f.a - (x.a.head<3>() + at.R * a)).norm(), 1e-13 * (1 + a.norm()));
  }
}

// d/dt (dT/dv) - dT/dq of the kinetic energy that the engine reports, by differences along a motion; differences of
// fourth order are good to 1e-10.
TEST(FloatingFrame, StiffeningForcesAreThoseOfTheKineticEnergy) {
  Dice dice(12);
  const Cloud cloud = random_cloud(4, 8, false, true, 0.2, [&] { return dice(); });
  Setting x(lone(cloud.reduced(true)));
  const FlexibleIndex& f = x.system->flexible[0];
  x.engine->plus(x.s.q, 0.5 * dice(x.s.v.size()), x.s.q);
  x.s.v = dice(x.s.v.size());
  x.a = dice(x.s.v.size());
  const auto kinetic = [&](const State& s) {
    x.engine->observe(s, nullptr);
    return x.engine->kinetic();
  };
  const auto momentum = [&](double dt) {  // dT/d(eta'), exact: T is a quadratic form of v
    State s = along(x, dt);
    Vec p(f.n);
    for (int k = 0; k < f.n; ++k) {
      State up = s, down = s;
      up.v[f.v + k] += 0.5;
      down.v[f.v + k] -= 0.5;
      p[k] = kinetic(up) - kinetic(down);
    }
    return p;
  };
  Vec expected = slope(momentum);
  for (int k = 0; k < f.n; ++k)
    expected[k] -= slope([&](double h) {
      State s = x.s;
      s.q[f.q + k] += h;
      return kinetic(s);
    });
  const Vec r = x.residual(x.s, x.a);
  EXPECT_LT(largest(r.segment(f.v, f.n) - expected), 1e-8 * largest(expected));
}

// E-16: lower left node at the frame, node 1 on its x axis. Its eight coordinates map to the eight nodal ones of a
// bilinear element in the world, whose mass matrix is the constant consistent one.
TEST(FloatingFrame, PlanarBlockHasTheMassOfItsElementInTheWorld) {
  const double L = 0.5, H = 0.3, rho = 7;
  // Gauss points are point masses: exact for products of bilinear functions.
  Cloud cloud;
  cloud.n = 5;
  cloud.planar = true;
  const Vec3 centre(L / 2, H / 2, 0);
  Mat element = Mat::Zero(8, 8);
  const Vec3 corner[4] = {{0, 0, 0}, {L, 0, 0}, {L, H, 0}, {0, H, 0}};  // nodes 4, 1, 2, 3
  const auto shape = [&](double x, double y) {
    return Eigen::Vector4d((1 - x / L) * (1 - y / H), x / L * (1 - y / H), x / L * y / H, (1 - x / L) * y / H);
  };
  for (const double gx : {-1, 1})
    for (const double gy : {-1, 1}) {
      const double x = L / 2 * (1 + gx / std::sqrt(3)), y = H / 2 * (1 + gy / std::sqrt(3)), m = rho * L * H / 4;
      const Eigen::Vector4d N = shape(x, y);
      Cloud::Point p;
      p.mass = m;
      p.X = Vec3(x, y, 0) - centre;
      p.Phi = Mat::Zero(3, 5);
      p.Phi.row(0) << N[1], N[2], 0, N[3], 0;
      p.Phi.row(1) << 0, 0, N[2], 0, N[3];
      cloud.points.push_back(p);
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          for (int c = 0; c < 2; ++c) element(2 * i + c, 2 * j + c) += m * N[i] * N[j];
    }
  Setting x(lone(cloud.reduced(false)));
  Dice dice(3);
  x.s.q = 0.1 * dice(x.s.q.size());
  x.s.v = dice(x.s.v.size());
  const Local at = local(x);
  // Columns of the nodes' world positions.
  Mat map(8, 8);
  for (int i = 0; i < 4; ++i) {
    Cloud::Point node;
    node.X = corner[i] - centre;
    node.Phi = Mat::Zero(3, 5);
    const Eigen::Vector4d N = shape(corner[i].x(), corner[i].y());
    node.Phi.row(0) << N[1], N[2], 0, N[3], 0;
    node.Phi.row(1) << 0, 0, N[2], 0, N[3];
    map.middleRows<2>(2 * i) = point_columns(at, node, true).topRows<2>();
  }
  Tangents T = x.engine->tangent_layout();
  x.engine->tangents(x.s, x.a, x.lambda, T);
  EXPECT_LT(largest(dense(T.M) - map.transpose() * element * map), 1e-13);
  // Free of forces the nodes of the element in the world do not accelerate (its mass is constant): neither do ours.
  x.solve();
  const Vec nodes = map * x.a;
  for (int i = 0; i < 4; ++i) {
    const Vec3 a = corner[i] - centre + [&] {
      Vec3 u = Vec3::Zero();
      const Eigen::Vector4d N = shape(corner[i].x(), corner[i].y());
      u.x() = N[1] * at.eta[0] + N[2] * at.eta[1] + N[3] * at.eta[3];
      u.y() = N[2] * at.eta[2] + N[3] * at.eta[4];
      return u;
    }();
    Vec3 ud = Vec3::Zero();
    const Eigen::Vector4d N = shape(corner[i].x(), corner[i].y());
    ud.x() = N[1] * at.etad[0] + N[2] * at.etad[1] + N[3] * at.etad[3];
    ud.y() = N[2] * at.etad[2] + N[3] * at.etad[4];
    const Vec3 bias = at.R * (at.Omega.cross(at.Omega.cross(a)) + 2 * at.Omega.cross(ud));
    EXPECT_LT((nodes.segment<2>(2 * i) + bias.head<2>()).norm(), 1e-11);
  }
}

// --- rotating beams --------------------------------------------------------------------------------------------------

RitzBeam kane_beam(int n, bool stiffens, bool spatial) {
  RitzBeam beam;
  beam.length = 8;
  beam.mass_per_length = 2766 * 7.3e-5;
  beam.EI = 6.895e10 * 8.218e-9;
  beam.n = n;
  beam.stiffens = stiffens;
  beam.spatial = spatial;
  beam.function = [](int k, double s) { return clamped_power(k, s, 8); };
  return beam;
}

// The beam's root pinned to the ground, turning as `motion` says.
Model rotating(const RitzBeam& beam, const std::string& motion) {
  Model model =
      load_model_text(fmt::format(R"(
clatter: 1
bodies:
  body: {{{}, mass: 1, inertia: {}, frames: {{root: {{at: [{}, 0{}]}}}}}}
joints:
  hub: {{type: revolute, between: [ground, body.root], drive: "{}"}}
)",
                                  beam.spatial ? "type: rigid" : "type: planar", beam.spatial ? "[1, 1, 1]" : "1",
                                  -beam.length / 2, beam.spatial ? ", 0" : "", motion),
                      "rotating");
  replace(model, "body", beam.reduced());
  model.bodies[0].pose = Placement{Vec3(beam.length / 2, 0, 0), Quat::Identity()};
  return model;
}

// EVX-3. With the same functions the frequencies are those of K + int N phi' phi' - Omega^2 M, N = 1/2 rho A Omega^2
// (L^2 - x^2), to rounding; the known coefficients of Southwell's formula hold to their own accuracy.
TEST(RotatingBeam, HasTheFrequenciesOfTheSpinningBeam) {
  const RitzBeam beam = kane_beam(4, true, true);
  const double unit = std::sqrt(beam.EI / (beam.mass_per_length * std::pow(beam.length, 4)));
  const double Omega = 6 * unit;
  const std::string angle = fmt::format("{:.17g}*t", Omega);
  Model model = rotating(beam, angle);
  model.bodies[0].velocity = Vec3(0, Omega * beam.length / 2, 0);
  model.bodies[0].angular_velocity = Vec3(0, 0, Omega);
  Setting x(model);
  x.solve();
  Tangents T = x.engine->tangent_layout();
  x.engine->tangents(x.s, x.a, x.lambda, T);
  const FlexibleIndex& f = x.system->flexible[0];
  const Mat M = dense(T.M).block(f.v, f.v, f.n, f.n), K = dense(T.K).block(f.v, f.v, f.n, f.n);
  const ReducedBody& b = *x.system->model.bodies[0].reduced;
  const int n = beam.n;
  Mat geometric = Mat::Zero(n, n);
  for (int k = 0; k < n; ++k)
    for (int l = 0; l < n; ++l) {
      // int_0^1 (1 - x^2) p q x^(p+q-2) dx with p = k + 2, q = l + 2
      const double p = k + 2, q = l + 2;
      geometric(k, l) =
          0.5 * beam.mass_per_length * Omega * Omega * beam.length * p * q * (1 / (p + q - 1) - 1 / (p + q + 1));
    }
  const Mat M1 = b.M.topLeftCorner(n, n), K1 = b.K.topLeftCorner(n, n);
  const auto first = [](const Mat& stiffness, const Mat& mass) { return symmetric_eigenvalues(stiffness, mass)[0]; };
  const double w0 = first(K1, M1);
  EXPECT_NEAR(std::sqrt(w0), 3.5160 * unit, 1e-3);
  const double in_plane = first(K.topLeftCorner(n, n), M1), flap = first(K.bottomRightCorner(n, n), M1);
  EXPECT_NEAR(in_plane, first(K1 + geometric - Omega * Omega * M1, M1), 1e-9 * w0);
  EXPECT_NEAR(flap, first(K1 + geometric, M1), 1e-9 * w0);
  EXPECT_LT(largest(K.topRightCorner(n, n)), 1e-9 * largest(K));
  // Out of the plane of rotation: 7.3604 at Omega = 6 (in units of sqrt(EI/(rho A L^4)); Wright, Smith, Thresher, Wang,
  // J. Applied Mechanics 49 (1982)); Southwell's straight line w0^2 + 1.193 Omega^2 lies 1 % above. Four functions give
  // a frequency a little above the exact one.
  EXPECT_NEAR(std::sqrt(flap), 7.3604 * unit, 1e-3 * unit);
  EXPECT_NEAR(in_plane, flap - Omega * Omega, 1e-9 * w0);

  Model soft = rotating(kane_beam(4, false, true), angle);
  soft.bodies[0].velocity = Vec3(0, Omega * beam.length / 2, 0);
  soft.bodies[0].angular_velocity = Vec3(0, 0, Omega);
  Setting y(soft);
  y.solve();
  y.engine->tangents(y.s, y.a, y.lambda, T);
  const Mat K_soft = dense(T.K).block(f.v, f.v, f.n, f.n);
  EXPECT_NEAR(first(K_soft.topLeftCorner(n, n), M1), w0 - Omega * Omega, 1e-9 * w0);
}

std::vector<double> tip_deflections(const Model& model, double end, double step) {
  const auto system = System::compile(model);
  Engine engine(system);
  State s = system->initial;
  make_consistent(engine, s);
  RunSettings settings;
  settings.integrator.relative_tolerance = 1e-7;
  settings.integrator.absolute_tolerance = 1e-9;
  settings.end = end;
  settings.output_step = step;
  const Observer observer(system, {"body.tip.displacement"});
  std::vector<double> out;
  RunCallbacks callbacks;
  callbacks.on_output = [&](const clatter::Sample& sample) {
    double u[3];
    observer.evaluate(engine, sample.s, sample.a, sample.lambda, sample.W, 0, u);
    out.push_back(u[1]);
  };
  clatter::Run run(engine, settings, callbacks);
  run.start(s);
  run.go();
  return out;
}

// T. R. Kane, R. R. Ryan, A. K. Banerjee (1987): the angular velocity rises from 0 to 6 rad/s, twice the beam's first
// frequency, in 15 s. The reference is the textbook equation M eta'' + (K + Omega^2 (G - M)) eta = -Omega' int rho A s
// phi, integrated here by itself; it leaves out only what the shortening itself does to the inertia (of relative size
// (u/L)^2 = 0.5 %).
TEST(RotatingBeam, SpinsUpWithoutDiverging) {
  const std::string angle = "if(t < 15, 0.4*(t^2/2 + (7.5/pi)^2*(cos(pi*t/7.5) - 1)), 6*t - 45)";
  const auto speed = [](double t) {
    return t < 15 ? 0.4 * (t - 7.5 / std::numbers::pi * std::sin(std::numbers::pi * t / 7.5)) : 6;
  };
  const auto spin = [](double t) { return t < 15 ? 0.4 * (1 - std::cos(std::numbers::pi * t / 7.5)) : 0; };
  const int n = 3;
  const RitzBeam beam = kane_beam(n, true, false);
  const std::vector<double> tip = tip_deflections(rotating(beam, angle), 20, 0.05);

  const ReducedBody b = beam.reduced();
  Mat G(n, n);
  Vec f(n);
  for (int k = 0; k < n; ++k) {
    const double p = k + 2;
    f[k] = beam.mass_per_length * beam.length * beam.length / (p + 2);
    for (int l = 0; l < n; ++l) {
      const double q = l + 2;
      G(k, l) = 0.5 * beam.mass_per_length * beam.length * p * q * (1 / (p + q - 1) - 1 / (p + q + 1));
    }
  }
  const Mat Mi = inverse(b.M);
  Vec eta = Vec::Zero(n), rate = Vec::Zero(n);
  const auto acceleration = [&](double t, const Vec& e) -> Vec {
    const double w = speed(t);
    return Mi * (-spin(t) * f - (b.K + w * w * (G - b.M)) * e);
  };
  std::vector<double> reference = {0};
  const double h = 0.0025;
  for (int i = 0; i < 8000; ++i) {
    const double t = i * h;
    const Vec a1 = acceleration(t, eta), a2 = acceleration(t + h / 2, eta + h / 2 * rate),
              a3 = acceleration(t + h / 2, eta + h / 2 * rate + h * h / 4 * a1),
              a4 = acceleration(t + h, eta + h * rate + h * h / 2 * a2);
    eta += h * rate + h * h / 6 * (a1 + a2 + a3);
    rate += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    if ((i + 1) % 20 == 0) reference.push_back(eta.sum());
  }
  ASSERT_EQ(tip.size(), reference.size());
  const double peak = *std::min_element(reference.begin(), reference.end());
  EXPECT_LT(peak, -0.5);
  double difference = 0, late = 0;
  for (std::size_t i = 0; i < tip.size(); ++i) {
    difference = std::max(difference, std::abs(tip[i] - reference[i]));
    if (i > 320) late = std::max(late, std::abs(tip[i]));
  }
  EXPECT_LT(difference, 0.015 * std::abs(peak));
  EXPECT_LT(late, 0.02);  // after the spin-up the beam is straight again but for small vibration

  // Without stiffening the deflection grows without bound once Omega has passed the first frequency.
  const std::vector<double> soft = tip_deflections(rotating(kane_beam(n, false, false), angle), 10, 0.5);
  EXPECT_GT(std::abs(soft.back()), 10.0);
}

}  // namespace
}  // namespace clatter::test

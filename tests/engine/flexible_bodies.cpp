#include "engine/flexible_bodies.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <numbers>

namespace clatter::test {

ReducedBody Cloud::reduced(bool stiffens) const {
  ReducedBody b;
  b.planar = planar;
  b.n = n;
  b.N = Mat::Zero(3, n);
  for (Mat& m : b.E0) m = Mat::Zero(3, n);
  for (Mat& m : b.E) m = Mat::Zero(n, n);
  for (Mat* m : {&b.M, &b.K, &b.D}) *m = Mat::Zero(n, n);
  if (stiffens) b.stiffening.assign(12, Mat::Zero(n, n));
  constexpr int first[6] = {0, 1, 2, 0, 1, 2}, second[6] = {0, 1, 2, 1, 2, 0};
  for (const Point& p : points) {
    b.mass += p.mass;
    b.E00 += p.mass * p.X * p.X.transpose();
    b.N += p.mass * p.Phi;
    b.M += p.mass * p.Phi.transpose() * p.Phi;
    for (int a = 0; a < 3; ++a) b.E0[a] += p.mass * p.X[a] * p.Phi;
    for (int c = 0; c < 6; ++c) b.E[c] += p.mass * p.Phi.row(first[c]).transpose() * p.Phi.row(second[c]);
    if (!stiffens) continue;
    for (int c = 0; c < 3; ++c) {
      b.stiffening[c] += p.mass * p.g[c];
      for (int a = 0; a < 3; ++a) b.stiffening[3 + 3 * a + c] += p.mass * p.X[a] * p.g[c];
    }
  }
  b.J0 = b.E00.trace() * Mat3::Identity() - b.E00;
  return b;
}

Cloud random_cloud(int n, int points, bool planar, bool unit_mass, double second_order, const RandomNumber& dice) {
  Cloud cloud;
  cloud.n = n;
  cloud.planar = planar;
  double mass = 0;
  Vec3 centre = Vec3::Zero();
  for (int i = 0; i < points; ++i) {
    Cloud::Point p;
    p.mass = 1.3 / points * (1 + 0.4 * dice());
    p.X = 0.5 * Vec3(dice(), dice(), planar ? 0 : dice());
    p.Phi.resize(3, n);
    for (int a = 0; a < 3; ++a)
      for (int k = 0; k < n; ++k) p.Phi(a, k) = planar && a == 2 ? 0 : dice();
    for (int c = 0; c < 3; ++c) {
      Mat g(n, n);
      for (int k = 0; k < n; ++k)
        for (int l = 0; l < n; ++l) g(k, l) = planar && c == 2 ? 0 : second_order * dice();
      p.g[c] = 0.5 * (g + g.transpose());
    }
    mass += p.mass;
    centre += p.mass * p.X;
    cloud.points.push_back(std::move(p));
  }
  Mat M = Mat::Zero(n, n);
  for (Cloud::Point& p : cloud.points) {
    p.X -= centre / mass;
    M += p.mass * p.Phi.transpose() * p.Phi;
  }
  if (unit_mass) {
    const Mat L = M.llt().matrixL();
    for (Cloud::Point& p : cloud.points)
      p.Phi = L.triangularView<Eigen::Lower>().solve(p.Phi.transpose()).transpose().eval();
  }
  return cloud;
}

Marker random_marker(const std::string& name, const Vec3& X, const Mat3& R, int n, bool planar, bool turns,
                     double second_order, const RandomNumber& dice) {
  Marker m;
  m.name = name;
  m.X = X;
  m.R = R;
  m.S.resize(3, n);
  if (turns) m.Psi = Mat::Zero(3, n);
  for (int k = 0; k < n; ++k)
    for (int a = 0; a < 3; ++a) {
      m.S(a, k) = planar && a == 2 ? 0 : 0.7 * dice();
      if (turns) m.Psi(a, k) = planar && a != 2 ? 0 : 0.9 * dice();
    }
  if (second_order == 0) return m;
  for (int c = 0; c < 3; ++c) {
    Mat g(n, n);
    for (int k = 0; k < n; ++k)
      for (int l = 0; l < n; ++l) g(k, l) = planar && c == 2 ? 0 : second_order * dice();
    m.second[c] = 0.5 * (g + g.transpose());
  }
  return m;
}

void move_to_markers(Model& model, int index) {
  const Body& body = model.bodies[static_cast<std::size_t>(index)];
  const auto move = [&](Attachment& a) {
    if (a.body != index) return;
    for (const FrameDef& f : body.frames)
      if (a.label == body.name + "." + f.name) a.marker = f.name;
  };
  for (Joint& j : model.joints) move(j.a), move(j.b);
  for (ForceElement& e : model.force_elements) move(e.a), move(e.b);
  for (ContactShape& c : model.shapes) move(c.at);
  for (Load& l : model.loads) {
    move(l.at);
    if (l.reaction) move(*l.reaction);
  }
}

void make_flexible(Model& model, const std::string& name, const CloudKind& kind) {
  std::uint32_t state = 2654435761u * (kind.seed + 17);
  const auto dice = [&state]() {
    state = 1664525u * state + 1013904223u;
    return static_cast<double>(state) / 2147483648.0 - 1.0;
  };
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    Body& body = model.bodies[i];
    if (body.name != name) continue;
    const bool planar = is_planar(body.kind);
    body.kind = planar ? BodyKind::planar_flexible : BodyKind::flexible;
    const double second_order = kind.stiffens ? 0.15 : 0;
    const Cloud cloud = random_cloud(kind.n, kind.n + 4, planar, kind.unit_mass, second_order, dice);
    auto reduced = std::make_shared<ReducedBody>(cloud.reduced(kind.stiffens));
    reduced->origin = body.center_of_mass;
    Mat A(kind.n, kind.n), B(kind.n, kind.n);
    for (double& x : A.reshaped()) x = dice();
    for (double& x : B.reshaped()) x = dice();
    reduced->K = 20 * (A * A.transpose() + Mat::Identity(kind.n, kind.n));
    if (kind.damped) reduced->D = 0.3 * B * B.transpose();
    for (const FrameDef& f : body.frames)
      reduced->markers.push_back(random_marker(f.name, f.placement.position - body.center_of_mass,
                                               f.placement.rotation.toRotationMatrix(), kind.n, planar, kind.turns,
                                               second_order, dice));
    body.reduced = reduced;
    for (int k = 0; k < kind.n; ++k) {
      body.elastic.push_back(0.1 * dice());
      body.elastic_rate.push_back(0.3 * dice());
    }
    move_to_markers(model, static_cast<int>(i));
  }
}

ReducedBody RitzBeam::reduced() const {
  const int m = coordinates();
  ReducedBody b;
  b.planar = !spatial;
  b.n = m;
  b.mass = mass_per_length * length;
  b.E00(0, 0) = b.mass * length * length / 12;
  b.J0 = b.E00.trace() * Mat3::Identity() - b.E00;
  b.J0(0, 0) += 1e-3 * b.J0(2, 2);  // rotatory inertia about the axis
  b.N = Mat::Zero(3, m);
  for (Mat& x : b.E0) x = Mat::Zero(3, m);
  for (Mat& x : b.E) x = Mat::Zero(m, m);
  for (Mat* x : {&b.M, &b.K, &b.D}) *x = Mat::Zero(m, m);
  if (stiffens) b.stiffening.assign(12, Mat::Zero(m, m));
  Mat shortening = Mat::Zero(m, m);  // -int_0^s phi_k' phi_l'
  Marker root, tip;
  // Gauss quadrature of three points on many intervals: exact to rounding for the functions used.
  constexpr int intervals = 200;
  constexpr double node[3] = {-0.7745966692414834, 0, 0.7745966692414834}, weight[3] = {5. / 18, 8. / 18, 5. / 18};
  // int_0^s over the part of an interval up to its Gauss points (Lagrange through the three points).
  const double h = length / intervals;
  const auto slope_products = [&](double s) {
    Mat p = Mat::Zero(m, m);
    for (int d = 0; d < (spatial ? 2 : 1); ++d)
      for (int k = 0; k < n; ++k)
        for (int l = 0; l < n; ++l) p(d * n + k, d * n + l) = function(k, s)[1] * function(l, s)[1];
    return p;
  };
  for (int i = 0; i < intervals; ++i) {
    for (int g = 0; g < 3; ++g) {
      const double s = (i + 0.5 + 0.5 * node[g]) * h, X = s - 0.5 * length, dm = mass_per_length * h * weight[g];
      Vec phi = Vec::Zero(n), bend = Vec::Zero(n);
      for (int k = 0; k < n; ++k) {
        phi[k] = function(k, s)[0];
        bend[k] = function(k, s)[2];
      }
      for (int d = 0; d < (spatial ? 2 : 1); ++d) {
        const int c = 1 + d;
        b.N.row(c).segment(d * n, n) += dm * phi.transpose();
        b.E0[0].row(c).segment(d * n, n) += dm * X * phi.transpose();
        b.M.block(d * n, d * n, n, n) += dm * phi * phi.transpose();
        b.K.block(d * n, d * n, n, n) += EI * h * weight[g] * bend * bend.transpose();
        b.E[c].block(d * n, d * n, n, n) += dm * phi * phi.transpose();
      }
      if (spatial) b.E[4].block(0, n, n, n) += dm * phi * phi.transpose();  // yz
      if (!stiffens) continue;
      // From the interval's start to s by a rule of three points of its own.
      Mat part = shortening;
      for (int q = 0; q < 3; ++q)
        part -= (s - i * h) * weight[q] * slope_products(i * h + (s - i * h) * (0.5 + 0.5 * node[q]));
      b.stiffening[0] += dm * part;
      b.stiffening[3] += dm * X * part;
    }
    for (int q = 0; q < 3; ++q) shortening -= h * weight[q] * slope_products((i + 0.5 + 0.5 * node[q]) * h);
  }
  for (Marker* marker : {&root, &tip}) {
    const double s = marker == &root ? 0 : length;
    marker->name = marker == &root ? "root" : "tip";
    marker->X = Vec3(s - 0.5 * length, 0, 0);
    marker->S = marker->Psi = Mat::Zero(3, m);
    for (int k = 0; k < n; ++k) {
      marker->S(1, k) = function(k, s)[0];
      marker->Psi(2, k) = function(k, s)[1];
      if (!spatial) continue;
      marker->S(2, n + k) = function(k, s)[0];
      marker->Psi(1, n + k) = -function(k, s)[1];
    }
    if (!stiffens) continue;
    for (Mat& g : marker->second) g = Mat::Zero(m, m);
    if (marker == &tip) marker->second[0] = shortening;
    b.markers.push_back(*marker);
  }
  if (!stiffens) b.markers = {root, tip};
  return b;
}

std::array<double, 3> clamped_power(int k, double s, double length) {
  const double x = s / length, p = k + 2;
  return {std::pow(x, p), p * std::pow(x, p - 1) / length, p * (p - 1) * std::pow(x, p - 2) / (length * length)};
}

std::array<double, 3> pinned_sine(int k, double s, double length) {
  const double w = (k + 1) * std::numbers::pi / length;
  return {std::sin(w * s), w * std::cos(w * s), -w * w * std::sin(w * s)};
}

Body flexible_body(const std::string& name, ReducedBody reduced) {
  Body b;
  b.name = name;
  b.kind = reduced.planar ? BodyKind::planar_flexible : BodyKind::flexible;
  for (const Marker& m : reduced.markers) {
    FrameDef f;
    f.name = m.name;
    f.placement = {m.X + reduced.origin, Quat(m.R)};
    b.frames.push_back(f);
  }
  b.pose = Placement{};
  b.reduced = std::make_shared<const ReducedBody>(std::move(reduced));
  return b;
}

void replace(Model& model, const std::string& name, ReducedBody reduced) {
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    Body& body = model.bodies[i];
    if (body.name != name) continue;
    Body with = flexible_body(name, std::move(reduced));
    with.pose = body.pose;
    with.velocity = body.velocity;
    with.angular_velocity = body.angular_velocity;
    body = with;
    move_to_markers(model, static_cast<int>(i));
    return;
  }
}

ReducedBody random_superelement(const std::vector<BoundaryNode>& boundary, int modes, bool damped,
                                const RandomNumber& dice) {
  int nodal = 0;
  std::vector<BoundaryNode> nodes = boundary;
  for (BoundaryNode& node : nodes) {
    node.first = nodal;
    nodal += node.rotations ? 6 : 3;
  }
  const int n = nodal + modes;
  Mat tau = Mat::Zero(n, 6);
  for (const BoundaryNode& node : nodes) {
    tau.block<3, 3>(node.first, 0).setIdentity();
    tau.block<3, 3>(node.first, 3) = -skew<double>(node.X);
    if (node.rotations) tau.block<3, 3>(node.first + 3, 3).setIdentity();
  }
  const Mat back = (tau.transpose() * tau).inverse() * tau.transpose();
  const auto random = [&](Eigen::Index rows, Eigen::Index cols) {
    Mat m(rows, cols);
    for (double& x : m.reshaped()) x = dice();
    return m;
  };
  Cloud cloud;
  cloud.n = n;
  double mass = 0;
  Vec3 centre = Vec3::Zero();
  for (int i = 0; i < n; ++i) {
    Cloud::Point p;
    p.mass = 1.3 / n * (1 + 0.4 * dice());
    p.X = 0.5 * Vec3(dice(), dice(), dice());
    mass += p.mass;
    centre += p.mass * p.X;
    cloud.points.push_back(p);
  }
  const auto rigid_at = [](const Vec3& X) {
    Mat m(3, 6);
    m << Mat3::Identity(), -skew<double>(X);
    return m;
  };
  for (Cloud::Point& p : cloud.points) {
    p.X -= centre / mass;
    p.Phi = 0.6 * random(3, n);
    p.Phi += (rigid_at(p.X) - p.Phi * tau) * back;
  }
  ReducedBody b = cloud.reduced(false);
  b.boundary = nodes;
  const Mat strain = random(n, n) * (Mat::Identity(n, n) - tau * back);
  b.K = 20 * strain.transpose() * strain;
  b.K.topRightCorner(nodal, modes).setZero();
  b.K.bottomLeftCorner(modes, nodal).setZero();
  b.K.bottomRightCorner(modes, modes) = 40 * Mat::Identity(modes, modes);
  if (damped) b.D = 0.01 * b.K;
  return b;
}

void make_superelement(Model& model, const std::string& name, const SuperKind& kind) {
  std::uint32_t state = 2654435761u * (kind.seed + 29);
  const auto dice = [&state]() {
    state = 1664525u * state + 1013904223u;
    return static_cast<double>(state) / 2147483648.0 - 1.0;
  };
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    Body& body = model.bodies[i];
    if (body.name != name) continue;
    body.kind = BodyKind::flexible;
    std::vector<BoundaryNode> nodes;
    for (std::size_t f = 0; f < body.frames.size(); ++f)
      if (f == 0 || !kind.second_frame_is_marker)
        nodes.push_back({body.frames[f].name, body.frames[f].placement.position - body.center_of_mass, 0, true});
    nodes.push_back({"corner", Vec3(0.3, -0.4, 0.2), 0, false});
    nodes.push_back({"end", Vec3(-0.4, -0.1, -0.3), 0, true});
    auto reduced = std::make_shared<ReducedBody>(random_superelement(nodes, kind.modes, kind.damped, dice));
    reduced->origin = body.center_of_mass;
    if (kind.second_frame_is_marker) {
      const FrameDef& f = body.frames[1];
      reduced->markers.push_back(random_marker(f.name, f.placement.position - body.center_of_mass,
                                               f.placement.rotation.toRotationMatrix(), reduced->n, false, true, 0,
                                               dice));
    }
    body.reduced = reduced;
    body.superelement = kind.options;
    for (int k = 0; k < reduced->n; ++k) {
      body.elastic.push_back(0.03 * dice());
      body.elastic_rate.push_back(0.1 * dice());
    }
    move_to_markers(model, static_cast<int>(i));
  }
}

}  // namespace clatter::test

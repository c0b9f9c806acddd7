#include "engine/ancf_body.hpp"

#include <algorithm>
#include <cmath>

#include "engine/ancf_kinds.hpp"

namespace clatter {

namespace ancf {

namespace {

struct Rule {
  std::vector<double> at, weight;  // on [0, 1]
};

Rule gauss(int n) {
  Rule r;
  switch (n) {
    case 2:
      r = {{-std::sqrt(1.0 / 3), std::sqrt(1.0 / 3)}, {1, 1}};
      break;
    case 3:
      r = {{-std::sqrt(0.6), 0, std::sqrt(0.6)}, {5.0 / 9, 8.0 / 9, 5.0 / 9}};
      break;
    case 4: {
      const double a = std::sqrt(3.0 / 7 - 2.0 / 7 * std::sqrt(1.2)), b = std::sqrt(3.0 / 7 + 2.0 / 7 * std::sqrt(1.2));
      const double wa = (18 + std::sqrt(30.0)) / 36, wb = (18 - std::sqrt(30.0)) / 36;
      r = {{-b, -a, a, b}, {wb, wa, wa, wb}};
      break;
    }
    default: {
      const double a = std::sqrt(5 - 2 * std::sqrt(10.0 / 7)) / 3, b = std::sqrt(5 + 2 * std::sqrt(10.0 / 7)) / 3;
      const double wa = (322 + 13 * std::sqrt(70.0)) / 900, wb = (322 - 13 * std::sqrt(70.0)) / 900;
      r = {{-b, -a, 0, a, b}, {wb, wa, 128.0 / 225, wa, wb}};
    }
  }
  for (double& x : r.at) x = 0.5 * (1 + x);
  for (double& w : r.weight) w *= 0.5;
  return r;
}

Rule lobatto3() { return {{0, 0.5, 1}, {1.0 / 6, 2.0 / 3, 1.0 / 6}}; }

std::vector<double> shape(const AncfBody& b, double z, double length, int gradient, int derivative) {
  std::vector<double> out(static_cast<std::size_t>(b.element_vectors));
  b.element_weights(z, length, gradient, derivative, out.data());
  return out;
}

// sum of weighted vectors of an element of q
Vec3 combine(const AncfBody& b, const Vec& q, int first, const std::vector<double>& weights) {
  Vec3 out = Vec3::Zero();
  for (std::size_t i = 0; i < weights.size(); ++i)
    for (int c = 0; c < b.dim; ++c) out[c] += weights[i] * q[(first + static_cast<int>(i)) * b.dim + c];
  return out;
}

}  // namespace

bool BandMass::factorize() {
  L_ = m_;
  inverse_diagonal_.assign(static_cast<std::size_t>(n_), 0.0);
  for (int i = 0; i < n_; ++i) {
    for (int j = std::max(0, i - half_); j <= i; ++j) {
      double s = m_[at(i, j)];
      for (int k = std::max({0, i - half_, j - half_}); k < j; ++k) s -= L_[at(i, k)] * L_[at(j, k)];
      if (j < i) {
        L_[at(i, j)] = s * inverse_diagonal_[static_cast<std::size_t>(j)];
        continue;
      }
      if (!(s > 0)) return false;
      L_[at(i, i)] = std::sqrt(s);
      inverse_diagonal_[static_cast<std::size_t>(i)] = 1 / L_[at(i, i)];
    }
  }
  return true;
}

template <int Dim>
void BandMass::add_product(const double* x, double* y) const {
  for (int i = 0; i < n_; ++i) {
    const double* row = m_.data() + at(i, i - half_);
    const int first = std::max(0, i - half_);
    for (int j = first; j < i; ++j) {
      const double m = row[j - i + half_];
      for (int c = 0; c < Dim; ++c) {
        y[i * Dim + c] += m * x[j * Dim + c];
        y[j * Dim + c] += m * x[i * Dim + c];
      }
    }
    for (int c = 0; c < Dim; ++c) y[i * Dim + c] += row[half_] * x[i * Dim + c];
  }
}

template <int Dim>
void BandMass::solve(const double* b, double* x) const {
  for (int i = 0; i < n_; ++i) {
    const double* row = L_.data() + at(i, i - half_);
    double s[Dim];
    for (int c = 0; c < Dim; ++c) s[c] = b[i * Dim + c];
    for (int j = std::max(0, i - half_); j < i; ++j)
      for (int c = 0; c < Dim; ++c) s[c] -= row[j - i + half_] * x[j * Dim + c];
    for (int c = 0; c < Dim; ++c) x[i * Dim + c] = s[c] * inverse_diagonal_[static_cast<std::size_t>(i)];
  }
  for (int i = n_ - 1; i >= 0; --i) {
    const double* row = L_.data() + at(i, i - half_);
    double s[Dim];
    for (int c = 0; c < Dim; ++c) s[c] = x[i * Dim + c] *= inverse_diagonal_[static_cast<std::size_t>(i)];
    for (int j = std::max(0, i - half_); j < i; ++j)
      for (int c = 0; c < Dim; ++c) x[j * Dim + c] -= row[j - i + half_] * s[c];
  }
}

template void BandMass::add_product<2>(const double*, double*) const;
template void BandMass::add_product<3>(const double*, double*) const;
template void BandMass::solve<2>(const double*, double*) const;
template void BandMass::solve<3>(const double*, double*) const;

AncfBody::AncfBody(std::shared_ptr<const BeamSource> beam, const Placement& pose) : source(std::move(beam)) {
  const BeamSource& b = *source;
  const bool cable = b.element == BeamSource::Element::cable;
  dim = b.planar ? 2 : 3;
  gradients = cable || b.planar ? 2 : 3;
  element_nodes = cable ? 2 : 3;
  element_vectors = gradients * element_nodes;
  stride = gradients * (element_nodes - 1);
  elements = b.elements;
  vectors = stride * elements + gradients;
  nv = vectors * dim;
  level = pose.position.z();
  q0 = Vec::Zero(nv);
  for (int a = 0; a < b.node_count(); ++a) {
    const Placement& node = b.nodes[static_cast<std::size_t>(a)];
    const Mat3 R = node.rotation.toRotationMatrix();
    for (int g = 0; g < gradients; ++g) {
      const Vec3 body = g == 0 ? node.position : Vec3(R.col(cable ? 0 : g));
      for (int c = 0; c < dim; ++c) q0[(a * gradients + g) * dim + c] = body[c];
    }
  }
  tabulate();
  weigh();
  for (const BeamSource::Pressure& p : b.pressures) press(p);
  place({}, pose);
  for (const BeamSource::Point& p : b.points) place(p, pose);

  for (int j = 0; j < nv; ++j) {
    const int vector = j / dim, node = vector / gradients, span = element_nodes - 1;
    const int first = node % span == 0 ? std::max(0, node / span - 1) : node / span;
    const int last = std::min(elements - 1, node / span);
    const int begin = first * stride * dim, end = (last * stride + element_vectors) * dim;
    run_offset.push_back(static_cast<int>(run_mass.size()));
    runs.push_back({begin, end - begin});
    for (int i = begin; i < end; ++i) run_mass.push_back(i % dim == j % dim ? mass(i / dim, vector) : 0.0);
  }
}

void AncfBody::tabulate() {
  const BeamSource& b = *source;
  const bool cable = b.element == BeamSource::Element::cable;
  struct Row {  // which derivative of which vector a law sees
    int gradient, derivative;
  };
  // `height`: of points above the axis, for the continuum: r_x = r' + y r_y'
  const auto table = [&](const std::vector<Row>& rows, const Rule& rule, const Mat& D, const Vec& damping, int strains,
                         auto&& strain, const std::vector<std::pair<double, double>>& heights = {{0, 1}}) {
    LawTable t;
    t.D = D;
    t.E = D * damping.asDiagonal();
    t.damped = !t.E.isZero(0.0);
    damped = damped || t.damped;
    t.points = static_cast<int>(rule.at.size() * heights.size());
    t.size = static_cast<int>(rows.size()) * element_vectors + 1 + strains;
    for (int e = 0; e < elements; ++e) {
      const double L = b.lengths[static_cast<std::size_t>(e)];
      for (std::size_t k = 0; k < rule.at.size(); ++k) {
        const double z = rule.at[k];
        const double j = combine(*this, q0, e * stride, shape(*this, z, L, 0, 1)).norm();
        for (const auto& [y, part] : heights) {
          std::vector<double> X;
          for (std::size_t i = 0; i < rows.size(); ++i) {
            std::vector<double> w = shape(*this, z, L, rows[i].gradient, rows[i].derivative);
            if (i == 0 && y != 0) {
              const std::vector<double> tilt = shape(*this, z, L, 1, 1);
              for (std::size_t n = 0; n < w.size(); ++n) w[n] += y * tilt[n];
            }
            for (double& x : w) x /= std::pow(j, rows[i].derivative);
            const Vec3 v = combine(*this, q0, e * stride, w);
            for (int c = 0; c < dim; ++c) X.push_back(v[c]);
            t.data.insert(t.data.end(), w.begin(), w.end());
          }
          t.data.push_back(rule.weight[k] * part * L * j);
          const Vec s = strain(X);
          for (int n = 0; n < strains; ++n) t.data.push_back(s[n]);
        }
      }
    }
    laws.push_back(std::move(t));
  };
  const auto of = [](auto law) {
    using L = decltype(law);
    return [](const std::vector<double>& X) {
      typename L::Strain s;
      L::strain(Eigen::Map<const typename L::X>(X.data()), s);
      return Vec(s);
    };
  };
  const auto diagonal = [](std::initializer_list<double> values) {
    Vec d(static_cast<Eigen::Index>(values.size()));
    Eigen::Index i = 0;
    for (const double v : values) d[i++] = v;
    return d;
  };
  const auto matrix = [&](std::initializer_list<double> values) { return Mat(diagonal(values).asDiagonal()); };
  const double ta = b.axial_damping, t = b.damping;
  if (cable) {
    const Rule axial = b.full_integration ? gauss(5) : lobatto3(), bend = gauss(b.full_integration ? 3 : 2);
    if (b.planar) {
      table({{0, 1}}, axial, matrix({b.EA}), diagonal({ta}), 1, of(Stretch<2>{}));
      table({{0, 1}, {0, 2}}, bend, matrix({b.EIz}), diagonal({t}), 1, of(Bend2{}));
    } else {
      table({{0, 1}}, axial, matrix({b.EA}), diagonal({ta}), 1, of(Stretch<3>{}));
      // A spatial cable is straight by nature: it has no axes in which a curvature at rest could turn with it.
      table({{0, 1}, {0, 2}}, bend, matrix({b.EIz, b.EIz, b.EIz}), Vec::Zero(3), 3,
            [](const std::vector<double>&) { return Vec(Vec::Zero(3)); });
    }
    return;
  }
  const Rule along = gauss(b.full_integration ? 4 : 2);
  const Rule section = b.full_integration ? gauss(4) : lobatto3();
  if (!b.planar) {
    table({{0, 1}, {1, 0}, {2, 0}, {1, 1}, {2, 1}}, along, matrix({b.EA, b.GAy, b.GAz, b.GJ, b.EIy, b.EIz}),
          diagonal({ta, t, t, t, t, t}), 6, of(Shear3{}));
    table({{1, 0}, {2, 0}}, section, matrix({b.EA, b.EA, 0.5 * (b.GAy + b.GAz)}), diagonal({t, t, t}), 3,
          of(Section3{}));
    return;
  }
  const Rule none{{}, {}};
  const bool solid = b.continuum;
  table({{0, 1}, {1, 0}, {1, 1}}, solid ? none : along, matrix({b.EA, b.GAy, b.EIz}), diagonal({ta, t, t}), 3,
        of(Shear2{}));
  table({{1, 0}}, solid ? none : section, matrix({b.EA}), diagonal({t}), 1, of(Height2{}));
  // Y-6: D_0 over the section, D_nu on the axis
  const double A = b.width * b.depth, nu = b.poisson, E = b.young, shear = A > 0 ? b.GAy / A : 0;
  std::vector<std::pair<double, double>> heights;
  const Rule across = gauss(3);
  for (std::size_t k = 0; k < across.at.size(); ++k)
    heights.emplace_back((across.at[k] - 0.5) * b.width, across.weight[k] * A);
  table({{0, 1}, {1, 0}}, solid ? along : none, matrix({E, E, shear}), diagonal({t, t, t}), 3, of(Plane{}), heights);
  Mat coupling = Mat::Zero(3, 3);
  coupling.topLeftCorner<2, 2>() << nu, 1, 1, nu;
  coupling *= E * nu / (1 - nu * nu);
  table({{0, 1}, {1, 0}}, solid && nu != 0 ? along : none, coupling, diagonal({t, t, t}), 3, of(Plane{}), {{0, A}});
}

void AncfBody::weigh() {
  const BeamSource& b = *source;
  const bool cable = element_nodes == 2;
  mass = BandMass(vectors, element_vectors - 1);
  const Rule rule = gauss(cable ? 4 : 3);
  for (int e = 0; e < elements; ++e) {
    const double L = b.lengths[static_cast<std::size_t>(e)];
    for (std::size_t k = 0; k < rule.at.size(); ++k) {
      const double j = combine(*this, q0, e * stride, shape(*this, rule.at[k], L, 0, 1)).norm();
      for (int g = 0; g < (cable ? 1 : gradients); ++g) {
        // r_y carries the inertia of the section's extent along y, int rho y^2 dA = rho I_z
        const double rho = (g == 0 ? b.rhoA : g == 1 ? b.rhoIz : b.rhoIy) * rule.weight[k] * L * j;
        const std::vector<double> N = shape(*this, rule.at[k], L, g, 0);
        for (int i = 0; i < element_vectors; ++i)
          for (int n = 0; n <= i; ++n)
            mass.add(e * stride + i, e * stride + n,
                     rho * N[static_cast<std::size_t>(i)] * N[static_cast<std::size_t>(n)]);
      }
    }
  }
  mass.factorize();
  weight.assign(static_cast<std::size_t>(vectors), 0.0);
  total_mass = 0;
  Vec3 moment = Vec3::Zero();
  Mat3 second = Mat3::Zero();  // int rho x x^T
  for (int i = 0; i < vectors; ++i) {
    for (int n = std::max(0, i - element_vectors + 1); n < std::min(vectors, i + element_vectors); ++n)
      if (is_position(n)) weight[static_cast<std::size_t>(i)] += mass(i, n);
    Vec3 x = Vec3::Zero();
    for (int c = 0; c < dim; ++c) x[c] = q0[i * dim + c];
    if (is_position(i)) total_mass += weight[static_cast<std::size_t>(i)];
    moment += weight[static_cast<std::size_t>(i)] * x;
    for (int n = std::max(0, i - element_vectors + 1); n < std::min(vectors, i + element_vectors); ++n) {
      Vec3 y = Vec3::Zero();
      for (int c = 0; c < dim; ++c) y[c] = q0[n * dim + c];
      second += mass(i, n) * x * y.transpose();
    }
  }
  centre = moment / total_mass;
  second -= total_mass * centre * centre.transpose();
  inertia = -0.5 * (second + second.transpose());
  inertia.diagonal().array() += second.trace();
}

void AncfBody::press(const BeamSource::Pressure& on) {
  const double side = on.above ? 1 : -1, y = side * 0.5 * source->size_y;
  const Rule rule = gauss(2);  // exact: N N' is of the third degree
  Mat P = Mat::Zero(element_vectors, element_vectors);
  for (std::size_t k = 0; k < rule.at.size(); ++k) {
    const auto weights = [&](int derivative) {
      const std::vector<double> r = shape(*this, rule.at[k], 1, 0, derivative),
                                r_y = shape(*this, rule.at[k], 1, 1, derivative);
      return Vec(Eigen::Map<const Vec>(r.data(), element_vectors) +
                 y * Eigen::Map<const Vec>(r_y.data(), element_vectors));
    };
    P += rule.weight[k] * weights(0) * weights(1).transpose();
  }
  pressure.push_back(side * source->size_z * P);
}

void AncfBody::place(const BeamSource::Point& point, const Placement& pose) {
  const BeamSource& b = *source;
  const double x = std::clamp(point.s, 0.0, 1.0) * elements;
  const int e = std::min(static_cast<int>(x), elements - 1);
  const double z = x - e, L = b.lengths[static_cast<std::size_t>(e)];
  const bool cable = element_nodes == 2;
  Place p;
  p.name = point.name;
  std::vector<double> N = shape(*this, z, L, 0, 0);
  const double side[] = {point.y, point.z};
  for (int g = 1; g < gradients && !cable; ++g) {
    const std::vector<double> section = shape(*this, z, L, g, 0);
    for (std::size_t i = 0; i < N.size(); ++i) N[i] += side[g - 1] * section[i];
  }
  std::vector<std::vector<double>> turn;
  if (cable)
    turn.push_back(shape(*this, z, L, 0, 1));
  else
    for (int g = 1; g < gradients; ++g) turn.push_back(shape(*this, z, L, g, 0));
  // At a node only its own vectors count.
  int first = element_vectors, last = -1;
  for (int i = 0; i < element_vectors; ++i) {
    bool any = N[static_cast<std::size_t>(i)] != 0;
    for (const auto& row : turn) any = any || row[static_cast<std::size_t>(i)] != 0;
    if (!any) continue;
    first = std::min(first, i);
    last = i;
  }
  p.first = e * stride + first;
  p.count = last - first + 1;
  p.N.assign(N.begin() + first, N.begin() + last + 1);
  for (const auto& row : turn) p.turn.insert(p.turn.end(), row.begin() + first, row.begin() + last + 1);

  const Vec3 r = combine(*this, q0, e * stride, N);
  std::vector<double> gradient;
  for (const auto& row : turn) {
    const Vec3 v = combine(*this, q0, e * stride, row);
    for (int c = 0; c < dim; ++c) gradient.push_back(v[c]);
  }
  Mat3 axes;
  if (dim == 2) {
    axes = cable ? PlanarTurn<false>::axes(gradient.data(), {}) : PlanarTurn<true>::axes(gradient.data(), {});
  } else if (cable) {
    // The section's axes of the node before, turned the shortest way.
    TurnStart node;
    node.axes = b.nodes[static_cast<std::size_t>(e)].rotation.toRotationMatrix();
    axes = CableTurn::axes(gradient.data(), node);
  } else {
    axes = BeamTurn::axes(gradient.data(), {});
  }
  p.reference = {r, Quat(axes)};
  p.start.axes = pose.rotation.toRotationMatrix() * axes;
  places.push_back(std::move(p));
}

void AncfBody::start_state(const Placement& pose, const Vec3& velocity, const Vec3& omega,
                           const std::vector<double>& elastic, const std::vector<double>& elastic_rate, double* q,
                           double* v) const {
  const auto component = [&](const std::vector<double>& list, int k) {
    return k < static_cast<int>(list.size()) ? list[static_cast<std::size_t>(k)] : 0.0;
  };
  for (int i = 0; i < vectors; ++i) {
    Vec3 x = Vec3::Zero(), rate = Vec3::Zero();
    for (int c = 0; c < dim; ++c) {
      x[c] = q0[i * dim + c] + component(elastic, i * dim + c);
      rate[c] = component(elastic_rate, i * dim + c);
    }
    x = pose.rotation * x;
    rate = pose.rotation * rate + omega.cross(x);
    if (is_position(i)) {
      x += pose.position;
      rate += velocity;
    }
    for (int c = 0; c < dim; ++c) {
      q[i * dim + c] = x[c];
      v[i * dim + c] = rate[c];
    }
  }
}

void AncfBody::element_weights(double z, double length, int gradient, int derivative, double* out) const {
  if (element_nodes == 2) {  // cable: position alone is interpolated
    const double L = length, k = 1 / L;
    const double N[4][4] = {
        {1 + z * z * (2 * z - 3), L * z * (1 + z * (z - 2)), z * z * (3 - 2 * z), L * z * z * (z - 1)},
        {6 * z * (z - 1) * k, 1 + z * (3 * z - 4), 6 * z * (1 - z) * k, z * (3 * z - 2)},
        {(12 * z - 6) * k * k, (6 * z - 4) * k, (6 - 12 * z) * k * k, (6 * z - 2) * k},
        {12 * k * k * k, 6 * k * k, -12 * k * k * k, 6 * k * k}};
    std::copy(N[derivative], N[derivative] + 4, out);
    return;
  }
  std::fill(out, out + element_vectors, 0.0);
  const double xi = 2 * z - 1, s = 2 / length;
  const double N[4][3] = {{0.5 * xi * (xi - 1), 1 - xi * xi, 0.5 * xi * (xi + 1)},
                          {(xi - 0.5) * s, -2 * xi * s, (xi + 0.5) * s},
                          {s * s, -2 * s * s, s * s},
                          {0, 0, 0}};
  for (int a = 0; a < 3; ++a) out[a * gradients + gradient] = N[derivative][a];
}

std::vector<double> AncfBody::weights(double s, int gradient, int derivative, int& first) const {
  const double x = std::clamp(s, 0.0, 1.0) * elements;
  const int e = std::min(static_cast<int>(x), elements - 1);
  first = e * stride;
  return shape(*this, x - e, source->lengths[static_cast<std::size_t>(e)], gradient, derivative);
}

}  // namespace ancf
}  // namespace clatter

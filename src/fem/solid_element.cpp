#include <cmath>

#include "fem/element.hpp"

namespace clatter::fem {
namespace {

bool has_incompatible_modes(ElementType type, Formulation f) {
  return f == Formulation::incompatible && (type == ElementType::hex8 || type == ElementType::quad4);
}

using StrainMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 60>;
using ModeMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 9>;
using ElasticityMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;

// Strain of displacement component-wise along grad: columns for node (or mode) a begin at d a.
template <class B>
void strain_columns(int d, const Vec3& g, int column, B& out) {
  if (d == 3) {
    out.template block<6, 3>(0, column) << g.x(), 0, 0, 0, g.y(), 0, 0, 0, g.z(), g.y(), g.x(), 0, 0, g.z(), g.y(),
        g.z(), 0, g.x();
  } else {
    out.template block<3, 2>(0, column) << g.x(), 0, 0, g.y(), g.y(), g.x();
  }
}

ElasticityMatrix elasticity_of(int d, const Properties& p) {
  if (d == 3) return elasticity(p.material);
  return plane_elasticity(p.material, p.plane_strain);
}

}  // namespace

// Strain matrices at the points of the stiffness rule, and what condenses the incompatible modes.
class SolidElement {
 public:
  SolidElement(ElementType type, const NodeCoordinates& x, const Properties& p, Formulation f)
      : d_(info(type).dimension), n_(info(type).nodes), voigt_(d_ == 3 ? 6 : 3), D_(elasticity_of(d_, p)) {
    incompatible_ = has_incompatible_modes(type, f);
    const double depth = d_ == 2 ? p.thickness : 1;
    Mat3 J0_inverse;
    double det0 = 1;
    if (incompatible_) {
      ShapeValues N;
      ShapeGradients dN, g;
      shape_functions(type, Vec3::Zero(), N, dN);
      Mat3 J0;
      det0 = spatial_gradients(d_, dN, x, g, J0);
      J0_inverse = J0.inverse();
    }
    ShapeGradients g;
    Mat3 J;
    for (const auto& q : stiffness_rule(type)) {
      const double det = spatial_gradients(d_, q.dN, x, g, J);
      weight_.push_back(q.weight * det * depth);
      StrainMatrix B(voigt_, d_ * n_);
      for (int a = 0; a < n_; ++a) strain_columns(d_, g.row(a).transpose(), d_ * a, B);
      B_.push_back(B);
      if (!incompatible_) continue;
      ModeMatrix G(voigt_, d_ * d_);
      for (int i = 0; i < d_; ++i) {
        // d(1 - xi_i^2)/dxi_i = -2 xi_i, mapped by the Jacobian of the centre.
        const Vec3 grad = det0 / det * (-2 * q.xi[i]) * J0_inverse.col(i);
        strain_columns(d_, grad, d_ * i, G);
      }
      G_.push_back(G);
    }
    if (incompatible_) condense();
  }

  void stiffness(ElementMatrix& K) const {
    K.setZero(d_ * n_, d_ * n_);
    StrainMatrix DB;
    for (std::size_t q = 0; q < B_.size(); ++q) {
      DB.noalias() = weight_[q] * D_ * B_[q];
      K.noalias() += B_[q].transpose() * DB;
    }
    if (incompatible_) K.noalias() -= K_ua_ * K_aa_inverse_ * K_ua_.transpose();
    K = 0.5 * (K + K.transpose()).eval();
  }

  void stress(const Vec& u, bool plane_strain, double nu, PointStresses& s) const {
    s.setZero(6, static_cast<long>(B_.size()));
    Vec alpha;
    if (incompatible_) alpha = -K_aa_inverse_ * (K_ua_.transpose() * u);
    for (std::size_t q = 0; q < B_.size(); ++q) {
      Vec strain = B_[q] * u;
      if (incompatible_) strain += G_[q] * alpha;
      const Vec sigma = D_ * strain;
      if (d_ == 3) {
        s.col(static_cast<long>(q)) = sigma;
      } else {
        s(0, static_cast<long>(q)) = sigma[0];
        s(1, static_cast<long>(q)) = sigma[1];
        s(2, static_cast<long>(q)) = plane_strain ? nu * (sigma[0] + sigma[1]) : 0;
        s(3, static_cast<long>(q)) = sigma[2];
      }
    }
  }

 private:
  void condense() {
    Mat K_aa = Mat::Zero(d_ * d_, d_ * d_);
    K_ua_ = Mat::Zero(d_ * n_, d_ * d_);
    for (std::size_t q = 0; q < B_.size(); ++q) {
      const ModeMatrix DG = weight_[q] * D_ * G_[q];
      K_aa.noalias() += G_[q].transpose() * DG;
      K_ua_.noalias() += B_[q].transpose() * DG;
    }
    K_aa_inverse_ = K_aa.inverse();
  }

  int d_, n_, voigt_;
  ElasticityMatrix D_;
  bool incompatible_ = false;
  std::vector<double> weight_;
  std::vector<StrainMatrix> B_;
  std::vector<ModeMatrix> G_;
  Mat K_ua_, K_aa_inverse_;
};

void solid_stiffness(ElementType type, const NodeCoordinates& x, const Properties& p, Formulation formulation,
                     ElementMatrix& K) {
  SolidElement(type, x, p, formulation).stiffness(K);
}

void solid_stress(ElementType type, const NodeCoordinates& x, const Properties& p, Formulation formulation,
                  const Vec& u, PointStresses& stress) {
  SolidElement(type, x, p, formulation).stress(u, p.plane_strain, p.material.poisson, stress);
}

StressOperator::StressOperator(ElementType type, const NodeCoordinates& x, const Properties& p, Formulation formulation)
    : element_(std::make_unique<SolidElement>(type, x, p, formulation)),
      plane_strain_(p.plane_strain),
      poisson_(p.material.poisson) {}

StressOperator::~StressOperator() = default;

void StressOperator::apply(const Vec& u, PointStresses& stress) const {
  element_->stress(u, plane_strain_, poisson_, stress);
}

void solid_mass(ElementType type, const NodeCoordinates& x, const Properties& p, MassKind kind, ScalarMatrix& m) {
  const ElementInfo& e = info(type);
  m.setZero(e.nodes, e.nodes);
  const double density = p.material.density * (e.dimension == 2 ? p.thickness : 1);
  ShapeGradients g;
  Mat3 J;
  double total = 0;
  for (const auto& q : mass_rule(type)) {
    const double w = density * q.weight * spatial_gradients(e.dimension, q.dN, x, g, J);
    m.noalias() += w * q.N * q.N.transpose();
    total += w;
  }
  if (kind == MassKind::lumped) {
    // Diagonal of the consistent matrix, scaled to the mass: positive for all elements (Hinton, Rock and Zienkiewicz
    // 1976).
    const ShapeValues diagonal = m.diagonal() * (total / m.trace());
    m.setZero();
    m.diagonal() = diagonal;
  }
}

void solid_geometric(ElementType type, const NodeCoordinates& x, const Properties& p, const PointStresses& stress,
                     ScalarMatrix& out) {
  const ElementInfo& e = info(type);
  const double depth = e.dimension == 2 ? p.thickness : 1;
  out.setZero(e.nodes, e.nodes);
  ShapeGradients g;
  Mat3 J, sigma;
  long column = 0;
  for (const auto& q : stiffness_rule(type)) {
    const double w = q.weight * depth * spatial_gradients(e.dimension, q.dN, x, g, J);
    const auto s = stress.col(column++);
    sigma << s[0], s[3], s[5], s[3], s[1], s[4], s[5], s[4], s[2];
    if (e.dimension == 2) sigma.col(2).setZero(), sigma.row(2).setZero();
    out.noalias() += w * (g * sigma * g.transpose());
  }
}

}  // namespace clatter::fem

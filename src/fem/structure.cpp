#include "fem/structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "fem/assembler.hpp"

namespace clatter::fem {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

void check_matrix_symmetry(const Sparse& A, Sparse& lower) { lower = A.triangularView<Eigen::Lower>(); }

}  // namespace

Structure::Structure(StructureInput input, const Progress& progress) : input_(std::move(input)) {
  check_mesh(input_.mesh);
  planar_ = input_.mesh.dimension() == 2;
  assign_properties();
  number_freedoms();
  assemble(progress);
  summarize();
}

Structure::Structure(const MatrixModel& model, const std::string& name) : from_matrices_(true) {
  input_.mesh.file = name;
  input_.mesh.nodes = model.nodes;
  const int n = static_cast<int>(model.nodes.size()), per = model.per_node;
  group_of_.assign(at(n), -1);
  std::vector<Eigen::Triplet<double>> scalar;
  for (int i = 0; i < n; ++i) {
    first_.push_back(per * i);
    count_.push_back(per);
    for (int k = 0; k < per; ++k) block_of_.push_back(i);
  }
  freedoms_ = per * n;
  check_matrix_symmetry(model.K, K_);
  check_matrix_symmetry(model.M, M_);
  // m_ab: a third of the trace of the translational block.
  for (int c = 0; c < model.M.outerSize(); ++c)
    for (Sparse::InnerIterator it(model.M, c); it; ++it) {
      const int r = static_cast<int>(it.row());
      if (c % per > 2 || r % per != c % per || r / per < c / per) continue;
      scalar.emplace_back(r / per, c / per, it.value() / 3);
    }
  m_.resize(n, n);
  m_.setFromTriplets(scalar.begin(), scalar.end());
  summarize();
}

void Structure::assign_properties() {
  const Mesh& mesh = input_.mesh;
  property_.assign(at(mesh.element_count()), -1);
  for (std::size_t k = 0; k < input_.properties.size(); ++k) {
    const auto& [set, p] = input_.properties[k];
    check_material(p.material);
    if (planar_ && !(p.thickness > 0)) throw InputError("plane elements need a positive thickness");
    if (set.empty()) continue;
    const auto it = mesh.element_sets.find(set);
    if (it == mesh.element_sets.end()) {
      std::vector<std::string> names;
      for (const auto& [name, s] : mesh.element_sets) names.push_back(name);
      throw InputError("the mesh has no element set `" + set + "`", did_you_mean(set, names));
    }
    for (int e : it->second) property_[at(e)] = static_cast<int>(k);
  }
  for (std::size_t k = 0; k < input_.properties.size(); ++k)
    if (input_.properties[k].first.empty())
      for (int& p : property_)
        if (p < 0) p = static_cast<int>(k);
  int index = 0;
  for (const auto& b : mesh.blocks)
    for (int k = 0; k < b.count(); ++k, ++index) {
      if (property_[at(index)] < 0)
        throw InputError(fmt::format("element {} of the mesh has no material", mesh.element_label(index)),
                         "give a material for all elements, or for every element set");
      if (b.type == ElementType::line2) {
        check_section(properties_of(index).section);
        if (properties_of(index).material.orthotropic) throw InputError("beam elements need an isotropic material");
      }
    }
}

void Structure::number_freedoms() {
  const Mesh& mesh = input_.mesh;
  const int nodes = node_count();
  std::vector<int> size(at(nodes), 0);
  for (const auto& b : mesh.blocks) {
    const int d = info(b.type).dimension == 1 ? 6 : info(b.type).dimension;
    for (int n : b.connectivity) size[at(n)] = std::max(size[at(n)], d);
  }
  group_of_.assign(at(nodes), -1);
  for (std::size_t g = 0; g < input_.rigid.size(); ++g)
    for (int n : input_.rigid[g].nodes) {
      if (group_of_[at(n)] >= 0)
        throw InputError(fmt::format("node {} belongs to two rigid interfaces", mesh.node_label(n)),
                         "let one of them take the mean of its nodes (`coupling: mean`)");
      group_of_[at(n)] = static_cast<int>(g);
    }
  first_.assign(at(nodes), -1);
  count_.assign(at(nodes), 0);
  int next = 0, block = 0;
  for (int i = 0; i < nodes; ++i, ++block) {
    if (group_of_[at(i)] >= 0 || size[at(i)] == 0) continue;
    first_[at(i)] = next;
    count_[at(i)] = size[at(i)];
    next += size[at(i)];
    for (int k = 0; k < size[at(i)]; ++k) block_of_.push_back(block);
  }
  for (std::size_t g = 0; g < input_.rigid.size(); ++g, ++block) {
    group_first_.push_back(next);
    const int n = planar_ ? 3 : 6;
    next += n;
    for (int k = 0; k < n; ++k) block_of_.push_back(block);
  }
  freedoms_ = next;
}

Vec3 Structure::block_position(int block) const {
  return block < node_count() ? input_.mesh.nodes[at(block)] : input_.rigid[at(block - node_count())].at;
}

Structure::NodeMotion Structure::group(int index) const {
  NodeMotion m;
  m.first = group_first_[at(index)];
  m.rotates = true;
  const int n = planar_ ? 3 : 6;
  m.displacement.setZero(3, n);
  m.rotation.setZero(3, n);
  if (planar_) {
    m.displacement(0, 0) = m.displacement(1, 1) = m.rotation(2, 2) = 1;
  } else {
    m.displacement.leftCols<3>().setIdentity();
    m.rotation.rightCols<3>().setIdentity();
  }
  return m;
}

Structure::NodeMotion Structure::node(int index) const {
  if (const int g = group_of_[at(index)]; g >= 0) {
    NodeMotion m = group(g);
    const Vec3 r = input_.mesh.nodes[at(index)] - input_.rigid[at(g)].at;
    m.displacement += skew(r).transpose() * m.rotation;
    return m;
  }
  NodeMotion m;
  m.first = first_[at(index)];
  const int n = count_[at(index)];
  m.displacement.setZero(3, n);
  m.rotation.setZero(3, n);
  for (int i = 0; i < std::min(n, 3); ++i) m.displacement(i, i) = 1;
  if (n == 6) {
    m.rotation.rightCols<3>().setIdentity();
    m.rotates = true;
  }
  return m;
}

Mat Structure::nodal(const Mat& V) const {
  Mat out = Mat::Zero(3 * node_count(), V.cols());
  for (int i = 0; i < node_count(); ++i) {
    if (group_of_[at(i)] < 0) {
      const int n = std::min(count_[at(i)], 3);
      if (n > 0) out.middleRows(3 * i, n) = V.middleRows(first_[at(i)], n);
    } else {
      const NodeMotion m = node(i);
      out.middleRows<3>(3 * i).noalias() = m.displacement * V.middleRows(m.first, m.displacement.cols());
    }
  }
  return out;
}

int Structure::unit_of(int node) const { return group_of_[at(node)] >= 0 ? node_count() + group_of_[at(node)] : node; }

// The patterns of the matrices, and their zeros.
void Structure::connect(Assembler& full, Assembler& scalar) {
  std::vector<int> units;
  for (const auto& b : input_.mesh.blocks) {
    const int n = info(b.type).nodes;
    for (int k = 0; k < b.count(); ++k) {
      const int* c = b.connectivity.data() + static_cast<std::ptrdiff_t>(k) * n;
      units.assign(c, c + n);
      if (b.type != ElementType::line2) scalar.connect(units);
      for (int& u : units) u = unit_of(u);
      full.connect(units);
    }
  }
  full.close();
  scalar.close();
  K_ = full.zero();
  M_ = full.zero();
  m_ = scalar.zero();
}

// Points of a beam's mass, at which its translational field is known.
void Structure::add_samples(const int* c, const Properties& p) {
  const Vec3 &xa = input_.mesh.nodes[at(c[0])], &xb = input_.mesh.nodes[at(c[1])];
  if (input_.mass == MassKind::consistent) {
    for (const auto& q : mass_rule(ElementType::line2)) {
      const double s = 0.5 * (1 + q.xi[0]);
      samples_.push_back({0.5 * (xb - xa).norm() * q.weight * p.material.density * p.section.area,
                          xa + s * (xb - xa),
                          {c[0], c[1]},
                          beam_interpolation(xa, xb, p, s)});
    }
  } else {
    for (int end = 0; end < 2; ++end) {
      Mat3x12 H = Mat3x12::Zero();
      H.block<3, 3>(0, 6 * end).setIdentity();
      samples_.push_back(
          {0.5 * (xb - xa).norm() * p.material.density * p.section.area, end == 0 ? xa : xb, {c[0], c[1]}, H});
    }
  }
}

// Blocks of a pair of an element's nodes into both matrices, through the maps of linked nodes; d: freedoms of a node
// in the element.
void Structure::add_pair(Assembler& full, const int* nodes, int i, int j, int d, PairBlock& kb, PairBlock& mb) {
  const int a = nodes[i], b = nodes[j];
  const bool linked = group_of_[at(a)] >= 0 || group_of_[at(b)] >= 0;
  if (linked || count_[at(a)] != d || count_[at(b)] != d) {
    const auto map = [&](int n) {
      const NodeMotion m = node(n);
      PairBlock T(d, m.displacement.cols());
      T.topRows(std::min(d, 3)) = m.displacement.topRows(std::min(d, 3));
      if (d == 6) T.bottomRows(3) = m.rotation;
      return T;
    };
    const auto Ti = map(a), Tj = map(b);
    kb = (Ti.transpose() * kb * Tj).eval();
    mb = (Ti.transpose() * mb * Tj).eval();
  }
  const int ui = unit_of(a), uj = unit_of(b);
  full.add(K_, ui, uj, kb.data(), static_cast<int>(kb.rows()));
  full.add(M_, ui, uj, mb.data(), static_cast<int>(mb.rows()));
  if (ui == uj && i != j) {
    // Two nodes of one group: the transposed block falls on the same place.
    kb.transposeInPlace();
    mb.transposeInPlace();
    full.add(K_, ui, uj, kb.data(), static_cast<int>(kb.rows()));
    full.add(M_, ui, uj, mb.data(), static_cast<int>(mb.rows()));
  }
}

void Structure::assemble(const Progress& progress) {
  const Mesh& mesh = input_.mesh;
  std::vector<int> sizes = count_;
  for (std::size_t g = 0; g < input_.rigid.size(); ++g) sizes.push_back(planar_ ? 3 : 6);
  Assembler full(std::move(sizes)), scalar(std::vector<int>(at(node_count()), 1));
  connect(full, scalar);

  const int total = mesh.element_count();
  int index = 0;
  ElementMatrix Ke;
  ScalarMatrix me;
  Mat12 Kb, Mb;
  for (const auto& b : mesh.blocks) {
    const ElementInfo& e = info(b.type);
    for (int k = 0; k < b.count(); ++k, ++index) {
      if (progress && index % 4096 == 0) progress("assembling elements", static_cast<double>(index) / total);
      const int* c = b.connectivity.data() + static_cast<std::ptrdiff_t>(k) * e.nodes;
      const Properties& p = properties_of(index);
      const int d = e.dimension == 1 ? 6 : e.dimension;
      if (b.type == ElementType::line2) {
        const Vec3 &xa = mesh.nodes[at(c[0])], &xb = mesh.nodes[at(c[1])];
        beam_stiffness(xa, xb, p, Kb);
        beam_mass(xa, xb, p, input_.mass, Mb);
        add_samples(c, p);
      } else {
        const NodeCoordinates x = mesh.coordinates({b.type, c, e.nodes});
        solid_stiffness(b.type, x, p, input_.formulation, Ke);
        solid_mass(b.type, x, p, input_.mass, me);
        for (int i = 0; i < e.nodes; ++i)
          for (int j = 0; j <= i; ++j) scalar.add(m_, c[i], c[j], &me(i, j), 1);
      }
      for (int i = 0; i < e.nodes; ++i)
        for (int j = 0; j <= i; ++j) {
          PairBlock kb, mb;
          if (b.type == ElementType::line2) {
            kb = Kb.block<6, 6>(6 * i, 6 * j);
            mb = Mb.block<6, 6>(6 * i, 6 * j);
          } else {
            kb = Ke.block(d * i, d * j, d, d);
            mb.setZero(d, d);
            mb.diagonal().setConstant(me(i, j));
          }
          add_pair(full, c, i, j, d, kb, mb);
        }
    }
  }
  M_.prune([](int r, int c, double v) { return v != 0 || r == c; });
}

Mat Structure::sampled(const Mat& V) const {
  Mat out(3 * static_cast<long>(samples_.size()), V.cols());
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    auto rows = out.middleRows<3>(3 * static_cast<long>(s));
    rows.setZero();
    for (int end = 0; end < 2; ++end) {
      const NodeMotion m = node(samples_[s].node[end]);
      const auto q = V.middleRows(m.first, m.displacement.cols());
      rows += samples_[s].H.block<3, 3>(0, 6 * end) * (m.displacement * q) +
              samples_[s].H.block<3, 3>(0, 6 * end + 3) * (m.rotation * q);
    }
  }
  return out;
}

void Structure::summarize() {
  const auto& nodes = input_.mesh.nodes;
  mass_ = 0;
  centre_.setZero();
  const auto each = [&](const auto& visit) {
    for (int c = 0; c < m_.outerSize(); ++c)
      for (Sparse::InnerIterator it(m_, c); it; ++it) {
        const int r = static_cast<int>(it.row());
        visit(r, c, r == c ? it.value() : 2 * it.value());
      }
  };
  each([&](int r, int c, double m) {
    mass_ += m;
    centre_ += m * 0.5 * (nodes[at(r)] + nodes[at(c)]);
  });
  for (const Sample& s : samples_) {
    mass_ += s.weight;
    centre_ += s.weight * s.X;
  }
  if (!(mass_ > 0)) throw InputError("the flexible body has no mass");
  centre_ /= mass_;
  E00_.setZero();
  each([&](int r, int c, double m) {
    const Vec3 a = nodes[at(r)] - centre_, b = nodes[at(c)] - centre_;
    E00_ += 0.5 * m * (a * b.transpose() + b * a.transpose());
  });
  for (const Sample& s : samples_) E00_ += s.weight * (s.X - centre_) * (s.X - centre_).transpose();
  inertia_ = E00_.trace() * Mat3::Identity() - E00_;
  if (!samples_.empty() || from_matrices_) {
    // With the rotatory inertia that the mass matrix carries.
    const Mat R = rigid_motions();
    const Mat RMR = R.transpose() * mass_times(R);
    inertia_ = 0.5 * (RMR.bottomRightCorner<3, 3>() + RMR.bottomRightCorner<3, 3>().transpose());
  }
}

Mat Structure::rigid_motions() const {
  Mat R = Mat::Zero(freedoms_, planar_ ? 3 : 6);
  const auto fill = [&](int first, int count, const Vec3& x) {
    const Vec3 r = x - centre_;
    if (planar_) {
      R(first, 0) = R(first + 1, 1) = 1;
      R(first, 2) = -r.y();
      R(first + 1, 2) = r.x();
      if (count == 3) R(first + 2, 2) = 1;
    } else {
      R.block<3, 3>(first, 0).setIdentity();
      R.block<3, 3>(first, 3) = -skew(r);
      if (count == 6) R.block<3, 3>(first + 3, 3).setIdentity();
    }
  };
  for (int i = 0; i < node_count(); ++i)
    if (first_[at(i)] >= 0) fill(first_[at(i)], count_[at(i)], input_.mesh.nodes[at(i)]);
  for (std::size_t g = 0; g < group_first_.size(); ++g) fill(group_first_[g], planar_ ? 3 : 6, input_.rigid[g].at);
  return R;
}

Vec Structure::body_load(const std::function<Vec3(const Vec3&)>& f) const {
  // Linear fields f are exact: int rho N_a f(X) = sum_b m_ab f(X_b).
  Vec load = Vec::Zero(freedoms_);
  const int nodes = node_count();
  Mat nodal_field(nodes, 3);
  for (int i = 0; i < nodes; ++i) nodal_field.row(i) = f(input_.mesh.nodes[at(i)] - centre_);
  const Mat force = m_.selfadjointView<Eigen::Lower>() * nodal_field;
  for (int i = 0; i < nodes; ++i) {
    const NodeMotion m = node(i);
    if (m.first >= 0)
      load.segment(m.first, m.displacement.cols()) += m.displacement.transpose() * force.row(i).transpose();
  }
  for (const Sample& s : samples_) {
    const Eigen::Matrix<double, 12, 1> q = s.weight * s.H.transpose() * f(s.X - centre_);
    for (int end = 0; end < 2; ++end) {
      const NodeMotion m = node(s.node[end]);
      load.segment(m.first, m.displacement.cols()) +=
          m.displacement.transpose() * q.segment<3>(6 * end) + m.rotation.transpose() * q.segment<3>(6 * end + 3);
    }
  }
  return load;
}

Vec Structure::element_displacements(const ElementRef& e, const Vec& u) const {
  const int dim = info(e.type).dimension, d = dim == 1 ? 6 : dim;
  Vec out(d * e.count);
  for (int i = 0; i < e.count; ++i) {
    const NodeMotion m = node(e.nodes[i]);
    const auto q = u.segment(m.first, m.displacement.cols());
    const Vec3 x = m.displacement * q;
    out.segment(d * i, std::min(d, 3)) = x.head(std::min(d, 3));
    if (d == 6) out.segment<3>(d * i + 3) = m.rotation * q;
  }
  return out;
}

Mat Structure::geometric(const Vec& u, const Mat& Phi) const {
  const Mesh& mesh = input_.mesh;
  const long n = Phi.cols();
  Mat out = Mat::Zero(n, n);
  std::vector<Eigen::Triplet<double>> entries;
  int index = 0;
  PointStresses stress;
  ScalarMatrix g;
  Mat12 Gb;
  bool solids = false;
  for (const auto& b : mesh.blocks) {
    const ElementInfo& e = info(b.type);
    for (int k = 0; k < b.count(); ++k, ++index) {
      const ElementRef ref{b.type, b.connectivity.data() + static_cast<std::ptrdiff_t>(k) * e.nodes, e.nodes};
      const Vec ue = element_displacements(ref, u);
      const Properties& p = properties_of(index);
      if (b.type == ElementType::line2) {
        const Vec3 &xa = mesh.nodes[at(ref.nodes[0])], &xb = mesh.nodes[at(ref.nodes[1])];
        beam_geometric(xa, xb, p, Gb);
        Mat q(12, n);
        for (int end = 0; end < 2; ++end) {
          const NodeMotion m = node(ref.nodes[end]);
          const auto rows = Phi.middleRows(m.first, m.displacement.cols());
          q.middleRows<3>(6 * end).noalias() = m.displacement * rows;
          q.middleRows<3>(6 * end + 3).noalias() = m.rotation * rows;
        }
        const Eigen::Matrix<double, 12, 1> u12 = ue;
        out.noalias() += beam_axial_force(xa, xb, p, u12) * q.transpose() * Gb * q;
      } else {
        solids = true;
        const NodeCoordinates x = mesh.coordinates(ref);
        solid_stress(b.type, x, p, input_.formulation, ue, stress);
        solid_geometric(b.type, x, p, stress, g);
        for (int i = 0; i < e.nodes; ++i)
          for (int j = 0; j < e.nodes; ++j)
            if (ref.nodes[i] >= ref.nodes[j]) entries.emplace_back(ref.nodes[i], ref.nodes[j], g(i, j));
      }
    }
  }
  if (solids) {
    Sparse G(node_count(), node_count());
    G.setFromTriplets(entries.begin(), entries.end());
    const Mat X = nodal(Phi);
    for (int c = 0; c < (planar_ ? 2 : 3); ++c) {
      const Mat Xc = X(Eigen::seqN(c, node_count(), 3), Eigen::all);
      out.noalias() += Xc.transpose() * (G.selfadjointView<Eigen::Lower>() * Xc);
    }
  }
  return 0.5 * (out + out.transpose());
}

}  // namespace clatter::fem

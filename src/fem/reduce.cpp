#include "fem/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.hpp"
#include "fem/reference_frame.hpp"

namespace clatter::fem {
namespace {

using Method = ReductionDescription::Method;
constexpr double two_pi = 2 * std::numbers::pi;
std::size_t at(int i) { return static_cast<std::size_t>(i); }

EigenpairsRequest request_of(const ReductionDescription& r, int otherwise) {
  EigenpairsRequest q;
  if (r.max_frequency > 0) q.limit = std::pow(two_pi * r.max_frequency, 2);
  q.count = r.modes.value_or(r.max_frequency > 0 ? 0 : otherwise);
  return q;
}

Eigenpairs checked(Eigenpairs pairs, const EigenpairsRequest& request) {
  if (!pairs.converged)
    throw SolveError("modes-not-converged", 0, {},
                     fmt::format("only {} modes of the flexible body converged{}", pairs.values.size(),
                                 request.count > 0 ? fmt::format(" of {}", request.count) : ""),
                     "ask for fewer modes or a lower frequency");
  return pairs;
}

std::string component_name(int k, bool planar) {
  static const char* spatial[] = {"x", "y", "z", "rx", "ry", "rz"};
  static const char* plane[] = {"x", "y", "rz"};
  return planar ? plane[k] : spatial[k];
}

class Reducer {
 public:
  Reducer(const Structure& s, const std::vector<Interface>& interfaces, const FlexibleSource& source,
          const Progress& progress)
      : s_(s), interfaces_(interfaces), source_(source), progress_(progress), solver_(s, progress) {
    all_ = boundary_rows(s, interfaces);
    out_.report.nodes = s.node_count();
    out_.report.elements = s.mesh().element_count();
    out_.report.freedoms = s.freedoms();
    out_.report.rigid_energy = solver_.rigid_energy();
  }

  Reduced run() {
    if (source_.formulation == FlexibleSource::Formulation::superelement)
      superelement();
    else
      floating_frame();
    tell("inertia integrals", 0);
    ReducedBody& b = out_.body;
    add_integrals(s_, out_.shapes, b);
    damping();
    markers();
    if (source_.stiffening) stiffening();
    static_errors();
    b.frequencies = out_.report.frequencies;
    return std::move(out_);
  }

 private:
  void tell(const char* what, double fraction) const {
    if (progress_) progress_(what, fraction);
  }

  const Interface& find(const std::string& name) const {
    std::vector<std::string> names;
    for (const Interface& f : interfaces_) {
      if (f.name == name) return f;
      names.push_back(f.name);
    }
    throw InputError("the flexible body has no interface `" + name + "`", did_you_mean(name, names));
  }

  Boundary& boundary() {
    if (!boundary_) boundary_ = std::make_unique<Boundary>(solver_, all_.C, all_.scale);
    return *boundary_;
  }

  // tau: boundary displacements of the rigid motions (V-11).
  Mat boundary_rigid() const { return all_.C * solver_.rigid(); }

  void craig_bampton(Mat& Psi, Eigenpairs& internal) {
    if (interfaces_.empty())
      throw InputError("a Craig-Bampton reduction needs interfaces",
                       "name the places where the body is attached, or use `method: modal`");
    tell("static modes", 0);
    const EigenpairsRequest request = request_of(source_.reduction, 10);
    const bool some = request.count > 0 || request.limit > 0;
    const Mat B = boundary().static_modes();
    if (some) internal = checked(boundary().held_modes(request, progress_), request);
    Psi.resize(s_.freedoms(), B.cols() + internal.values.size());
    Psi.leftCols(B.cols()) = B;
    if (internal.values.size() > 0) Psi.rightCols(internal.values.size()) = internal.vectors;
  }

  void superelement() {
    if (s_.planar())
      throw InputError("a superelement needs a solid or beams, not a plane body", "use `formulation: floating-frame`");
    if (source_.reduction.method != Method::craig_bampton)
      throw InputError("a superelement needs `method: craig-bampton`");
    if (source_.stiffening) throw InputError("geometric stiffening needs `formulation: floating-frame`");
    Eigenpairs internal;
    craig_bampton(out_.shapes, internal);
    const int nb = boundary().size(), n = static_cast<int>(out_.shapes.cols());
    ReducedBody& b = out_.body;
    b.K = Mat::Zero(n, n);
    b.K.topLeftCorner(nb, nb) = boundary().stiffness();
    for (int i = 0; i < internal.values.size(); ++i) b.K(nb + i, nb + i) = internal.values[i];
    for (std::size_t i = 0; i < interfaces_.size(); ++i)
      b.boundary.push_back({interfaces_[i].name, interfaces_[i].at - s_.centre(), all_.first[i], all_.rotations[i]});
    for (double v : internal.values) out_.report.frequencies.push_back(std::sqrt(v) / two_pi);
    // Rigid motions are in the basis exactly: their mass is the body's (V-6).
    Mat tau = Mat::Zero(n, 6);
    tau.topRows(nb) = boundary_rigid();
    const Mat M = out_.shapes.transpose() * s_.mass_times(out_.shapes);
    rigid_mass_check(tau.transpose() * M * tau);
  }

  void rigid_mass_check(const Mat& reduced) {
    const Mat full = solver_.rigid().transpose() * s_.mass_times(solver_.rigid());
    out_.report.rigid_mass_error = 0;
    for (long i = 0; i < full.rows(); ++i)
      for (long j = 0; j < full.cols(); ++j)
        out_.report.rigid_mass_error = std::max(
            out_.report.rigid_mass_error, std::abs(reduced(i, j) - full(i, j)) / std::sqrt(full(i, i) * full(j, j)));
  }

  // Shapes of the method asked for; may hold rigid motions.
  Mat shapes() {
    const ReductionDescription& r = source_.reduction;
    switch (r.method) {
      case Method::craig_bampton: {
        Mat Psi;
        Eigenpairs internal;
        craig_bampton(Psi, internal);
        // Coordinates orthogonal to the rigid combinations of the boundary.
        const int nb = boundary().size();
        const Mat tau = Mat(all_.scale.cwiseInverse().asDiagonal() * boundary_rigid());
        rigid_mass_check([&] {
          const Mat rigid = Psi.leftCols(nb) * boundary_rigid();
          return Mat(rigid.transpose() * s_.mass_times(rigid));
        }());
        const Mat Q = Eigen::HouseholderQR<Mat>(tau).householderQ();
        const Mat keep = all_.scale.asDiagonal() * Q.rightCols(nb - tau.cols());
        Mat out(s_.freedoms(), keep.cols() + Psi.cols() - nb);
        out.leftCols(keep.cols()).noalias() = Psi.leftCols(nb) * keep;
        out.rightCols(Psi.cols() - nb) = Psi.rightCols(Psi.cols() - nb);
        return out;
      }
      case Method::modal:
        return modal_shapes(r);
      case Method::frequency_response: {
        if (interfaces_.empty())
          throw InputError("frequency-response modes need interfaces: the places of their loads");
        const Mat modes = modal_shapes(r);
        const Mat loads = Mat(all_.C.transpose());
        const Mat X = r.excitation_frequency > 0 ? solver_.harmonic(two_pi * r.excitation_frequency, loads)
                                                 : solver_.free_response(loads);
        Mat out(s_.freedoms(), modes.cols() + X.cols());
        out << modes, X;
        return out;
      }
      case Method::given: {
        const Mat table = read_table(read_text(r.modes_file), r.modes_file);
        if (table.rows() != s_.freedoms())
          throw InputError(Source{r.modes_file, 0, 0},
                           fmt::format("the modes have {} rows, the body has {} freedoms", table.rows(), s_.freedoms()),
                           "rows are freedoms, node by node");
        return table;
      }
      case Method::all:
        if (s_.freedoms() > 1500)
          throw InputError(fmt::format("all {} freedoms of the mesh as elastic coordinates are too many (1500 at most)",
                                       s_.freedoms()),
                           "reduce the body with `method: craig-bampton` or `modal`");
        return Mat::Identity(s_.freedoms(), s_.freedoms());
    }
    return {};
  }

  Mat modal_shapes(const ReductionDescription& r) {
    const EigenpairsRequest request = request_of(r, 10);
    Mat modes(s_.freedoms(), 0), corrections(s_.freedoms(), 0);
    std::vector<Interface> held;
    for (const std::string& name : r.clamped) held.push_back(find(name));
    const Mat loads = r.static_corrections ? Mat(all_.C.transpose()) : Mat(s_.freedoms(), 0);
    if (held.empty()) {
      if (request.count > 0 || request.limit > 0)
        modes = checked(solver_.free_modes(request, progress_), request).vectors;
      if (loads.cols() > 0) corrections = solver_.free_response(loads);
    } else {
      const BoundaryRows rows = boundary_rows(s_, held);
      const Boundary clamp(solver_, rows.C, rows.scale);
      if (request.count > 0 || request.limit > 0)
        modes = checked(clamp.held_modes(request, progress_), request).vectors;
      if (loads.cols() > 0) corrections = clamp.held_response(loads);
    }
    Mat out(s_.freedoms(), modes.cols() + corrections.cols());
    out << modes, corrections;
    return out;
  }

  // Rows A of the reference condition A u = 0, as A^T; and responses with it.
  void reference() {
    const ReferenceDescription& d = source_.reference;
    if (d.kind == ReferenceDescription::Kind::mean_axes) {
      A_ = solver_.mass_rigid();
      return;
    }
    BoundaryRows rows;
    if (d.kind == ReferenceDescription::Kind::interface) {
      rows = boundary_rows(s_, {find(d.interface)});
      if (!rows.rotations[0])
        throw InputError("interface `" + d.interface + "` has no rotation and cannot carry the body's frame");
    } else if (d.kind == ReferenceDescription::Kind::principal_axes) {
      rows = principal_frame(s_);
    } else {
      rows = nodal_frame(s_, d);
    }
    frame_ = std::make_unique<Boundary>(solver_, rows.C, rows.scale);
    A_ = Mat(rows.C.transpose()) * rows.scale.asDiagonal();
  }

  // Response to a load with the reference condition in place.
  Mat frame_response(const Mat& loads) const {
    return frame_ ? frame_->held_response(loads) : solver_.free_response(loads);
  }

  void floating_frame() {
    reference();
    Mat Psi = shapes();
    tell("orthonormalizing shapes", 0);
    const Mat KPsi = s_.stiffness_times(Psi);
    Mat K = Psi.transpose() * KPsi;
    const Mat& R = solver_.rigid_normal();
    const Vec before = (Psi.array() * s_.mass_times(Psi).array()).colwise().sum().max(0.0).sqrt().matrix();
    Psi -= R * (A_.transpose() * R).partialPivLu().solve(A_.transpose() * Psi);
    Mat M = Psi.transpose() * s_.mass_times(Psi);
    // Columns of unit mass; rigid motions and repetitions go.
    const long n0 = Psi.cols();
    Vec scale(n0);
    for (long i = 0; i < n0; ++i) {
      const double norm = std::sqrt(std::max(0.0, M(i, i)));
      scale[i] = norm > 1e-9 * before[i] && norm > 0 ? 1 / norm : 0;
    }
    M = scale.asDiagonal() * M * scale.asDiagonal();
    K = scale.asDiagonal() * K * scale.asDiagonal();
    const Eigen::SelfAdjointEigenSolver<Mat> mass(0.5 * (M + M.transpose()));
    const double largest = mass.eigenvalues()[n0 - 1];
    // What remains of a repeated shape is rounding: eigenvalues of M of the size of eps n.
    const double least = largest * (source_.reduction.method == Method::all ? 1e-13 : 1e-11);
    long dropped = 0;
    while (dropped < n0 && mass.eigenvalues()[dropped] < least) ++dropped;
    long expected = n0;
    if (source_.reduction.method == Method::all) {
      expected = n0 - R.cols();
      dropped = R.cols();
    }
    const Mat W = mass.eigenvectors().rightCols(std::min(expected, n0 - dropped)) *
                  mass.eigenvalues().tail(std::min(expected, n0 - dropped)).cwiseSqrt().cwiseInverse().asDiagonal();
    const Mat Kw = W.transpose() * K * W;
    const Eigen::SelfAdjointEigenSolver<Mat> elastic(0.5 * (Kw + Kw.transpose()));
    const double limit = source_.reduction.max_frequency > 0 && source_.reduction.method == Method::frequency_response
                             ? std::pow(two_pi * source_.reduction.max_frequency, 2)
                             : 0;
    long first = 0, count = elastic.eigenvalues().size();
    // Shapes that are rigid motions to rounding carry no energy.
    const double top = count > 0 ? elastic.eigenvalues()[count - 1] : 0;
    while (first < count && elastic.eigenvalues()[first] <= 1e-13 * top) ++first;
    if (limit > 0)
      while (count > first && elastic.eigenvalues()[count - 1] > limit) --count;
    count -= first;
    if (count == 0)
      throw InputError("the reduction leaves no elastic coordinates", "ask for at least one mode or interface");
    const Mat T = scale.asDiagonal() * (W * elastic.eigenvectors().middleCols(first, count));
    out_.shapes.noalias() = Psi * T;
    out_.body.K = Mat(elastic.eigenvalues().segment(first, count).asDiagonal());
    for (long i = 0; i < count; ++i)
      out_.report.frequencies.push_back(std::sqrt(elastic.eigenvalues()[first + i]) / two_pi);
    const Mat P = s_.rigid_motions().transpose() * s_.mass_times(out_.shapes);
    out_.report.effective_mass = P.transpose().cwiseAbs2();
  }

  void damping() {
    ReducedBody& b = out_.body;
    const DampingDescription& d = source_.damping;
    b.D = Mat::Zero(b.n, b.n);
    double alpha = d.alpha, beta = d.beta;
    switch (d.kind) {
      case DampingDescription::Kind::none:
        return;
      case DampingDescription::Kind::ratios:
        std::tie(alpha, beta) = rayleigh(two_pi * d.frequency[0], d.ratio[0], two_pi * d.frequency[1], d.ratio[1]);
        [[fallthrough]];
      case DampingDescription::Kind::rayleigh:
        b.D = alpha * b.M + beta * b.K;
        if (!b.boundary.empty()) {
          // Rigid motion of a superelement is not damped: its velocities are taken in the frame.
          b.D = beta * b.K;
          const int nb = static_cast<int>(b.K.rows() - static_cast<long>(out_.report.frequencies.size()));
          for (int i = nb; i < b.n; ++i) b.D(i, i) += alpha * b.M(i, i);
        }
        return;
      case DampingDescription::Kind::modal: {
        const int modes = static_cast<int>(out_.report.frequencies.size()), first = b.n - modes;
        for (int i = 0; i < modes; ++i) {
          const double ratio = d.modal[std::min(at(i), d.modal.size() - 1)];
          b.D(first + i, first + i) = 2 * ratio * two_pi * out_.report.frequencies[at(i)] * b.M(first + i, first + i);
        }
        return;
      }
    }
  }

  Marker marker(const std::string& name, const PlaceRows& rows, const Vec3& x, const Mat3& axes) const {
    Marker m;
    m.name = name;
    m.X = x - s_.centre();
    m.R = axes;
    const Mat q = out_.shapes(rows.columns, Eigen::all);
    m.S = rows.displacement * q;
    m.Psi = rows.rotates ? Mat(rows.rotation * q) : Mat(Mat::Zero(3, q.cols()));
    return m;
  }

  void markers() {
    for (const Interface& f : interfaces_) {
      places_.push_back(interface_rows(s_, f));
      PlaceRows rows = places_.back();
      if (!rows.rotates && !s_.from_matrices()) {
        // A node of a solid turns like the material about it.
        const PlaceRows local = point_rows(s_, f.at, f.name);
        Marker m = marker(f.name, rows, f.at, f.axes);
        m.Psi = local.rotation * out_.shapes(local.columns, Eigen::all);
        out_.body.markers.push_back(std::move(m));
        continue;
      }
      out_.body.markers.push_back(marker(f.name, rows, f.at, f.axes));
    }
    for (const PointDescription& p : source_.points) {
      places_.push_back(point_rows(s_, p.at, p.name));
      out_.body.markers.push_back(marker(p.name, places_.back(), p.at, p.axes));
    }
  }

  void stiffening() {
    if (s_.from_matrices()) throw InputError("geometric stiffening needs a mesh, not matrices");
    const int dims = s_.planar() ? 2 : 3;
    ReducedBody& b = out_.body;
    b.stiffening.assign(12, Mat::Zero(b.n, b.n));
    const Mat& Phi = out_.shapes;
    std::vector<std::pair<int, Vec>> loads;
    for (int k = 0; k < dims; ++k)
      loads.emplace_back(k, s_.body_load([&](const Vec3&) { return Vec3(Vec3::Unit(k)); }));
    for (int a = 0; a < dims; ++a)
      for (int k = 0; k < dims; ++k)
        loads.emplace_back(3 + 3 * a + k, s_.body_load([&](const Vec3& X) { return Vec3(X[a] * Vec3::Unit(k)); }));
    Mat F(s_.freedoms(), static_cast<long>(loads.size()));
    for (std::size_t i = 0; i < loads.size(); ++i) F.col(static_cast<long>(i)) = loads[i].second;
    const Mat U = frame_response(F);
    // A load that the reference condition balances by itself leaves rounding only.
    const Mat work = F.transpose() * U;
    const double largest = work.diagonal().cwiseAbs().maxCoeff();
    for (std::size_t i = 0; i < loads.size(); ++i) {
      tell("geometric stiffening", static_cast<double>(i) / static_cast<double>(loads.size()));
      const long c = static_cast<long>(i);
      if (std::abs(U.col(c).dot(s_.stiffness_times(U.col(c)).col(0))) <= 1e-20 * largest) continue;
      b.stiffening[at(loads[i].first)] = -s_.geometric(U.col(c), Phi);
    }
    for (std::size_t m = 0; m < places_.size(); ++m) {
      Mat f = Mat::Zero(s_.freedoms(), dims);
      for (int k = 0; k < dims; ++k)
        for (std::size_t c = 0; c < places_[m].columns.size(); ++c)
          f(places_[m].columns[c], k) += places_[m].displacement(k, static_cast<long>(c));
      const Mat u = frame_response(f);
      for (int k = 0; k < 3; ++k)
        b.markers[m].second[at(k)] = k < dims ? Mat(-s_.geometric(u.col(k), Phi)) : Mat(Mat::Zero(b.n, b.n));
    }
  }

  void static_errors() {
    if (interfaces_.empty()) return;
    tell("static accuracy", 0);
    const Mat C = Mat(all_.C.transpose());
    const Mat full = frame_response(C);
    // Strain energy of balanced loads: reduced coordinates see P f. What holds the frame does no work.
    const Mat balanced = frame_ ? C : Mat(C - solver_.mass_rigid() * (solver_.rigid_normal().transpose() * C));
    const Mat f = out_.shapes.transpose() * balanced;
    const Vec energy = (balanced.array() * full.array()).colwise().sum().transpose();
    double largest[2] = {0, 0};  // of forces and of moments, which have different units
    const auto kind = [&](std::size_t i, int r) { return r - all_.first[i] < (s_.planar() ? 2 : 3) ? 0 : 1; };
    for (std::size_t i = 0; i < interfaces_.size(); ++i)
      for (int r = all_.first[i]; r < (i + 1 < interfaces_.size() ? all_.first[i + 1] : all_.rows()); ++r)
        largest[kind(i, r)] = std::max(largest[kind(i, r)], energy[r]);
    Mat K = out_.body.K;
    const Eigen::SelfAdjointEigenSolver<Mat> e(0.5 * (K + K.transpose()));
    Vec inverse = e.eigenvalues();
    const double top = inverse.cwiseAbs().maxCoeff();
    for (double& v : inverse) v = v > 1e-12 * top ? 1 / v : 0;
    const Mat g = e.eigenvectors().transpose() * f;
    for (std::size_t i = 0; i < interfaces_.size(); ++i) {
      const int end = i + 1 < interfaces_.size() ? all_.first[i + 1] : all_.rows();
      for (int r = all_.first[i]; r < end; ++r) {
        const double exact = energy[r];
        const bool any = exact > 1e-12 * largest[kind(i, r)];  // a load where the frame is held does nothing
        const double reduced = (g.col(r).array().square() * inverse.array()).sum();
        out_.report.static_errors.push_back({interfaces_[i].name + "." + component_name(r - all_.first[i], s_.planar()),
                                             any ? std::abs(exact - reduced) / exact : 0});
      }
    }
  }

  const Structure& s_;
  const std::vector<Interface>& interfaces_;
  const FlexibleSource& source_;
  const Progress& progress_;
  ElasticSolver solver_;
  BoundaryRows all_;
  std::unique_ptr<Boundary> boundary_, frame_;
  Mat A_;
  std::vector<PlaceRows> places_;
  Reduced out_;
};

}  // namespace

std::pair<double, double> rayleigh(double w1, double xi1, double w2, double xi2) {
  if (!(w1 > 0 && w2 > w1)) throw InputError("Rayleigh damping needs two different frequencies, the lower one first");
  const double d = w2 * w2 - w1 * w1;
  return {2 * w1 * w2 * (xi1 * w2 - xi2 * w1) / d, 2 * (xi2 * w2 - xi1 * w1) / d};
}

Reduced reduce(const Structure& structure, const std::vector<Interface>& interfaces, const FlexibleSource& source,
               const Progress& progress) {
  return Reducer(structure, interfaces, source, progress).run();
}

}  // namespace clatter::fem

// AncfBody: what is constant of a cable or beam in absolute nodal coordinates (Y-3, Y-4), shared by all threads.
//
// Every node carries vectors: its position r and gradients of it (cables: r'; planar beams: r_y; spatial ones: r_y,
// r_z). All vectors of the chain in a row, node after node, are its coordinates; the i-th vector is weighted by one
// number wherever it enters a position or a gradient, so tables and mass matrix hold one number a vector, not one a
// component:
//
//   r(x) = sum N_i(x) q_i,     T = 1/2 sum m_ij v_i.v_j,     m = int (rho A N N + rho I N_y N_y) dx,   constant
//
//   cable  N: cubic Hermite polynomials of (r, r') at two nodes
//   beam   N: quadratic Lagrange polynomials of (r, r_y, r_z) at the ends and the middle of an element
//
// Pressure p on the side y = +-H/2 of a planar beam (Y-7), with the outward normal n |r'| = +-J r', J the quarter turn:
//
//   Q_i = -p b int N_i n |r'| dx = -+p b sum_j P_ij J q_j,    P_ij = int N_i N_j' dx
//
// linear in q, and P is the same for elements of every length.
//
// Laws of ancf_strains.hpp are integrated at points along each element; a table holds, point by point, the weights of
// the vectors a law sees, the integration weight and the strains of the undeformed body. Derivatives are by the arc
// length of the undeformed axis.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/block.hpp"
#include "model/beam.hpp"

namespace clatter::ancf {

// What a place keeps of its start.
struct TurnStart {
  Mat3 axes = Mat3::Identity();  // of a spatial cable at the start, x along the tangent
};

// Integration points of one law in all elements: `points` an element, each with the weights of the law's vectors
// (row by row over the element's vectors), the integration weight, the strains at rest.
struct LawTable {
  int points = 0;
  int size = 0;  // numbers a point
  std::vector<double> data;
  Mat D, E;  // stiffness and damping
  bool damped = false;
};

// A place on the axis that moves as a link.
struct Place {
  std::string name;
  int first = 0, count = 0;  // vectors of the chain that move it
  std::vector<double> N;     // of its position
  std::vector<double> turn;  // of the gradients that turn it, one row a gradient
  Placement reference;       // undeformed, in the body's frame
  TurnStart start;           // world
};

// Symmetric band matrix over the vectors of a chain, and its Cholesky factor.
class BandMass {
 public:
  BandMass() = default;
  BandMass(int n, int half_band) : n_(n), half_(half_band), m_(static_cast<std::size_t>(n * (half_band + 1)), 0.0) {}
  void add(int i, int j, double value) {
    if (j <= i) m_[at(i, j)] += value;
  }
  double operator()(int i, int j) const {
    if (std::abs(i - j) > half_) return 0;
    return i >= j ? m_[at(i, j)] : m_[at(j, i)];
  }
  bool factorize();  // false: not positive definite
  template <int Dim>
  void add_product(const double* x, double* y) const;  // y += m x
  template <int Dim>
  void solve(const double* b, double* x) const;
  int size() const { return n_; }

 private:
  std::size_t at(int i, int j) const { return static_cast<std::size_t>(i * (half_ + 1) + j - i + half_); }
  int n_ = 0, half_ = 0;
  std::vector<double> m_, L_, inverse_diagonal_;
};

struct AncfBody {
  // `pose`: of the body's frame at the start.
  AncfBody(std::shared_ptr<const BeamSource> beam, const Placement& pose);

  std::shared_ptr<const BeamSource> source;
  int dim, gradients, element_nodes, element_vectors, stride, elements, vectors, nv;
  double level;  // z of the plane
  Vec q0;        // undeformed, body's frame (planar: x, y)
  Vec start;     // undeformed, at the pose
  std::vector<LawTable> laws;
  BandMass mass;
  std::vector<double> weight;  // m times a unit displacement of all: int rho A N dx
  std::vector<Place> places;   // link 0 is the start; then the points
  double total_mass;
  Vec3 centre;
  Mat3 inertia;  // about the centre, body axes
  std::vector<VelocityRun> runs;
  std::vector<int> run_offset;   // of the values of a column
  std::vector<double> run_mass;  // M in the runs
  bool damped = false;
  std::vector<Mat> pressure;  // +-b P over the vectors of an element, one a pressure of the source

  bool is_position(int vector) const { return vector % gradients == 0; }
  // Coordinates and velocities at the start: the undeformed body at its pose, moving rigidly, and what displaces its
  // vectors against that, in the axes of its frame (shorter lists: zero).
  void start_state(const Placement& pose, const Vec3& velocity, const Vec3& omega, const std::vector<double>& elastic,
                   const std::vector<double>& elastic_rate, double* q, double* v) const;
  // Weights of the vectors [first, first + size) in a derivative by x (0, 1, 2) of the position (gradient 0) or of a
  // section vector (1, 2) at s in [0, 1]; by the parameter of the element, whose length is that of the axis.
  std::vector<double> weights(double s, int gradient, int derivative, int& first) const;
  // The same for all vectors of one element of this length, at z in [0, 1] of it, into out; derivatives up to the
  // third.
  void element_weights(double z, double length, int gradient, int derivative, double* out) const;

 private:
  void tabulate();
  void weigh();
  void press(const BeamSource::Pressure& on);
  void place(const BeamSource::Point& point, const Placement& pose);
};

}  // namespace clatter::ancf

#include "engine/ancf_chain.hpp"

#include <algorithm>
#include <cstring>

#include "engine/ancf_kinds.hpp"
#include "engine/tree.hpp"

namespace clatter::ancf {

namespace {

template <class Kind>
struct LawsOf;
template <>
struct LawsOf<PlanarCable> {
  template <class F>
  static void each(const AncfBody& b, F&& f) {
    f(Stretch<2>{}, b.laws[0]);
    f(Bend2{}, b.laws[1]);
  }
};
template <>
struct LawsOf<SpatialCable> {
  template <class F>
  static void each(const AncfBody& b, F&& f) {
    f(Stretch<3>{}, b.laws[0]);
    f(Bend3{}, b.laws[1]);
  }
};
template <>
struct LawsOf<PlanarBeam> {
  template <class F>
  static void each(const AncfBody& b, F&& f) {
    f(Shear2{}, b.laws[0]);
    f(Height2{}, b.laws[1]);
    f(Plane{}, b.laws[2]);
    f(Plane{}, b.laws[3]);
  }
};
template <>
struct LawsOf<SpatialBeam> {
  template <class F>
  static void each(const AncfBody& b, F&& f) {
    f(Shear3{}, b.laws[0]);
    f(Section3{}, b.laws[1]);
  }
};

// X of a law at a point: weights (law's vectors x element's vectors) times the element's vectors.
template <class L, class Kind>
void gather(const double* weights, const double* q, typename L::X& X) {
  constexpr int D = Kind::dim;
  for (int i = 0; i < L::vectors; ++i) {
    double sum[D] = {};
    for (int n = 0; n < Kind::vectors; ++n)
      for (int c = 0; c < D; ++c) sum[c] += weights[i * Kind::vectors + n] * q[n * D + c];
    for (int c = 0; c < D; ++c) X[i * D + c] = sum[c];
  }
}

template <class L, class Kind>
void scatter(const double* weights, const typename L::X& g, double* f) {
  constexpr int D = Kind::dim;
  for (int i = 0; i < L::vectors; ++i)
    for (int n = 0; n < Kind::vectors; ++n)
      for (int c = 0; c < D; ++c) f[n * D + c] += weights[i * Kind::vectors + n] * g[i * D + c];
}

// A += B^T H B for B = weights (x) 1
template <class L, class Kind>
void pull_back(const double* weights, const typename L::Hessian& H, Eigen::Matrix<double, Kind::dofs, Kind::dofs>& A) {
  constexpr int D = Kind::dim, V = Kind::vectors;
  Eigen::Matrix<double, L::variables, Kind::dofs> HB;
  for (int n = 0; n < V; ++n) {
    HB.template middleCols<D>(n * D) = weights[n] * H.template middleCols<D>(0);
    for (int j = 1; j < L::vectors; ++j)
      HB.template middleCols<D>(n * D) += weights[j * V + n] * H.template middleCols<D>(j * D);
  }
  for (int m = 0; m < Kind::dofs; ++m) {
    double* column = A.data() + m * Kind::dofs;
    const double* x = HB.data() + m * L::variables;
    for (int i = 0; i < L::vectors; ++i)
      for (int n = 0; n < V; ++n)
        for (int c = 0; c < D; ++c) column[n * D + c] += weights[i * V + n] * x[i * D + c];
  }
}

template <class L>
struct PointData {
  const double* weights;
  double weight;
  Eigen::Map<const typename L::Strain> rest;
  template <class Kind>
  static PointData at(const LawTable& t, int element, int point) {
    const double* p = t.data.data() + static_cast<std::ptrdiff_t>(element * t.points + point) * t.size;
    constexpr int n = L::vectors * Kind::vectors;
    return {p, p[n], Eigen::Map<const typename L::Strain>(p + n + 1)};
  }
};

template <class L>
using StrainMatrix = Eigen::Matrix<double, L::strains, L::strains>;

template <class Kind>
class AncfChain : public BlockWork {
 public:
  explicit AncfChain(const AncfBody& body)
      : b_(&body),
        q_(Vec::Zero(body.nv)),
        v_(Vec::Zero(body.nv)),
        a_(Vec::Zero(body.nv)),
        work_(Vec::Zero(body.nv)),
        relative_(Vec::Zero(body.nv)),
        relative_rate_(Vec::Zero(body.nv)),
        places_(body.places.size()),
        pressure_(body.pressure.size(), 0.0) {}

  void assign(const BlockWork& other) override { *this = static_cast<const AncfChain&>(other); }

  // --- sweeps
  void kinematics(const double* q, const double* v, LinkMotion* motion) override {
    std::memcpy(q_.data(), q, sizeof(double) * static_cast<std::size_t>(b_->nv));
    std::memcpy(v_.data(), v, sizeof(double) * static_cast<std::size_t>(b_->nv));
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const Place& p = b_->places[k];
      PlaceWork& w = places_[k];
      LinkMotion& m = motion[k];
      m.p = position(p, q_.data());
      if constexpr (D == 2) m.p.z() = b_->level;
      m.v = position(p, v_.data());
      gradients(p, q_.data(), w.x);
      gradients(p, v_.data(), w.xd);
      m.R = Turn::axes(w.x, p.start);
      for (int j = 0; j < kTurn; ++j) {
        double unit[kTurn] = {};
        unit[j] = 1;
        Turn::template spin<double>(w.x, unit, p.start, w.W.col(j).data());
      }
      m.w = w.W * Eigen::Map<const TurnVector>(w.xd);
      w.p = m.p;
      w.w = m.w;
    }
    x0_ = motion[0].p;
    R0_ = motion[0].R;
  }

  void accelerations(const double* qdd) override {
    if (qdd)
      std::memcpy(a_.data(), qdd, sizeof(double) * static_cast<std::size_t>(b_->nv));
    else
      a_.setZero();
  }

  void link_accelerations(LinkMotion* motion) override {
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const Place& p = b_->places[k];
      PlaceWork& w = places_[k];
      LinkMotion& m = motion[k];
      m.a = position(p, a_.data());
      gradients(p, a_.data(), w.xdd);
      using J = Jet<double>;
      J x[kTurn], xd[kTurn], spin[3];
      for (int j = 0; j < kTurn; ++j) {
        x[j] = J(w.x[j], w.xd[j]);
        xd[j] = J(w.xd[j], w.xdd[j]);
      }
      Turn::template spin<J>(x, xd, p.start, spin);
      m.alpha << spin[0].d, spin[1].d, spin[2].d;
      w.alpha = m.alpha;
    }
  }

  void project(int link, const Vec3& F, const Vec3& N, double* tau) const override {
    const Place& p = b_->places[static_cast<std::size_t>(link)];
    const TurnVector turn = places_[static_cast<std::size_t>(link)].W.transpose() * N;
    double* t = tau + p.first * D;
    for (int n = 0; n < p.count; ++n)
      for (int c = 0; c < D; ++c) {
        double sum = p.N[static_cast<std::size_t>(n)] * F[c];
        for (int i = 0; i < Kind::turn_vectors; ++i)
          sum += p.turn[static_cast<std::size_t>(i * p.count + n)] * turn[i * D + c];
        t[n * D + c] += sum;
      }
  }

  void add_forces(const Vec3& gravity, double* r) override {
    b_->mass.template add_product<D>(a_.data(), r);
    for (int i = 0; i < b_->vectors; ++i)
      for (int c = 0; c < D; ++c) r[i * D + c] -= b_->weight[static_cast<std::size_t>(i)] * gravity[c];
    LawsOf<Kind>::each(*b_, [&](auto law, const LawTable& t) { law_forces<decltype(law)>(t, r); });
    for (std::size_t i = 0; i < pressure_.size(); ++i)
      each_pressed(i, [&](int first, int m, int n, double P) {
        r[first + 2 * m] -= P * q_[first + 2 * n + 1];
        r[first + 2 * m + 1] += P * q_[first + 2 * n];
      });
  }
  void set_pressure(int i, double p) override { pressure_[static_cast<std::size_t>(i)] = p; }
  double pressure_power(int i) const override {
    double power = 0;
    each_pressed(static_cast<std::size_t>(i), [&](int first, int m, int n, double P) {
      power += P * (v_[first + 2 * m] * q_[first + 2 * n + 1] - v_[first + 2 * m + 1] * q_[first + 2 * n]);
    });
    return power;
  }
  void factorize_mass() override {}
  void solve_mass(const double* b, double* x) const override { b_->mass.template solve<D>(b, x); }

  // --- balances
  double kinetic_energy() override {
    work_.setZero();
    b_->mass.template add_product<D>(v_.data(), work_.data());
    return 0.5 * work_.dot(v_);
  }
  double elastic_energy() const override {
    double E = 0;
    LawsOf<Kind>::each(*b_, [&](auto law, const LawTable& t) { E += law_energy<decltype(law)>(t); });
    return E;
  }
  double dissipation_power() const override {
    double P = 0;
    LawsOf<Kind>::each(*b_, [&](auto law, const LawTable& t) {
      if (t.damped) P += law_dissipation<decltype(law)>(t);
    });
    return P;
  }
  Momenta momenta() override {
    Momenta out;
    out.mass = b_->total_mass;
    work_.setZero();
    b_->mass.template add_product<D>(v_.data(), work_.data());
    for (int i = 0; i < b_->vectors; ++i) {
      const Vec3 x = vector(q_.data(), i) - (b_->is_position(i) ? in_plane(x0_) : Vec3(Vec3::Zero()));
      const Vec3 p = vector(work_.data(), i);
      out.moment += b_->weight[static_cast<std::size_t>(i)] * x;
      if (b_->is_position(i)) out.linear += p;
      out.angular += x.cross(p);
    }
    return out;
  }
  // Nodal vectors against the undeformed body in the axes of its frame, which moves with its first section: the shape.
  const double* elastic_coordinates() const override {
    const Placement& rest = b_->places[0].reference;
    const Mat3 R = R0_ * rest.rotation.toRotationMatrix().transpose();  // of the body's frame
    const Vec3 origin = x0_ - R * rest.position;
    for (int i = 0; i < b_->vectors; ++i) {
      const Vec3 x =
          R.transpose() * (vector(q_.data(), i) - (b_->is_position(i) ? in_plane(origin) : Vec3(Vec3::Zero())));
      for (int c = 0; c < D; ++c) relative_[i * D + c] = x[c] - b_->q0[i * D + c];
    }
    return relative_.data();
  }
  const double* elastic_rates() const override {
    const Mat3 R = R0_ * b_->places[0].reference.rotation.toRotationMatrix().transpose();
    const Vec3 v0 = position(b_->places[0], v_.data());
    const Vec3& w = places_[0].w;
    for (int i = 0; i < b_->vectors; ++i) {
      Vec3 rate = vector(v_.data(), i), x = vector(q_.data(), i);
      if (b_->is_position(i)) {
        rate -= v0;
        x -= in_plane(x0_);
      }
      rate = R.transpose() * (rate - w.cross(x));
      for (int c = 0; c < D; ++c) relative_rate_[i * D + c] = rate[c];
    }
    return relative_rate_.data();
  }

  // --- tangents
  void tangents(const Vec3&, const Vec3* F, const Vec3* N, const double*, double* M, double* C, double* K) override {
    const std::size_t size = b_->run_mass.size();
    std::memcpy(M, b_->run_mass.data(), size * sizeof(double));
    std::memset(C, 0, size * sizeof(double));
    std::memset(K, 0, size * sizeof(double));
    Eigen::Matrix<double, Kind::dofs, Kind::dofs> Ke, Ce;
    for (int e = 0; e < b_->elements; ++e) {
      Ke.setZero();
      if (b_->damped) Ce.setZero();
      LawsOf<Kind>::each(*b_, [&](auto law, const LawTable& t) { law_tangent<decltype(law)>(t, e, Ke, Ce); });
      const int first = e * Kind::stride * D;
      for (int j = 0; j < Kind::dofs; ++j) {
        const auto column = static_cast<std::size_t>(first + j);
        const int at = b_->run_offset[column] + first - b_->runs[column].first;
        for (int i = 0; i < Kind::dofs; ++i) K[at + i] += Ke(i, j);
        if (b_->damped)
          for (int i = 0; i < Kind::dofs; ++i) C[at + i] += Ce(i, j);
      }
    }
    for (std::size_t i = 0; i < pressure_.size(); ++i)
      each_pressed(i, [&](int first, int m, int n, double P) {
        for (int c = 0; c < 2; ++c) {  // -1 above the diagonal of J, 1 below
          const auto column = static_cast<std::size_t>(first + 2 * n + c);
          K[b_->run_offset[column] + first + 2 * m + 1 - c - b_->runs[column].first] += c == 0 ? P : -P;
        }
      });
    for (std::size_t k = 0; k < places_.size(); ++k)
      if (!F[k].isZero(0.0) || !N[k].isZero(0.0)) geometric(static_cast<int>(k), F[k], N[k], K);
  }

  void point(int link, const Vec3& at, PointColumns& out) const override {
    const Place& p = b_->places[static_cast<std::size_t>(link)];
    const PlaceWork& w = places_[static_cast<std::size_t>(link)];
    using TurnMatrix = Eigen::Matrix<double, 3, kTurn>;
    TurnMatrix w_x, alpha_x, alpha_xd;
    using T = Dual<kTurn>;
    {
      Jet<T> x[kTurn], xd[kTurn], spin[3];
      for (int j = 0; j < kTurn; ++j) {
        x[j] = Jet<T>(T::variable(w.x[j], j), T(w.xd[j]));
        xd[j] = Jet<T>(T(w.xd[j]), T(w.xdd[j]));
      }
      Turn::template spin<Jet<T>>(x, xd, p.start, spin);
      for (int i = 0; i < 3; ++i) {
        w_x.row(i) = spin[i].v.d.matrix().transpose();
        alpha_x.row(i) = spin[i].d.d.matrix().transpose();
      }
      for (int j = 0; j < kTurn; ++j) {
        x[j] = Jet<T>(T(w.x[j]), T::variable(w.xd[j], j));
        xd[j] = Jet<T>(T::variable(w.xd[j], j), T(w.xdd[j]));
      }
      Turn::template spin<Jet<T>>(x, xd, p.start, spin);
      for (int i = 0; i < 3; ++i) alpha_xd.row(i) = spin[i].d.d.matrix().transpose();
    }
    const Vec3 rho = at - w.p, wr = w.w.cross(rho);
    out.n = p.count * D;
    for (int n = 0; n < p.count; ++n)
      for (int c = 0; c < D; ++c) {
        Vec3 dth = Vec3::Zero(), dw = Vec3::Zero(), dal = Vec3::Zero(), aw = Vec3::Zero();
        for (int i = 0; i < Kind::turn_vectors; ++i) {
          const double t = p.turn[static_cast<std::size_t>(i * p.count + n)];
          if (t == 0) continue;
          dth += t * w.W.col(i * D + c);
          dw += t * w_x.col(i * D + c);
          dal += t * alpha_x.col(i * D + c);
          aw += t * alpha_xd.col(i * D + c);
        }
        const Vec3 dr = dth.cross(rho), dp = p.N[static_cast<std::size_t>(n)] * Vec3::Unit(c);
        const int column = n * D + c;
        out.J.col(column) << dp + dr, dth;
        out.Zq.col(column) << dw.cross(rho) + w.w.cross(dr), dw;
        out.Aq.col(column) << dal.cross(rho) + w.alpha.cross(dr) + dw.cross(wr) +
                                  w.w.cross(dw.cross(rho) + w.w.cross(dr)),
            dal;
        out.Av.col(column) << aw.cross(rho) + dth.cross(wr) + w.w.cross(dr), aw;
      }
  }

 private:
  static constexpr int D = Kind::dim;
  using Turn = typename Kind::Turn;
  static constexpr int kTurn = Turn::variables;
  using TurnVector = Eigen::Matrix<double, kTurn, 1>;
  struct PlaceWork {
    double x[kTurn], xd[kTurn], xdd[kTurn];
    Eigen::Matrix<double, 3, kTurn> W;
    Vec3 p, w, alpha;
  };

  static Vec3 in_plane(const Vec3& x) { return D == 2 ? Vec3(x.x(), x.y(), 0) : x; }
  static Vec3 vector(const double* q, int i) {
    Vec3 x = Vec3::Zero();
    for (int c = 0; c < D; ++c) x[c] = q[i * D + c];
    return x;
  }
  static Vec3 position(const Place& p, const double* q) {
    Vec3 x = Vec3::Zero();
    const double* from = q + p.first * D;
    for (int n = 0; n < p.count; ++n)
      for (int c = 0; c < D; ++c) x[c] += p.N[static_cast<std::size_t>(n)] * from[n * D + c];
    return x;
  }
  static void gradients(const Place& p, const double* q, double* x) {
    const double* from = q + p.first * D;
    for (int i = 0; i < Kind::turn_vectors; ++i)
      for (int c = 0; c < D; ++c) {
        double sum = 0;
        for (int n = 0; n < p.count; ++n) sum += p.turn[static_cast<std::size_t>(i * p.count + n)] * from[n * D + c];
        x[i * D + c] = sum;
      }
  }
  // f(first coordinate of the element, m, n, p times the weight of J q_n in the force on vector m); planar beams alone
  // have pressures.
  template <class F>
  void each_pressed(std::size_t i, F&& f) const {
    if constexpr (D == 2) {
      const Mat& P = b_->pressure[i];
      if (pressure_[i] == 0) return;
      for (int e = 0; e < b_->elements; ++e)
        for (int m = 0; m < Kind::vectors; ++m)
          for (int n = 0; n < Kind::vectors; ++n) f(e * Kind::stride * D, m, n, pressure_[i] * P(m, n));
    }
  }
  const double* element(const Vec& x, int e) const { return x.data() + e * Kind::stride * D; }

  template <class L>
  void law_forces(const LawTable& t, double* r) const {
    const StrainMatrix<L> stiffness = t.D, damping = t.E;
    typename L::X X, Xd;
    typename L::Strain s;
    typename L::Gradient G;
    for (int e = 0; e < b_->elements; ++e)
      for (int k = 0; k < t.points; ++k) {
        const auto p = PointData<L>::template at<Kind>(t, e, k);
        gather<L, Kind>(p.weights, element(q_, e), X);
        L::gradient(X, s, G);
        typename L::Strain sigma = stiffness * (s - p.rest);
        if (t.damped) {
          gather<L, Kind>(p.weights, element(v_, e), Xd);
          sigma += damping * (G * Xd);
        }
        const typename L::X f = G.transpose() * (p.weight * sigma);
        scatter<L, Kind>(p.weights, f, r + e * Kind::stride * D);
      }
  }

  template <class L>
  double law_energy(const LawTable& t) const {
    const StrainMatrix<L> stiffness = t.D;
    typename L::X X;
    typename L::Strain s;
    double E = 0;
    for (int e = 0; e < b_->elements; ++e)
      for (int k = 0; k < t.points; ++k) {
        const auto p = PointData<L>::template at<Kind>(t, e, k);
        gather<L, Kind>(p.weights, element(q_, e), X);
        L::strain(X, s);
        s -= p.rest;
        E += 0.5 * p.weight * s.dot(stiffness * s);
      }
    return E;
  }

  template <class L>
  double law_dissipation(const LawTable& t) const {
    const StrainMatrix<L> damping = t.E;
    typename L::X X, Xd;
    typename L::Strain s;
    typename L::Gradient G;
    double P = 0;
    for (int e = 0; e < b_->elements; ++e)
      for (int k = 0; k < t.points; ++k) {
        const auto p = PointData<L>::template at<Kind>(t, e, k);
        gather<L, Kind>(p.weights, element(q_, e), X);
        gather<L, Kind>(p.weights, element(v_, e), Xd);
        L::gradient(X, s, G);
        const typename L::Strain rate = G * Xd;
        P += p.weight * rate.dot(damping * rate);
      }
    return P;
  }

  template <class L, class Matrix>
  void law_tangent(const LawTable& t, int e, Matrix& Ke, Matrix& Ce) const {
    const StrainMatrix<L> stiffness = t.D, damping = t.E;
    typename L::X X, Xd;
    typename L::Strain s;
    typename L::Gradient G;
    typename L::Hessian H;
    for (int k = 0; k < t.points; ++k) {
      const auto p = PointData<L>::template at<Kind>(t, e, k);
      gather<L, Kind>(p.weights, element(q_, e), X);
      L::gradient(X, s, G);
      typename L::Strain sigma = stiffness * (s - p.rest);
      typename L::Gradient stress = stiffness * G;  // d(sigma)/dX
      if (t.damped) {
        gather<L, Kind>(p.weights, element(v_, e), Xd);
        sigma += damping * (G * Xd);
        typename L::Gradient rate;  // d(ds/dt)/dX
        for (int i = 0; i < L::strains; ++i) {
          L::hessian(X, L::Strain::Unit(i), H);
          rate.row(i) = (H * Xd).transpose();
        }
        stress += damping * rate;
        const typename L::Hessian c = p.weight * G.transpose() * damping * G;
        pull_back<L, Kind>(p.weights, c, Ce);
      }
      L::hessian(X, sigma, H);
      H.noalias() += G.transpose() * stress;
      H *= p.weight;
      pull_back<L, Kind>(p.weights, H, Ke);
    }
  }

  // K -= d(W^T N)/dq for a wrench fixed in space: forces have constant columns, but the torque about the place changes
  // by -dp x F as the place moves.
  void geometric(int link, const Vec3& F, const Vec3& N, double* K) const {
    const Place& p = b_->places[static_cast<std::size_t>(link)];
    const PlaceWork& w = places_[static_cast<std::size_t>(link)];
    using T = Dual<kTurn>;
    Eigen::Matrix<double, kTurn, kTurn> turn;  // d(W^T N)/dx
    T x[kTurn], spin[3];
    for (int j = 0; j < kTurn; ++j) x[j] = T::variable(w.x[j], j);
    for (int i = 0; i < kTurn; ++i) {
      T unit[kTurn];
      for (int j = 0; j < kTurn; ++j) unit[j] = T(i == j ? 1.0 : 0.0);
      Turn::template spin<T>(x, unit, p.start, spin);
      turn.row(i) = (spin[0].d * N[0] + spin[1].d * N[1] + spin[2].d * N[2]).matrix().transpose();
    }
    const auto add = [&](int m, int n, const Eigen::Matrix<double, D, D>& block) {
      for (int d = 0; d < D; ++d) {
        const auto column = static_cast<std::size_t>((p.first + n) * D + d);
        const int at = b_->run_offset[column] + (p.first + m) * D - b_->runs[column].first;
        for (int c = 0; c < D; ++c) K[at + c] += block(c, d);
      }
    };
    const Eigen::Matrix<double, kTurn, 3> arm = -w.W.transpose() * skew<double>(F);  // W^T (dp x F)
    for (int m = 0; m < p.count; ++m)
      for (int n = 0; n < p.count; ++n)
        for (int i = 0; i < Kind::turn_vectors; ++i) {
          const double t = p.turn[static_cast<std::size_t>(i * p.count + m)];
          if (t == 0) continue;
          Eigen::Matrix<double, D, D> block = t * p.N[static_cast<std::size_t>(n)] * arm.template block<D, D>(i * D, 0);
          for (int j = 0; j < Kind::turn_vectors; ++j)
            block -= t * p.turn[static_cast<std::size_t>(j * p.count + n)] * turn.template block<D, D>(i * D, j * D);
          add(m, n, block);
        }
  }

  const AncfBody* b_;
  Vec q_, v_, a_, work_;
  mutable Vec relative_, relative_rate_;
  Vec3 x0_ = Vec3::Zero();
  Mat3 R0_ = Mat3::Identity();
  std::vector<PlaceWork> places_;
  std::vector<double> pressure_;
};

}  // namespace

std::unique_ptr<BlockWork> AncfBlock::make_work() const {
  const BeamSource& b = *body_->source;
  if (b.element == BeamSource::Element::cable) {
    if (b.planar) return std::make_unique<AncfChain<PlanarCable>>(*body_);
    return std::make_unique<AncfChain<SpatialCable>>(*body_);
  }
  if (b.planar) return std::make_unique<AncfChain<PlanarBeam>>(*body_);
  return std::make_unique<AncfChain<SpatialBeam>>(*body_);
}

}  // namespace clatter::ancf

// Integrals of E-6 in terms of those of ReducedBody, with X from the mass centre:
//   Ct0(l, b) = N_l,b            Ct1(l, b, k) = n_kl,b
//   Cr0(l, i) = vect(E0_l)_i     Cr1(l, i, k) = vect(E_kl)_i + vect(X_kl)_i
//   Gr_l = 2 (tr D_l I - D_l^T)  of order 0 and 1, D_l = E0_l + sum_k eta_k E_kl    (3 x 3 n)
//   Ge(k, 3 l ..) = 2 vect(E_kl)                                                   (n x 3 n)
//   Oe0(l, 1..6) = E0_l sym - tr E0_l I,  Oe1(l, ., k) alike with E_kl             xx yy zz xy yz zx
// sym(E) follows back from Oe, since tr Oe = -2 tr E; the antisymmetric part of E from Ge, that of E0 from Cr0.
#include "fem/sid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/error.hpp"

namespace clatter::fem {
namespace {

std::size_t at(long i) { return static_cast<std::size_t>(i); }

constexpr int row_of[6] = {0, 1, 2, 0, 1, 2}, col_of[6] = {0, 1, 2, 1, 2, 0};

// E_kl or E0_l as a 3 x 3 matrix (a, b).
Mat3 tensor(const std::array<Mat, 6>& E, long k, long l) {
  Mat3 m;
  for (std::size_t c = 0; c < 6; ++c) {
    m(row_of[c], col_of[c]) = E[c](k, l);
    m(col_of[c], row_of[c]) = E[c](l, k);
  }
  for (int i = 0; i < 3; ++i) m(i, i) = E[at(i)](k, l);
  return m;
}
Mat3 tensor0(const std::array<Mat, 3>& E0, long l) {
  Mat3 m;
  for (std::size_t a = 0; a < 3; ++a) m.row(static_cast<long>(a)) = E0[a].col(l).transpose();
  return m;
}
Vec3 vect(const Mat3& D) { return {D(1, 2) - D(2, 1), D(2, 0) - D(0, 2), D(0, 1) - D(1, 0)}; }

class SidWriter {
 public:
  std::string out;
  void line(const std::string& s) { out += std::string(static_cast<std::size_t>(2 * depth_), ' ') + s + "\n"; }
  void open(const std::string& s) {
    line(s);
    ++depth_;
  }
  void close(const std::string& s) {
    --depth_;
    line("end " + s);
  }
  // m1: one matrix a coordinate, or none.
  void series(const std::string& name, const Mat& m0, const std::vector<Mat>& m1, int nq) {
    open(name);
    line(fmt::format("order = {}", m1.empty() ? 0 : 1));
    line(fmt::format("nrow = {}  ncol = {}  nq = {}  nqn = 0  structure = 3", m0.rows(), m0.cols(), nq));
    for (long j = 0; j < m0.cols(); ++j)
      for (long i = 0; i < m0.rows(); ++i)
        if (m0(i, j) != 0) line(fmt::format("m0({},{}) = {:.17g}", i + 1, j + 1, m0(i, j)));
    for (std::size_t k = 0; k < m1.size(); ++k)
      for (long j = 0; j < m1[k].cols(); ++j)
        for (long i = 0; i < m1[k].rows(); ++i)
          if (m1[k](i, j) != 0) line(fmt::format("m1({},{},{}) = {:.17g}", i + 1, j + 1, k + 1, m1[k](i, j)));
    close(name);
  }

 private:
  int depth_ = 0;
};

struct Series {
  Mat m0;
  std::vector<Mat> m1;
  int line = 0;
};

struct SidNode {
  std::string name;
  std::map<std::string, Series> series;
};

class SidReader {
 public:
  SidReader(const std::string& text, const std::string& file) : text_(text), file_(file) {}

  ReducedBody run() {
    std::size_t a = 0;
    while (a < text_.size()) {
      const std::size_t b = std::min(text_.find('\n', a), text_.size());
      ++line_;
      handle(trim(text_.substr(a, b - a)));
      a = b + 1;
    }
    if (!open_.empty()) fail("`end " + open_.back() + "` is missing");
    if (n_ < 0) fail("`nelastq` is missing");
    return build();
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw InputError(Source{file_, line_, 1}, message); }
  static std::string trim(std::string s) {
    if (const std::size_t c = s.find('!'); c != std::string::npos) s.erase(c);
    const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!s.empty() && space(s.back())) s.pop_back();
    std::size_t i = 0;
    while (i < s.size() && space(s[i])) ++i;
    return s.substr(i);
  }
  double number(const std::string& s) const {
    double v = 0;
    const std::string t = trim(s);
    const auto [p, ec] = std::from_chars(t.data(), t.data() + t.size(), v);
    if (ec != std::errc() || p != t.data() + t.size() || !std::isfinite(v))
      fail("expected a number, found `" + t + "`");
    return v;
  }
  int whole(const std::string& s) const {
    const double v = number(s);
    if (v != std::floor(v) || std::abs(v) > 1e8) fail("expected a whole number, found `" + trim(s) + "`");
    return static_cast<int>(v);
  }

  void handle(const std::string& s) {
    if (s.empty()) return;
    if (s.starts_with("end ")) {
      const std::string name = trim(s.substr(4));
      if (open_.empty() || open_.back() != name) fail("`end " + name + "` closes nothing");
      if (current_ != nullptr && name == current_name_) current_ = nullptr;
      open_.pop_back();
      return;
    }
    const std::size_t eq = s.find('=');
    if (s.starts_with("new node")) {
      open_.emplace_back("node");
      nodes_.push_back({eq == std::string::npos ? "" : trim(s.substr(eq + 1)), {}});
      return;
    }
    if (s.starts_with("new boundary")) {
      open_.emplace_back("boundary");
      boundary_.push_back({trim(s.substr(eq + 1)), Vec3::Zero(), 0, true});
      return;
    }
    if (s == "new modal") {
      open_.emplace_back("modal");
      return;
    }
    if (eq == std::string::npos) {
      open_.push_back(s);
      static const char* containers[] = {"part", "modal", "refmod", "frame", "clatter"};
      for (const char* c : containers)
        if (s == c) return;
      current_name_ = s;
      current_ = !nodes_.empty() && inside("node") ? &nodes_.back().series[s] : &series_[s];
      current_->line = line_;
      return;
    }
    assignment(s, eq);
  }
  bool inside(const char* block) const {
    for (const std::string& b : open_)
      if (b == block) return true;
    return false;
  }

  void assignment(const std::string& s, std::size_t eq) {
    const std::string key = trim(s.substr(0, eq)), value = trim(s.substr(eq + 1));
    if (current_ != nullptr) {
      if (key.starts_with("m0(") || key.starts_with("m1(")) return entry(key, value);
      if (key == "nrow") {
        int nrow = 0, ncol = 0, nq = 0;
        if (std::sscanf(s.c_str(), "nrow = %d ncol = %d nq = %d", &nrow, &ncol, &nq) != 3 || nrow < 0 || ncol < 0 ||
            nq < 0 || nrow > 100000 || ncol > 100000 || nq > 10000)
          fail("expected nrow = ... ncol = ... nq = ...");
        const double entries = static_cast<double>(nrow) * ncol * (order_ > 0 ? 1 + nq : 1);
        if ((entries_ += entries) > 1e8) fail("the matrices of this file are too large");
        current_->m0 = Mat::Zero(nrow, ncol);
        current_->m1.assign(order_ > 0 ? at(nq) : 0, Mat::Zero(nrow, ncol));
        return;
      }
      if (key == "order") order_ = whole(value);
      return;
    }
    if (inside("refmod")) {
      if (key == "mass") mass_ = number(value);
      if (key == "nelastq") {
        n_ = whole(value);
        if (n_ < 0 || n_ > 10000) fail("the number of elastic coordinates is out of range");
      }
      if (key.starts_with("frequency(")) frequencies_.push_back(number(value));
      return;
    }
    if (inside("boundary")) {
      if (key == "first") boundary_.back().first = whole(value);
      if (key == "rotations") boundary_.back().rotations = whole(value) != 0;
      if (key.size() == 4 && key.starts_with("x(")) boundary_.back().X[std::clamp(key[2] - '1', 0, 2)] = number(value);
      return;
    }
    if (key == "planar") planar_ = whole(value) != 0;
    if (key == "hash") hash_ = std::strtoull(value.c_str(), nullptr, 16);
  }

  void entry(const std::string& key, const std::string& value) {
    int i = 0, j = 0, k = 0;
    const bool first = key[1] == '1';
    const int found = std::sscanf(key.c_str() + 2, first ? "(%d,%d,%d)" : "(%d,%d)", &i, &j, &k);
    if (found != (first ? 3 : 2)) fail("expected m0(row,col) or m1(row,col,coordinate)");
    const Mat& shape = current_->m0;
    if (i < 1 || j < 1 || i > shape.rows() || j > shape.cols()) fail("row or column out of range");
    if (first) {
      if (k < 1 || at(k) > current_->m1.size()) fail("coordinate out of range");
      current_->m1[at(k - 1)](i - 1, j - 1) = number(value);
    } else {
      current_->m0(i - 1, j - 1) = number(value);
    }
  }

  const Series& need(std::map<std::string, Series>& from, const char* name, long rows, long cols, bool first) {
    const auto it = from.find(name);
    if (it == from.end()) fail(fmt::format("`{}` is missing", name));
    Series& s = it->second;
    if (s.m0.rows() != rows || s.m0.cols() != cols) {
      line_ = s.line;
      fail(fmt::format("`{}` is {} x {}, expected {} x {}", name, s.m0.rows(), s.m0.cols(), rows, cols));
    }
    if (first && s.m1.size() != at(n_)) s.m1.assign(at(n_), Mat::Zero(rows, cols));
    return s;
  }

  ReducedBody build() {
    ReducedBody b;
    const long n = n_;
    b.n = n_;
    b.mass = mass_;
    b.planar = planar_;
    b.hash = hash_;
    b.frequencies = frequencies_;
    b.boundary = boundary_;
    b.N = need(series_, "Ct", n, 3, false).m0.transpose();
    b.J0 = need(series_, "J", 3, 3, false).m0;
    b.M = need(series_, "Me", n, n, false).m0;
    b.K = need(series_, "Ke", n, n, false).m0;
    b.D = need(series_, "De", n, n, false).m0;
    const Series& Oe = need(series_, "Oe", n, 6, true);
    const Mat Cr0 = need(series_, "Cr", n, 3, false).m0;
    const Mat Ge = need(series_, "Ge", n, 3 * n, false).m0;
    const auto symmetric = [](const Mat& O, long l) {
      Mat3 s;
      for (int c = 0; c < 6; ++c) s(row_of[c], col_of[c]) = s(col_of[c], row_of[c]) = O(l, c);
      return Mat3(s - 0.5 * s.trace() * Mat3::Identity());
    };
    for (Mat& e : b.E0) e = Mat::Zero(3, n);
    for (Mat& e : b.E) e = Mat::Zero(n, n);
    for (long l = 0; l < n; ++l) {
      const Vec3 h = 0.5 * Cr0.row(l).transpose();
      const Mat3 D = symmetric(Oe.m0, l) - skew(h);  // vect(-skew(h)) = 2 h
      for (std::size_t a = 0; a < 3; ++a) b.E0[a].col(l) = D.row(static_cast<long>(a)).transpose();
      for (long k = 0; k < n; ++k) {
        const Vec3 g = 0.25 * Ge.block<1, 3>(k, 3 * l).transpose();
        const Mat3 E = symmetric(Oe.m1[at(k)], l) - skew(g);
        for (std::size_t c = 0; c < 6; ++c) b.E[c](k, l) = E(row_of[c], col_of[c]);
      }
    }
    b.E00 = 0.5 * b.J0.trace() * Mat3::Identity() - b.J0;
    if (const auto it = series_.find("second_moments"); it != series_.end() && it->second.m0.size() == 9)
      b.E00 = it->second.m0;
    if (const auto it = series_.find("origin"); it != series_.end() && it->second.m0.size() == 3)
      b.origin = it->second.m0;
    for (int i = 0; i < 12; ++i)
      if (series_.contains(fmt::format("stiffening_{}", i + 1)))
        b.stiffening.push_back(need(series_, fmt::format("stiffening_{}", i + 1).c_str(), n, n, false).m0);
    if (b.stiffening.size() != 12) b.stiffening.clear();
    for (SidNode& node : nodes_) {
      Marker m;
      m.name = node.name;
      m.X = need(node.series, "origin", 3, 1, false).m0;
      m.R = need(node.series, "AP", 3, 3, false).m0;
      m.S = need(node.series, "phi", 3, n, false).m0;
      m.Psi = need(node.series, "psi", 3, n, false).m0;
      if (const Series& phi = node.series["phi"]; phi.m1.size() == at(n_) && !b.stiffening.empty())
        for (int c = 0; c < 3; ++c) {
          m.second[at(c)] = Mat::Zero(n, n);
          for (long k = 0; k < n; ++k) m.second[at(c)].col(k) = phi.m1[at(k)].row(c).transpose();
        }
      b.markers.push_back(std::move(m));
    }
    return b;
  }

  const std::string& text_;
  std::string file_;
  int line_ = 0, n_ = -1, order_ = 0;
  double entries_ = 0;  // of all matrices so far
  double mass_ = 0;
  bool planar_ = false;
  std::uint64_t hash_ = 0;
  std::vector<double> frequencies_;
  std::vector<std::string> open_;
  std::vector<SidNode> nodes_;
  std::vector<BoundaryNode> boundary_;
  std::map<std::string, Series> series_;
  Series* current_ = nullptr;
  std::string current_name_;
};

}  // namespace

namespace {

void write_frames(const ReducedBody& b, SidWriter& w) {
  const long n = b.n;
  w.open("frame");
  const bool stiff = !b.stiffening.empty();
  for (const Marker& m : b.markers) {
    w.open("new node = " + m.name);
    std::vector<Mat> origin, phi;
    for (long k = 0; k < n; ++k) {
      origin.emplace_back(m.S.col(k));
      if (stiff && m.second[0].size() > 0) {
        Mat p(3, n);
        for (int c = 0; c < 3; ++c) p.row(c) = m.second[at(c)].col(k).transpose();
        phi.push_back(std::move(p));
      }
    }
    w.series("origin", m.X, origin, b.n);
    w.series("phi", m.S, phi, b.n);
    w.series("psi", m.Psi, {}, b.n);
    w.series("AP", m.R, {}, b.n);
    w.close("node");
  }
  w.close("frame");
}

// Integrals over the volume, with their derivatives by the elastic coordinates.
void write_integrals(const ReducedBody& b, SidWriter& w) {
  const long n = b.n;
  const bool stiff = !b.stiffening.empty();
  std::vector<Mat> J1, Ct1, Cr1, Gr1, Oe1;
  Mat Cr0(n, 3), Gr0(3, 3 * n), Ge(n, 3 * n), Oe0(n, 6);
  const auto oe = [](const Mat3& D) {
    const Mat3 s = 0.5 * (D + D.transpose()) - D.trace() * Mat3::Identity();
    Eigen::Matrix<double, 1, 6> r;
    for (int c = 0; c < 6; ++c) r[c] = s(row_of[c], col_of[c]);
    return r;
  };
  const auto gr = [](const Mat3& D) { return Mat3(2 * (D.trace() * Mat3::Identity() - D.transpose())); };
  for (long l = 0; l < n; ++l) {
    const Mat3 D = tensor0(b.E0, l);
    const Mat3 S = D + D.transpose();
    J1.emplace_back(S.trace() * Mat3::Identity() - S);
    Cr0.row(l) = vect(D).transpose();
    Gr0.block<3, 3>(0, 3 * l) = gr(D);
    Oe0.row(l) = oe(D);
  }
  for (long k = 0; k < n; ++k) {
    Mat cr(n, 3), g(3, 3 * n), o(n, 6), ct(n, 3);
    for (long l = 0; l < n; ++l) {
      const Mat3 E = tensor(b.E, k, l);
      cr.row(l) = vect(E).transpose();
      g.block<3, 3>(0, 3 * l) = gr(E);
      o.row(l) = oe(E);
      Ge.block<1, 3>(k, 3 * l) = 2 * vect(E).transpose();
      if (stiff) {
        Mat3 X;
        for (int a = 0; a < 3; ++a)
          for (int c = 0; c < 3; ++c) X(a, c) = b.stiffening[at(3 + 3 * a + c)](k, l);
        cr.row(l) += vect(X).transpose();
        for (int c = 0; c < 3; ++c) ct(l, c) = b.stiffening[at(c)](k, l);
      }
    }
    Cr1.push_back(std::move(cr));
    Gr1.push_back(std::move(g));
    Oe1.push_back(std::move(o));
    if (stiff) Ct1.push_back(std::move(ct));
  }
  w.series(
      "mdCM", Mat::Zero(3, 1),
      [&] {
        std::vector<Mat> m;
        for (long l = 0; l < n; ++l) m.emplace_back(b.N.col(l));
        return m;
      }(),
      b.n);
  w.series("J", b.J0, J1, b.n);
  w.series("Ct", b.N.transpose(), Ct1, b.n);
  w.series("Cr", Cr0, Cr1, b.n);
  w.series("Me", b.M, {}, b.n);
  w.series("Gr", Gr0, Gr1, b.n);
  w.series("Ge", Ge, {}, b.n);
  w.series("Oe", Oe0, Oe1, b.n);
  w.series("Ke", b.K, {}, b.n);
  w.series("De", b.D, {}, b.n);
}

// What this program needs beyond the standard.
void write_own(const ReducedBody& b, SidWriter& w) {
  w.open("clatter");
  w.line(fmt::format("planar = {}", b.planar ? 1 : 0));
  w.line(fmt::format("hash = {:x}", b.hash));
  w.series("origin", b.origin, {}, b.n);
  w.series("second_moments", b.E00, {}, b.n);
  for (std::size_t i = 0; i < b.stiffening.size(); ++i)
    w.series(fmt::format("stiffening_{}", i + 1), b.stiffening[i], {}, b.n);
  for (const BoundaryNode& k : b.boundary) {
    w.open("new boundary = " + k.name);
    for (int i = 0; i < 3; ++i) w.line(fmt::format("x({}) = {:.17g}", i + 1, k.X[i]));
    w.line(fmt::format("first = {}", k.first));
    w.line(fmt::format("rotations = {}", k.rotations ? 1 : 0));
    w.close("boundary");
  }
  w.close("clatter");
}

}  // namespace

std::string write_sid(const ReducedBody& b, const std::string& name) {
  SidWriter w;
  w.open("part");
  w.line("! Standard Input Data of the flexible body " + name + ", SI units");
  w.open("new modal");
  w.open("refmod");
  w.line(fmt::format("mass = {:.17g}", b.mass));
  w.line(fmt::format("nelastq = {}", b.n));
  for (std::size_t i = 0; i < b.frequencies.size(); ++i)
    w.line(fmt::format("frequency({}) = {:.17g}", i + 1, b.frequencies[i]));
  w.close("refmod");
  write_frames(b, w);
  write_integrals(b, w);
  write_own(b, w);
  w.close("modal");
  w.close("part");
  return w.out;
}

ReducedBody read_sid(const std::string& text, const std::string& file) { return SidReader(text, file).run(); }

}  // namespace clatter::fem

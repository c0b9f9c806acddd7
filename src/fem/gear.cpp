// Profile (V-23): half angle of a tooth at radius r_y
//   psi = (pi/2 + 2 x tan alpha_n)/z + inv alpha_t - inv alpha_y,   cos alpha_y = r_b/r_y
// and a fillet that is the envelope of the tip arc (radius rho) of the generating rack. Helical wheels use the
// transverse section, heights stay multiples of the normal module (V-24).
#include "fem/gear.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include "base/error.hpp"
#include "fem/generate.hpp"

namespace clatter::fem {
namespace {

constexpr double pi = std::numbers::pi;
std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Points at equal arc lengths on a curve given by a parameter on [0, 1]: n + 1 of them, ends exact.
std::vector<Vec3> equal_arc(const std::function<Vec3(double)>& curve, int n) {
  constexpr int fine = 4000;
  std::vector<double> length{0};
  Vec3 last = curve(0);
  for (int i = 1; i <= fine; ++i) {
    const Vec3 x = curve(static_cast<double>(i) / fine);
    length.push_back(length.back() + (x - last).norm());
    last = x;
  }
  std::vector<Vec3> out{curve(0)};
  std::size_t k = 0;
  for (int i = 1; i < n; ++i) {
    const double wanted = length.back() * i / n;
    while (length[k + 1] < wanted) ++k;
    out.push_back(curve((static_cast<double>(k) + (wanted - length[k]) / (length[k + 1] - length[k])) / fine));
  }
  out.push_back(curve(1));
  return out;
}

std::vector<double> fractions(const std::vector<Vec3>& points) {
  std::vector<double> f{0};
  for (std::size_t i = 1; i < points.size(); ++i) f.push_back(f.back() + (points[i] - points[i - 1]).norm());
  for (double& x : f) x /= f.back();
  return f;
}

std::vector<Vec3> straight(const Vec3& a, const Vec3& b, const std::vector<double>& f) {
  std::vector<Vec3> out;
  for (double t : f) out.push_back((1 - t) * a + t * b);
  out.back() = b;
  return out;
}

std::vector<double> uniform(int n) {
  std::vector<double> f;
  for (int i = 0; i <= n; ++i) f.push_back(static_cast<double>(i) / n);
  return f;
}

// Transfinite interpolation between bottom and top (along i) and left and right (along j), which share their corners.
void coons(Mesh& m, const std::vector<Vec3>& bottom, const std::vector<Vec3>& top, const std::vector<Vec3>& left,
           const std::vector<Vec3>& right) {
  const int ni = static_cast<int>(bottom.size()) - 1, nj = static_cast<int>(left.size()) - 1;
  const int first = static_cast<int>(m.nodes.size());
  const std::vector<double> fb = fractions(bottom), ft = fractions(top), fl = fractions(left), fr = fractions(right);
  for (int j = 0; j <= nj; ++j)
    for (int i = 0; i <= ni; ++i) {
      // Blend by the arc fractions of the sides, so that graded boundaries grade the inside.
      const double a = static_cast<double>(i) / ni, b = static_cast<double>(j) / nj;
      const double v = (1 - a) * fl[at(j)] + a * fr[at(j)], u = (1 - b) * fb[at(i)] + b * ft[at(i)];
      const Vec3 x = (1 - v) * bottom[at(i)] + v * top[at(i)] + (1 - u) * left[at(j)] + u * right[at(j)] -
                     ((1 - u) * (1 - v) * bottom.front() + u * (1 - v) * bottom.back() + (1 - u) * v * top.front() +
                      u * v * top.back());
      m.nodes.push_back(x);
    }
  for (int j = 0; j < nj; ++j)
    for (int i = 0; i < ni; ++i) {
      const int q = first + j * (ni + 1) + i;
      auto& c = m.blocks.front().connectivity;
      c.insert(c.end(), {q, q + 1, q + ni + 2, q + ni + 1});
    }
}

void orient(Mesh& m) {
  auto& c = m.blocks.front().connectivity;
  for (std::size_t k = 0; k < c.size(); k += 4) {
    const Vec3 d1 = m.nodes[at(c[k + 2])] - m.nodes[at(c[k])], d2 = m.nodes[at(c[k + 3])] - m.nodes[at(c[k + 1])];
    if (d1.x() * d2.y() - d1.y() * d2.x() < 0) std::swap(c[k + 1], c[k + 3]);
  }
}

}  // namespace

double involute(double alpha) { return std::tan(alpha) - alpha; }

double inverse_involute(double value) {
  if (value <= 0) return 0;
  double a = std::cbrt(3 * value);
  if (a > 1.2) a = std::atan(value + pi / 2);
  for (int i = 0; i < 60; ++i) {
    const double t = std::tan(a), step = (t - a - value) / (t * t);
    a -= step;
    if (std::abs(step) < 1e-16 * std::max(1.0, a)) break;
  }
  return a;
}

GearProfile::GearProfile(const GearData& d) : data_(d) {
  const auto need = [](bool good, const std::string& what) {
    if (!good) throw InputError("gear: " + what);
  };
  need(d.teeth >= 5 && d.teeth <= 1000, "it needs 5 to 1000 teeth");
  need(d.module > 0, "its module must be positive");
  need(d.pressure_angle > 0 && d.pressure_angle < pi / 4, "its pressure angle must lie between 0 and 45 degrees");
  need(std::abs(d.helix_angle) < pi / 3, "its helix angle must be smaller than 60 degrees");
  need(d.width > 0, "its width must be positive");
  const double beta = d.helix_angle, m = d.module, z = d.teeth;
  m_t_ = m / std::cos(beta);
  alpha_t_ = std::atan(std::tan(d.pressure_angle) / std::cos(beta));
  r_ = m_t_ * z / 2;
  rb_ = r_ * std::cos(alpha_t_);
  ra_ = d.tip_diameter / 2;
  rf_ = d.root_diameter / 2;
  need(rf_ > 0 && rf_ < ra_, "the root diameter must be positive and smaller than the tip diameter");
  need(d.bore_diameter >= 0 && d.bore_diameter / 2 < rf_ - m,
       "the bore must leave a rim of one module below the roots of the teeth");
  need(ra_ > rb_, "the tips must lie outside of the base circle");
  const double h_fp = r_ - rf_ + d.profile_shift * m;
  rho_ = d.tip_radius_factor * m;
  eta_c_ = h_fp - rho_ - d.profile_shift * m;
  xi_c_ = pi * m_t_ / 4 - (h_fp - rho_) * std::tan(alpha_t_) - rho_ / std::cos(alpha_t_);
  need(xi_c_ >= 0, "the tip arc of its rack is too large; reduce `tip_radius_factor`");
  need(eta_c_ > 0, "its root lies too high for the tip arc of the rack; check root diameter and profile shift");
  need(eta_c_ + rho_ * std::sin(alpha_t_) <= r_ * std::sin(alpha_t_) * std::sin(alpha_t_) * (1 + 1e-12),
       "the rack undercuts the teeth; use a larger profile shift or more teeth");
  s_end_ = eta_c_ / std::tan(alpha_t_);
  r_form_ = fillet(s_end_).norm();
  need(r_form_ < ra_, "fillets reach to the tips; check the diameters");
  need(half_angle(ra_) > 0, "the teeth are pointed below the tip diameter");
}

double GearProfile::half_angle(double radius) const {
  const double alpha_y = std::acos(std::min(1.0, rb_ / radius));
  return (pi / 2 + 2 * data_.profile_shift * std::tan(data_.pressure_angle)) / data_.teeth + involute(alpha_t_) -
         involute(alpha_y);
}

Vec3 GearProfile::fillet(double s) const {
  const double f = 1 + rho_ / std::hypot(s, eta_c_);
  const double phi = (s - xi_c_) / r_;
  const double a = s * f, b = r_ - eta_c_ * f;
  // Axes with Y through the gap; then to the axes of the tooth.
  const double X = std::cos(phi) * a - std::sin(phi) * b, Y = std::sin(phi) * a + std::cos(phi) * b;
  const double angle = pi / data_.teeth - std::atan2(X, Y), radius = std::hypot(X, Y);
  return {radius * std::sin(angle), radius * std::cos(angle), 0};
}

Vec3 GearProfile::flank(double radius) const {
  const double psi = half_angle(radius);
  return {radius * std::sin(psi), radius * std::cos(psi), 0};
}

double GearProfile::junction_error() const {
  const Vec3 x = fillet(s_end_);
  return std::atan2(x.x(), x.y()) - half_angle(r_form_);
}

namespace {

Vec3 on_circle(double r, double angle) { return Vec3(r * std::sin(angle), r * std::cos(angle), 0); }

// The ring below half a tooth and half a gap, from the bore to r_ring.
void add_rim(Mesh& half, double bore, double r_ring, double pitch, const GearMeshCounts& n) {
  const int k = n.half_tooth + n.half_gap, first = static_cast<int>(half.nodes.size());
  for (int j = 0; j <= n.rim; ++j)
    for (int i = 0; i <= k; ++i) half.nodes.push_back(on_circle(bore + (r_ring - bore) * j / n.rim, pitch * i / k));
  for (int j = 0; j < n.rim; ++j)
    for (int i = 0; i < k; ++i) {
      const int q = first + j * (k + 1) + i;
      auto& c = half.blocks.front().connectivity;
      c.insert(c.end(), {q, q + 1, q + k + 2, q + k + 1});
    }
}

// Half a tooth and half a gap, in the plane: blocks of curved quadrangles.
Mesh half_tooth(const GearProfile& p, const GearData& data, const GearMeshCounts& n) {
  const double ra = p.tip_radius(), r_ring = p.root_radius() - data.module, pitch = pi / data.teeth;
  // Flank from M up to the tip corner: part of the fillet, then the involute at equal arcs (equidistant tan^2 alpha).
  const double s_m = 0.5 * p.fillet_end();
  std::vector<Vec3> flank = equal_arc([&](double t) { return p.fillet(s_m + t * (p.fillet_end() - s_m)); }, n.fillet);
  const double rb = p.base_radius(), rF = p.form_radius();
  const double t0 = (rF * rF - rb * rb) / (rb * rb), t1 = (ra * ra - rb * rb) / (rb * rb);
  for (int i = 1; i <= n.involute; ++i) flank.push_back(p.flank(rb * std::sqrt(1 + t0 + (t1 - t0) * i / n.involute)));
  const Vec3 M = flank.front(), T = flank.back(), Q(0, M.y() - 0.25 * M.x(), 0), top(0, ra, 0);
  const Vec3 G = on_circle(p.root_radius(), pitch);
  const double ring_angle = pitch * n.half_tooth / (n.half_tooth + n.half_gap);
  const Vec3 Mr = on_circle(r_ring, ring_angle), Qr = on_circle(r_ring, 0), Gr = on_circle(r_ring, pitch);
  const auto arc = [&](double r, double a0, double a1, int k) {
    std::vector<Vec3> out;
    for (int i = 0; i <= k; ++i) out.push_back(on_circle(r, a0 + (a1 - a0) * i / k));
    return out;
  };
  // Fillet from M down to the root circle, then along it to the middle of the gap.
  const double root_angle = std::atan2(p.fillet(0).x(), p.fillet(0).y());
  double fillet_length = 0;
  for (int i = 0; i < 2000; ++i) fillet_length += (p.fillet(s_m * i / 2000) - p.fillet(s_m * (i + 1) / 2000)).norm();
  const double root_length = p.root_radius() * (pitch - root_angle),
               share = fillet_length / (fillet_length + root_length);
  const std::vector<Vec3> gap = equal_arc(
      [&](double t) {
        return t < share ? p.fillet(s_m * (1 - t / share))
                         : on_circle(p.root_radius(), root_angle + (pitch - root_angle) * (t - share) / (1 - share));
      },
      n.half_gap);

  Mesh half;
  half.blocks.push_back({ElementType::quad4, {}, {}});
  const std::vector<Vec3> QM = straight(Q, M, uniform(n.half_tooth));
  std::vector<Vec3> right_b = straight(Mr, M, uniform(n.under_tooth));
  coons(half, QM, arc(ra, 0, std::atan2(T.x(), T.y()), n.half_tooth), straight(Q, top, fractions(flank)), flank);
  coons(half, arc(r_ring, 0, ring_angle, n.half_tooth), QM, straight(Qr, Q, uniform(n.under_tooth)), right_b);
  coons(half, arc(r_ring, ring_angle, pitch, n.half_gap), gap, right_b, straight(Gr, G, uniform(n.under_tooth)));
  add_rim(half, data.bore_diameter / 2, r_ring, pitch, n);
  return half;
}

std::string flank_name(int tooth, int side) {
  return fmt::format("flank_{}_{}", tooth + 1, side == 0 ? "right" : "left");
}

// All teeth in the plane, their nodes not yet merged, with their sets.
Mesh all_teeth(const Mesh& half, int teeth, const GearMeshCounts& n) {
  const double pitch = pi / teeth;
  Mesh plane;
  plane.blocks.push_back({ElementType::quad4, {}, {}});
  const int per_half = static_cast<int>(half.nodes.size());
  for (int tooth = 0; tooth < teeth; ++tooth) {
    const Eigen::AngleAxisd turn(2 * pitch * tooth, Vec3::UnitZ());
    for (int side = 0; side < 2; ++side) {
      const int first = static_cast<int>(plane.nodes.size());
      for (Vec3 x : half.nodes) {
        if (side == 1) x.x() = -x.x();
        plane.nodes.push_back(turn * x);
      }
      for (int c : half.blocks.front().connectivity) plane.blocks.front().connectivity.push_back(c + first);
      // Flank nodes of block A: last of each row, from the form radius on.
      const std::string name = flank_name(tooth, side);
      for (int i = n.fillet; i <= n.fillet + n.involute; ++i)
        plane.node_sets[name].push_back(first + i * (n.half_tooth + 1) + n.half_tooth);
      for (int i = 0; i <= n.half_tooth; ++i)
        plane.node_sets[fmt::format("tip_{}", tooth + 1)].push_back(first +
                                                                    (n.fillet + n.involute) * (n.half_tooth + 1) + i);
      const int rim = per_half - (n.half_tooth + n.half_gap + 1) * (n.rim + 1);
      for (int i = 0; i <= n.half_tooth + n.half_gap; ++i) plane.node_sets["bore"].push_back(first + rim + i);
    }
  }
  orient(plane);
  return plane;
}

}  // namespace

GearMesh make_gear(const GearData& data, const GearMeshCounts& n) {
  const GearProfile p(data);
  for (int c : {n.involute, n.fillet, n.half_tooth, n.under_tooth, n.half_gap, n.rim, n.width})
    if (c < 1 || c > 400) throw InputError("gear: the numbers of elements must lie between 1 and 400");
  require_elements(
      2.0 * data.teeth * n.width *
      ((1.0 * n.fillet + n.involute) * n.half_tooth + (1.0 * n.half_tooth + n.half_gap) * (n.under_tooth + n.rim)));
  const int z = data.teeth;
  const double ra = p.tip_radius(), pitch = pi / z;
  if (data.bore_diameter <= 0) throw InputError("gear: the structured mesh needs a bore");
  Mesh plane = all_teeth(half_tooth(p, data, n), z, n);
  // Order along the profile before sets are sorted by merging.
  std::map<std::string, std::vector<Vec3>> ordered;
  for (const auto& [name, set] : plane.node_sets)
    if (name.starts_with("flank"))
      for (int i : set) ordered[name].push_back(plane.nodes[at(i)]);
  merge_nodes(plane, 1e-7 * data.module);

  GearMesh out;
  out.form_radius = p.form_radius();
  const double twist = std::tan(data.helix_angle) / p.pitch_radius();
  out.mesh = extrude(plane, data.width, n.width, -twist);
  surfaces_of_node_sets(out.mesh);
  const int layer = static_cast<int>(plane.nodes.size());
  out.flank.resize(at(z));
  for (int tooth = 0; tooth < z; ++tooth) {
    for (int side = 0; side < 2; ++side) {
      const std::string name = flank_name(tooth, side);
      for (const Vec3& x : ordered[name]) {
        int best = -1;
        for (int i : plane.node_sets[name])
          if (best < 0 || (plane.nodes[at(i)] - x).norm() < (plane.nodes[at(best)] - x).norm()) best = i;
        std::vector<int> row;
        for (int j = 0; j <= n.width; ++j) row.push_back(best + j * layer);
        out.flank[at(tooth)][at(side)].push_back(std::move(row));
      }
    }
    const Eigen::AngleAxisd turn(2 * pitch * tooth, Vec3::UnitZ());
    const Vec3 centre = turn * Vec3(0, ra, 0);
    int best = 0;
    for (int i = 0; i < static_cast<int>(out.mesh.nodes.size()); ++i)
      if ((out.mesh.nodes[at(i)] - centre).norm() < (out.mesh.nodes[at(best)] - centre).norm() - 1e-9 * ra) best = i;
    out.tip_node.push_back(best);
  }
  return out;
}

GearPair gear_pair(const GearProfile& a, const GearProfile& b, double distance) {
  GearPair g;
  const GearProfile* w[2] = {&a, &b};
  const double sum_rb = a.base_radius() + b.base_radius();
  if (distance <= sum_rb) throw InputError("gear pair: the centre distance is smaller than the sum of the base radii");
  const double alpha_t = a.transverse_pressure_angle();
  const double z = a.data().teeth + b.data().teeth;
  g.working_angle = std::acos(sum_rb / distance);
  const double alpha_v = inverse_involute(involute(alpha_t) + 2 * (a.data().profile_shift + b.data().profile_shift) /
                                                                  z * std::tan(a.data().pressure_angle));
  g.zero_backlash_distance = sum_rb / std::cos(alpha_v);
  g.circumferential_backlash = 2 * distance * (involute(g.working_angle) - involute(alpha_v));
  const double beta_b = std::atan(std::tan(a.data().helix_angle) * std::cos(alpha_t));
  g.normal_backlash = g.circumferential_backlash * std::cos(g.working_angle) * std::cos(beta_b);
  g.base_pitch = pi * a.transverse_module() * std::cos(alpha_t);
  const double full = distance * std::sin(g.working_angle);
  double reach[2];
  for (int i = 0; i < 2; ++i)
    reach[i] =
        std::min(full, std::sqrt(w[i]->tip_radius() * w[i]->tip_radius() - w[i]->base_radius() * w[i]->base_radius()));
  g.path_length = reach[0] + reach[1] - full;
  g.contact_ratio = g.path_length / g.base_pitch;
  g.overlap_ratio =
      std::min(a.data().width, b.data().width) * std::sin(std::abs(a.data().helix_angle)) / (pi * a.data().module);
  for (int i = 0; i < 2; ++i) {
    g.tip_clearance[i] = distance - w[i]->tip_radius() - w[1 - i]->root_radius();
    g.active_profile_start[i] = std::hypot(w[i]->base_radius(), full - reach[1 - i]);
  }
  return g;
}

}  // namespace clatter::fem

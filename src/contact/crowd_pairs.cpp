#include "contact/crowd_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "contact/crowd_stepper.hpp"

namespace clatter::contact {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Name of a shape as the entry's scope writes it.
std::string local_name(const std::string& shape, const std::string& entry) {
  const std::size_t dot = entry.rfind('.');
  return dot != std::string::npos && shape.starts_with(entry.substr(0, dot + 1)) ? shape.substr(dot + 1) : shape;
}

// t = n x z of planar shapes.
Vec3 tangent_of(const Vec3& n) { return Vec3(n.y(), -n.x(), 0); }

double along_or_size(bool planar, const Vec3& n, const Vec3& x) {
  return planar ? tangent_of(n).dot(x) : Vec3(x - n.dot(x) * n).norm();
}

}  // namespace

std::size_t pairs_written(const CrowdContact& entry) {
  const std::size_t n = entry.first.size();
  return entry.among ? n * (n - 1) / 2 : n * entry.second.size();
}

void visit_pairs(const ContactSystem& contacts, const CrowdContact& entry,
                 const std::function<void(int, int, const std::string&)>& visit) {
  const bool single = pairs_written(entry) == 1;
  for (std::size_t i = 0; i < entry.first.size(); ++i)
    for (std::size_t k = entry.among ? i + 1 : 0; k < entry.second.size(); ++k) {
      const int a = entry.first[i], b = entry.second[k];
      const ShapeInstance &first = contacts.shapes[at(a)], &second = contacts.shapes[at(b)];
      if (first.link == second.link) continue;
      visit(a, b,
            single ? entry.name
                   : fmt::format("{}.{}.{}", entry.name, local_name(first.name, entry.name),
                                 local_name(second.name, entry.name)));
    }
}

const std::vector<CrowdPoint>& CrowdSearch::find_pair(int shape1, int shape2, const std::vector<LinkMotion>& links,
                                                      double reach) {
  for (const int shape : {shape1, shape2}) place(at(shape), links);
  workers_[0].points.clear();
  look(workers_[0], shape1, shape2, reach);
  return workers_[0].points;
}

// Sliding: all friction there can be.
Mode CrowdStepper::mode_of(std::size_t i) const {
  constexpr double kWhole = 1 - 1e-9, kNoSlip = 1e-9;
  const CrowdRow& row = problem_.rows[i];
  if (!(row.pn > 0)) return Mode::open;
  if (row.mu > 0)
    return Vec3(row.pt[0], row.pt[1], row.pt[2]).norm() >= kWhole * row.mu * row.pn ? Mode::slide : Mode::stick;
  const Vec3 n(row.n[0], row.n[1], row.n[2]);
  return along_or_size(false, n, problem_.rate(row)) > kNoSlip * system().velocity_scale ? Mode::slide : Mode::stick;
}

// Of the point of an entry that presses most, after the last step.
CrowdPairState CrowdStepper::leading(int entry) const {
  CrowdPairState out;
  const CrowdEntryState& e = entries_.now[at(entry)];
  if (e.row < 0 || at(e.row) >= assembly_.origins.size()) return out;
  const bool planar = e.planar;
  const CrowdRow& row = problem_.rows[at(e.row)];
  const Vec3 n(row.n[0], row.n[1], row.n[2]), u = problem_.rate(row);
  out.mode = mode_of(at(e.row));
  out.gap_rate = n.dot(u);
  out.slip = along_or_size(planar, n, u);
  return out;
}

// At the engine's present links.
CrowdPairState CrowdStepper::observe_pair(int shape1, int shape2) {
  CrowdPairState out;
  const ShapeInstance &s1 = system().shapes[at(shape1)], &s2 = system().shapes[at(shape2)];
  const bool planar = s1.geometry.planar();
  const double far = 1e6 * system().length_scale;
  const std::vector<CrowdPoint>& points = again_.find_pair(shape1, shape2, engine_.links().motion, far);
  const bool turned = !points.empty() && points.front().shape1 != shape1;
  const std::uint64_t key = points.empty() ? 0 : points.front().key;
  const double h = now_.t - dense_.base.t;
  double most = 0;
  Vec3 friction = Vec3::Zero(), place = Vec3::Zero();
  double along = 0;
  for (std::size_t i = 0; i < assembly_.origins.size() && h > 0 && !points.empty(); ++i) {
    const CrowdRow& row = problem_.rows[i];
    if (assembly_.origins[i].point < 0 || assembly_.origins[i].key != key || !(row.pn > 0)) continue;
    const Vec3 n(row.n[0], row.n[1], row.n[2]), pt(row.pt[0], row.pt[1], row.pt[2]);
    ++out.touching;
    out.normal_force += row.pn / h;
    out.force += (turned ? -1 : 1) / h * impulse(row);
    friction += pt / h;
    along += tangent_of(n).dot(pt) / h;
    if (!(row.pn > most)) continue;
    most = row.pn;
    place = assembly_.origins[i].place;
    out.mode = mode_of(i);
  }
  out.friction_force = planar ? along : friction.norm();
  out.gap = far;
  const CrowdPoint* leading = nullptr;
  for (const CrowdPoint& p : points) {
    out.gap = std::min(out.gap, p.gap);
    const bool nearer =
        leading != nullptr && (most > 0 ? (p.p2 - place).norm() < (leading->p2 - place).norm() : p.gap < leading->gap);
    if (leading == nullptr || nearer) leading = &p;
  }
  if (leading == nullptr) return out;
  const int link1 = turned ? s2.link : s1.link, link2 = turned ? s1.link : s2.link;
  const auto velocity = [&](int link, const Vec3& p) -> Vec3 {
    return link < 0 ? Vec3::Zero() : begin_velocity(link, p - engine_.links().motion[at(link)].p);
  };
  const Vec3 u = velocity(link1, leading->p1) - velocity(link2, leading->p2);
  out.gap_rate = leading->n.dot(u);
  out.slip = along_or_size(planar, leading->n, u);
  out.point = turned ? leading->p1 : leading->p2;
  return out;
}

}  // namespace clatter::contact

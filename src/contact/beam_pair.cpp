#include "contact/beam_pair.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/ancf_chain.hpp"

namespace clatter::contact {

namespace {

// Gauss points and weights on [0, 1]: roots of Legendre's polynomials by Newton's method.
void gauss_rule(int n, std::vector<double>& at, std::vector<double>& weight) {
  at.clear();
  weight.clear();
  for (int i = 0; i < n; ++i) {
    double x = -std::cos(M_PI * (i + 0.75) / (n + 0.5)), slope = 1;
    for (int step = 0; step < 50; ++step) {
      double p0 = 1, p1 = x;
      for (int k = 2; k <= n; ++k) {
        const double p2 = ((2 * k - 1) * x * p1 - (k - 1) * p0) / k;
        p0 = p1;
        p1 = p2;
      }
      slope = n * (x * p1 - p0) / (x * x - 1);
      const double dx = p1 / slope;
      x -= dx;
      if (std::abs(dx) < 1e-16) break;
    }
    at.push_back(0.5 * (1 + x));
    weight.push_back(1 / ((1 - x * x) * slope * slope));
  }
}

BeamOutline outline(const System& system, int body, double radius) {
  BeamOutline out;
  const BodyIndex& index = system.bodies[static_cast<std::size_t>(body)];
  const FlexibleIndex& flexible = system.flexible[static_cast<std::size_t>(index.flexible)];
  out.body = &static_cast<const ancf::AncfBlock&>(*system.tree.blocks[static_cast<std::size_t>(flexible.block)]).body();
  out.q = flexible.q;
  out.v = flexible.v;
  out.link = index.link;
  out.tree = system.tree.links[static_cast<std::size_t>(index.link)].tree;
  const BeamSource& source = *out.body->source;
  out.sides = source.planar && source.element == BeamSource::Element::beam;
  out.half = 0.5 * source.size_y;
  out.radius = out.sides ? 0 : radius > 0 ? radius : out.half;
  out.depth = out.sides ? source.size_z : 2 * out.radius;
  return out;
}

}  // namespace

void BeamOutline::weights(const BeamCurve& curve, double x, int derivative, double* out) const {
  const double L = length(curve.element);
  double section[BeamPair::kMostVectors];
  if (curve.across()) {
    const double z = curve.runs == BeamCurve::Runs::across_start ? 0 : 1;
    std::fill(out, out + body->element_vectors, 0.0);
    if (derivative == 0) body->element_weights(z, L, 0, 0, out);
    if (derivative > 1) return;
    body->element_weights(z, L, 1, 0, section);
    for (int i = 0; i < body->element_vectors; ++i) out[i] += (derivative == 0 ? x : 1.0) * section[i];
    return;
  }
  body->element_weights(x / L, L, 0, derivative, out);
  if (curve.y == 0) return;
  body->element_weights(x / L, L, 1, derivative, section);
  for (int i = 0; i < body->element_vectors; ++i) out[i] += curve.y * section[i];
}

SkinMotion BeamOutline::skin() const {
  if (sides) return SkinMotion::curve;
  return body->source->element == BeamSource::Element::beam ? SkinMotion::turns : SkinMotion::bends;
}

void BeamOutline::section_weights(int element, double x, int section, int derivative, double* out) const {
  const double L = length(element);
  body->element_weights(x / L, L, section, derivative, out);
}

BeamPair::BeamPair(const BeamTouching& t, const System& system, bool rigid)
    : touching(t),
      beam{outline(system, t.first, t.radius[0]), outline(system, t.second, t.radius[1])},
      self(t.first == t.second),
      dim(beam[0].body->dim) {
  using Multiplier = BeamTouching::Multiplier;
  // A force that follows the penetration has one at every point.
  if (!rigid) touching.multiplier = Multiplier::point;
  both = !rigid;
  const Multiplier multiplier = touching.multiplier;
  std::vector<double> at, weight;
  gauss_rule(t.gauss, at, weight);
  slot_begin.push_back(0);
  const auto close_slot = [&] {
    slot_of_station.resize(stations.size(), static_cast<int>(slot_begin.size()) - 1);
    slot_begin.push_back(static_cast<int>(stations.size()));
  };
  for (int b = 0; b < (both && !self ? 2 : 1); ++b) {
    const BeamOutline& slave = beam[b];
    line_begin[b].push_back(static_cast<int>(stations.size()));
    for (int e = 0; e < slave.elements(); ++e) {
      const double part = slave.length(e) / t.segments, depth = (both ? 0.5 : 1.0) * slave.depth;
      const std::array<double, 2> sides{-slave.half, slave.half};
      for (int side = 0; t.way != BeamTouching::Way::points && side < (slave.sides ? 2 : 1); ++side) {
        for (int segment = 0; segment < t.segments; ++segment) {
          for (int g = 0; g < t.gauss; ++g) {
            const auto i = static_cast<std::size_t>(g);
            BeamStation s;
            s.second = b == 1;
            s.curve = {BeamCurve::Runs::along, e, slave.sides ? sides[static_cast<std::size_t>(side)] : 0.0};
            s.from = segment * part;
            s.to = (segment + 1) * part;
            s.z = at[i];
            s.x = (segment + at[i]) * part;
            s.area = weight[i] * part * depth;
            stations.push_back(s);
            if (multiplier == Multiplier::point) close_slot();
          }
          if (multiplier == Multiplier::segment) close_slot();
        }
        if (multiplier == Multiplier::element) close_slot();
      }
      line_begin[b].push_back(static_cast<int>(stations.size()));
    }
  }
  const BeamOutline& first = beam[0];
  ends = static_cast<int>(stations.size());
  for (int b = 0; b < (self ? 1 : 2); ++b) {
    const BeamOutline& of = beam[b];
    for (const bool finish : {false, true})
      for (const double y : {-of.half, of.half}) {
        if (!of.sides && y > 0) continue;
        const int e = finish ? of.elements() - 1 : 0;
        BeamStation s;
        s.kind = BeamStation::Kind::end;
        s.second = b == 1;
        s.curve = {BeamCurve::Runs::along, e, of.sides ? y : 0.0};
        s.x = finish ? of.length(e) : 0.0;
        stations.push_back(s);
        close_slot();
      }
  }
  crossings = static_cast<int>(stations.size());
  if (dim == 3)
    for (int e = 0; e < first.elements(); ++e) {
      BeamStation s;
      s.kind = BeamStation::Kind::crossing;
      s.curve = {BeamCurve::Runs::along, e, 0};
      s.x = 0.5 * first.length(e);
      stations.push_back(s);
      close_slot();
    }
}

double BeamPair::stiffness(int slot, double of_point) const {
  const auto s = static_cast<std::size_t>(slot);
  const int begin = slot_begin[s], end = slot_begin[s + 1];
  if (stations[static_cast<std::size_t>(begin)].kind != BeamStation::Kind::line) return of_point;
  const double patch = 2 * beam[0].reach() * beam[0].depth;
  double area = 0;
  for (int i = begin; i < end; ++i) area += stations[static_cast<std::size_t>(i)].area;
  return (touching.line_stiffness > 0 ? touching.line_stiffness : of_point / patch) * area;
}

}  // namespace clatter::contact

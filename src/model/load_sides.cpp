// The sides of a beam as rows of points that touch (Y-15), each a shape on a point of the beam:
//
//   planar `ancf-beam`   r + y r_y with y = -H/2 (below) and H/2 (above): circles of radius 0
//   all others           circles, in space spheres, of half the section on the axis
//
// at equal steps of the axis, n an element with both its ends. An end shared by two elements is one point: twice the
// same rows would leave the impulses of a contact problem undetermined (T-10). A point stands for the length of axis
// nearest to it (`share`), by which laws per length are scaled (T-8).
#include <algorithm>

#include <fmt/format.h>

#include "model/loader.hpp"

namespace clatter::loading {

namespace {

constexpr int most_points = 400;  // an element

}  // namespace

void Loader::sides(const Object& o, const Attachment& on, NamedShape& named, const std::string& name) {
  const std::size_t before = mistakes_.count();
  const Body* b = on.body < 0 ? nullptr : &model_.bodies[static_cast<std::size_t>(on.body)];
  if (b == nullptr || !is_beam(b->kind)) {
    o.mistake("on", fmt::format("`{}` is not a beam: only beams have `sides`", on.label));
    return;
  }
  if (!on.marker.empty()) {
    o.mistake("on", fmt::format("the sides go along the whole beam, not from its point `{}`", on.marker),
              "on: " + b->name);
    return;
  }
  for (const char* key : {"at", "rotate"})
    if (o.has(key)) o.mistake(key, fmt::format("`{}` has no meaning for the sides of a beam", key));
  if (!b->beam) return;  // a mistake in the beam has been reported
  const bool section = b->beam->planar && b->beam->element == BeamSource::Element::beam;
  Sides wanted;
  wanted.per_element = whole(o, "per_element", 1, most_points).value_or(wanted.per_element);
  if (o.has("side") && !section)
    o.mistake("side",
              b->beam->planar ? fmt::format("cable `{}` has no section vectors: it touches around its axis", b->name)
                              : fmt::format("`{}` is spatial: it touches around its axis", b->name),
              "leave `side` out");
  if (o.has("radius") && section)
    o.mistake("radius", fmt::format("the sides of `{}` are points of its section, without radius", b->name));
  const std::string side = o.word("side").value_or("both");
  wanted.below = side != "above";
  wanted.above = side != "below";
  wanted.radius = o.positive("radius");
  if (mistakes_.count() != before) return;
  const std::string wrong = add_sides(on.body, wanted, name, named.source, named.row);
  if (!wrong.empty()) o.mistake("on", wrong);
}

std::string Loader::add_sides(int body, const Sides& wanted, const std::string& name, const Source& source,
                              ShapeRow& row) {
  Body& b = model_.bodies[static_cast<std::size_t>(body)];
  const BeamSource& old = *b.beam;
  const bool section = old.planar && old.element == BeamSource::Element::beam;
  double half = 0.5 * old.size_y;
  if (!section && old.size_z > 0 && !old.planar) half = std::min(half, 0.5 * old.size_z);
  half = wanted.radius.value_or(half);
  if (!(half > 0))
    return fmt::format("beam `{}` has no size: its `section` is not given{}", b.name,
                       section ? "" : ", nor a `radius` of its sides");
  auto beam = std::make_shared<BeamSource>(old);
  row = {static_cast<int>(model_.shapes.size()), 0};
  const int n = wanted.per_element, steps = std::max(1, n - 1) * beam->elements;
  const int points = n == 1 ? steps : steps + 1;
  const auto add = [&](double y, const std::string& called) {
    for (int i = 0; i < points; ++i) {
      BeamSource::Point p{fmt::format("{}[{}]", called, i + 1), source};
      p.s = (n == 1 ? i + 0.5 : i) / steps;
      p.y = y;
      ContactShape s;
      s.name = p.name;
      s.source = source;
      s.kind = beam->planar ? ContactShape::Kind::circle : ContactShape::Kind::sphere;
      s.radius = section ? 0 : half;
      s.half_height = half;
      s.breadth = beam->size_z;
      s.at = {body, beam->at(p.s, p.y), b.name + "." + p.name, source, p.name};
      // Half a step to either side, within the beam.
      const auto length_of = [&](int step) {
        return beam->lengths[static_cast<std::size_t>(step / std::max(1, n - 1))] / std::max(1, n - 1);
      };
      if (n == 1) {
        s.share = length_of(i);
      } else {
        if (i > 0) s.share += 0.5 * length_of(i - 1);
        if (i < steps) s.share += 0.5 * length_of(i);
      }
      beam->points.push_back(std::move(p));
      model_.shapes.push_back(std::move(s));
      ++row.count;
    }
  };
  if (!section) {
    add(0, name);
  } else {
    const bool both = wanted.below && wanted.above;
    if (wanted.below) add(-half, both ? name + ".below" : name);
    if (wanted.above) add(half, both ? name + ".above" : name);
  }
  b.beam = std::move(beam);
  return {};
}

}  // namespace clatter::loading

// VTK XML unstructured grids with raw appended arrays: a header of 64 bits with the bytes of each, then the numbers.
#include "app/flexible_mesh.hpp"

#include "app/beam_skin.hpp"
#include "app/body_making.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "fem/make.hpp"
#include "fem/natural.hpp"
#include "fem/skin.hpp"
#include "study/changes.hpp"
#include "study/stress.hpp"

namespace clatter::app {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

int vtk_type(fem::ElementType type) {
  using T = fem::ElementType;
  switch (type) {
    case T::tet4:
      return 10;
    case T::tet10:
      return 24;
    case T::hex8:
      return 12;
    case T::hex20:
      return 25;
    case T::wedge6:
      return 13;
    case T::wedge15:
      return 26;
    case T::tri3:
      return 5;
    case T::tri6:
      return 22;
    case T::quad4:
      return 9;
    case T::quad8:
      return 23;
    case T::line2:
      return 3;
  }
  return 0;
}

class Grid {
 public:
  template <class T>
  void array(const char* type, const char* name, int components, const std::vector<T>& values) {
    head_ += fmt::format(
        "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n", type,
        name, components, data_.size());
    const std::uint64_t bytes = values.size() * sizeof(T);
    data_.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    data_.append(reinterpret_cast<const char*>(values.data()), bytes);
  }
  void text(const std::string& line) { head_ += line; }
  std::string bytes() const {
    return head_ + "<AppendedData encoding=\"raw\">\n_" + data_ + "\n</AppendedData>\n</VTKFile>\n";
  }

 private:
  std::string head_, data_;
};

// One body's mesh through time.
class MeshSeries {
 public:
  MeshSeries(const record::Reader& reader, std::string body, std::shared_ptr<const fem::Recovery> recovery, bool stress)
      : reader_(reader), body_(std::move(body)), recovery_(std::move(recovery)), stress_(stress) {
    for (const fem::ElementBlock& b : recovery_->mesh().blocks) {
      const int n = fem::info(b.type).nodes;
      for (int node : b.connectivity) connectivity_.push_back(node);
      for (int e = 0; e < b.count(); ++e) {
        types_.push_back(static_cast<std::uint8_t>(vtk_type(b.type)));
        offsets_.push_back((offsets_.empty() ? 0 : offsets_.back()) + n);
      }
    }
  }

  record::VtkFile operator()(std::uint64_t frame, std::uint64_t row, double t) const {
    const auto channel = [&](const char* leaf) { return reader_.read("bodies/" + body_ + "/" + leaf, row, 1); };
    const record::RowMatrix p = channel("position"), q = channel("orientation"), coordinates = channel("eta");
    const Vec eta = coordinates.row(0).transpose();
    const Vec3 origin(p(0, 0), p(0, 1), p(0, 2));
    const Mat3 R = Quat(q(0, 0), q(0, 1), q(0, 2), q(0, 3)).toRotationMatrix();
    const Vec u = recovery_->displacements(eta);
    const std::vector<Vec3>& nodes = recovery_->mesh().nodes;
    std::vector<float> points, displacement, mises;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Vec3 ui = u.segment<3>(3 * static_cast<long>(i)), x = origin + R * (nodes[i] + ui);
      for (int k = 0; k < 3; ++k) {
        points.push_back(static_cast<float>(x[k]));
        displacement.push_back(static_cast<float>(ui[k]));
      }
    }
    if (stress_)
      for (const double s : recovery_->von_mises(eta)) mises.push_back(static_cast<float>(s));
    Grid grid;
    grid.text(fmt::format("<?xml version=\"1.0\"?>\n{}\n", record::kSeries.mark));
    grid.text(
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" "
        "header_type=\"UInt64\">\n<UnstructuredGrid>\n");
    grid.text(fmt::format(
        "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
        "format=\"ascii\">{}</DataArray>\n</FieldData>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n",
        t, nodes.size(), types_.size()));
    grid.text("<PointData>\n");
    grid.array("Float32", "displacement", 3, displacement);
    if (stress_) grid.array("Float32", "von_mises", 1, mises);
    grid.text("</PointData>\n<Points>\n");
    grid.array("Float32", "position", 3, points);
    grid.text("</Points>\n<Cells>\n");
    grid.array("Int32", "connectivity", 1, connectivity_);
    grid.array("Int32", "offsets", 1, offsets_);
    grid.array("UInt8", "types", 1, types_);
    grid.text("</Cells>\n</Piece>\n</UnstructuredGrid>\n");
    return {fmt::format("{}_{:06}.vtu", body_, frame), grid.bytes()};
  }

 private:
  const record::Reader& reader_;
  std::string body_;
  std::shared_ptr<const fem::Recovery> recovery_;
  bool stress_;
  std::vector<std::int32_t> connectivity_, offsets_;
  std::vector<std::uint8_t> types_;
};

constexpr int kMostShapes = 20;  // of natural vibrations, for the viewer

std::vector<float> floats(const Mat& columns) {
  std::vector<float> out;
  out.reserve(static_cast<std::size_t>(columns.size()));
  for (long c = 0; c < columns.cols(); ++c)
    for (long r = 0; r < columns.rows(); ++r) out.push_back(static_cast<float>(columns(r, c)));
  return out;
}

}  // namespace

Skins skins_of(const Model& model, const std::vector<study::MadeBody>& bodies) {
  Skins out;
  for (const study::MadeBody& made : bodies) {
    int index = -1;
    for (std::size_t i = 0; i < model.bodies.size(); ++i)
      if (model.bodies[i].name == made.body) index = static_cast<int>(i);
    if (index < 0 || made.model->shapes.size() == 0 || made.source.mesh.kind == MeshDescription::Kind::matrices)
      continue;
    const fem::Skin skin = fem::make_skin(*fem::make_structure(made.source).structure, made.model->shapes);
    record::Surface s;
    s.name = made.body;
    for (const Vec3& x : skin.vertices)
      for (int k = 0; k < 3; ++k) s.vertices.push_back(static_cast<float>(x[k]));
    for (const auto& t : skin.triangles)
      for (int v : t) s.triangles.push_back(static_cast<std::uint32_t>(v));
    s.modes = floats(skin.modes);
    out.surfaces.push_back(std::move(s));
    const bool stress = study::has_stress(made.source) && study::wants_stress(model, made.body);
    view::SurfaceUse use{made.body, index, made.body + ".eta", stress ? made.body + ".stress" : ""};
    for (fem::NaturalShape& shape : fem::natural_shapes(*made.model->body, kMostShapes))
      use.shapes.push_back({shape.frequency, std::move(shape.eta)});
    out.uses.push_back(std::move(use));
  }
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    if (!model.bodies[i].beam) continue;
    record::Surface s = beam_skin(model.bodies[i]);
    if (s.triangles.empty()) continue;
    out.surfaces.push_back(std::move(s));
    out.uses.push_back({.name = model.bodies[i].name,
                        .body = static_cast<int>(i),
                        .coordinates = model.bodies[i].name + ".eta",
                        .large = true});
  }
  return out;
}

std::vector<record::VtkPart> mesh_parts(const record::Reader& reader) {
  std::vector<record::VtkPart> parts;
  bool any = false;
  for (const record::Channel& c : reader.channels()) any = any || c.name.ends_with("/eta");
  if (!any) return parts;
  std::vector<study::MadeBody> bodies;
  study::BodyMaking making = making_shown(false);
  making.made = [&](const study::MadeBody& m) { bodies.push_back(m); };
  study::load_recorded(reader.info(), making);
  for (const study::MadeBody& made : bodies) {
    const std::string channel = "bodies/" + made.body + "/eta";
    if (!reader.has(channel) || made.model->shapes.size() == 0 ||
        made.source.mesh.kind == MeshDescription::Kind::matrices)
      continue;
    if (reader.channel(channel).width != made.model->body->n)
      throw InputError(fmt::format("body `{}` has {} elastic coordinates now and had {} when the result was written",
                                   made.body, made.model->body->n, reader.channel(channel).width),
                       "its mesh or modes were changed since; run the model again");
    const auto structure = fem::make_structure(made.source).structure;
    const bool stress = study::has_stress(made.source);
    parts.emplace_back(MeshSeries(
        reader, made.body, std::make_shared<const fem::Recovery>(*structure, made.model->shapes, stress), stress));
  }
  return parts;
}

}  // namespace clatter::app

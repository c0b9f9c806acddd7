// VTK XML poly data. Orientation by the unit quaternion p = (w, x, y, z); columns of its rotation matrix:
//   axis_x = (1 - 2(y^2 + z^2), 2(xy + wz), 2(xz - wy)), and cyclically.
#include <fmt/format.h>

#include <Eigen/Geometry>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "record/export.hpp"

namespace clatter::record {
namespace {

namespace fs = std::filesystem;

struct Body {
  std::string name;
  bool has_orientation = false;
  RowMatrix position, orientation, velocity;  // rows of the current block
};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::vector<Body> find_bodies(const Reader& reader) {
  constexpr std::string_view kFolder = "bodies/";
  constexpr std::string_view kLeaf = "/position";
  std::vector<Body> bodies;
  for (const Channel& c : reader.channels()) {
    const std::string_view name = c.name;
    if (!name.starts_with(kFolder) || !name.ends_with(kLeaf) || name.size() <= kFolder.size() + kLeaf.size()) continue;
    if (c.width != 3) continue;
    Body body;
    body.name = std::string(name.substr(kFolder.size(), name.size() - kFolder.size() - kLeaf.size()));
    const std::string orientation = "bodies/" + body.name + "/orientation";
    body.has_orientation = reader.has(orientation) && reader.channel(orientation).width == 4;
    bodies.push_back(std::move(body));
  }
  return bodies;
}

class Frame {
 public:
  explicit Frame(std::size_t points) : points_(points) {
    put("<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
        "byte_order=\"LittleEndian\">\n<PolyData>\n");
  }
  template <class... T>
  void put(fmt::format_string<T...> text, T&&... values) {
    fmt::format_to(std::back_inserter(text_), text, std::forward<T>(values)...);
  }
  // One three-component array; `value(i)` is the vector of point i.
  template <class Value>
  void vectors(const char* name, const Value& value) {
    put("<DataArray type=\"Float64\" Name=\"{}\" NumberOfComponents=\"3\" format=\"ascii\">\n", name);
    for (std::size_t i = 0; i < points_; ++i) {
      const Eigen::Vector3d x = value(i);
      put("{} {} {}\n", x[0], x[1], x[2]);
    }
    put("</DataArray>\n");
  }
  template <class Value>
  void integers(const char* name, std::size_t count, const Value& value) {
    put("<DataArray type=\"Int32\" Name=\"{}\" format=\"ascii\">\n", name);
    for (std::size_t i = 0; i < count; ++i) put("{} ", value(i));
    put("\n</DataArray>\n");
  }
  std::string_view text() const { return {text_.data(), text_.size()}; }

 private:
  std::size_t points_;
  fmt::memory_buffer text_;
};

void write_file(const fs::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.flush();
  if (!out)
    throw ResultError(path.string(), fmt::format("cannot be written ({})", std::strerror(errno)),
                      "check the folder and the free disk space");
}

Frame frame_of(const std::vector<Body>& bodies, double t, Eigen::Index row, bool with_velocity) {
  const std::size_t n = bodies.size();
  Frame frame(n);
  frame.put(
      "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{}"
      "</DataArray>\n",
      t);
  // Text arrays are given as character codes, each text closed by a zero.
  frame.put("<Array type=\"String\" Name=\"body_names\" NumberOfTuples=\"{}\" format=\"ascii\">\n", n);
  for (const Body& body : bodies) {
    for (const char c : body.name) frame.put("{} ", static_cast<int>(static_cast<unsigned char>(c)));
    frame.put("0\n");
  }
  frame.put(
      "</Array>\n</FieldData>\n<Piece NumberOfPoints=\"{0}\" NumberOfVerts=\"{0}\" NumberOfLines=\"0\" "
      "NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n<PointData>\n",
      n);
  frame.integers("body", n, [](std::size_t i) { return i; });
  std::vector<Eigen::Matrix3d> rotation(n, Eigen::Matrix3d::Identity());
  for (std::size_t i = 0; i < n; ++i) {
    if (!bodies[i].has_orientation) continue;
    const auto p = bodies[i].orientation.row(row);
    rotation[i] = Eigen::Quaterniond(p[0], p[1], p[2], p[3]).toRotationMatrix();
  }
  const char* const axes[] = {"axis_x", "axis_y", "axis_z"};
  for (int k = 0; k < 3; ++k)
    frame.vectors(axes[k], [&](std::size_t i) -> Eigen::Vector3d { return rotation[i].col(k); });
  if (with_velocity)
    frame.vectors("velocity",
                  [&](std::size_t i) -> Eigen::Vector3d { return bodies[i].velocity.row(row).transpose(); });
  frame.put("</PointData>\n<Points>\n");
  frame.vectors("position", [&](std::size_t i) -> Eigen::Vector3d { return bodies[i].position.row(row).transpose(); });
  frame.put("</Points>\n<Verts>\n");
  frame.integers("connectivity", n, [](std::size_t i) { return i; });
  frame.integers("offsets", n, [](std::size_t i) { return i + 1; });
  frame.put("</Verts>\n</Piece>\n</PolyData>\n</VTKFile>\n");
  return frame;
}

}  // namespace

std::uint64_t export_vtk(const Reader& reader, const std::string& base, std::uint64_t stride,
                         const std::vector<VtkPart>& parts) {
  std::vector<Body> bodies = find_bodies(reader);
  if (bodies.empty())
    throw ResultError(reader.path(), "records no 'bodies/<name>/position', nothing to show",
                      "add the bodies' poses to the model's outputs");
  bool with_velocity = true;
  for (const Body& body : bodies) {
    const std::string name = "bodies/" + body.name + "/velocity";
    with_velocity = with_velocity && reader.has(name) && reader.channel(name).width == 3;
  }
  const fs::path folder = base + "_vtp";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw ResultError(folder.string(), fmt::format("cannot be created ({})", error.message()), "choose another place");

  constexpr std::uint64_t kBlock = 1024;
  const std::uint64_t rows = reader.rows().samples;
  stride = std::max<std::uint64_t>(stride, 1);
  std::uint64_t frames = 0;
  std::string series =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n"
      "<Collection>\n";
  for (std::uint64_t first = 0; first < rows; first += kBlock) {
    const std::vector<double> times = reader.times(first, kBlock);
    for (Body& body : bodies) {
      body.position = reader.read("bodies/" + body.name + "/position", first, kBlock);
      if (body.has_orientation) body.orientation = reader.read("bodies/" + body.name + "/orientation", first, kBlock);
      if (with_velocity) body.velocity = reader.read("bodies/" + body.name + "/velocity", first, kBlock);
    }
    for (std::uint64_t i = (stride - first % stride) % stride; i < times.size(); i += stride) {
      const std::string name = fmt::format("frame_{:06}.vtp", frames);
      write_file(folder / name, frame_of(bodies, times[i], static_cast<Eigen::Index>(i), with_velocity).text());
      series += fmt::format("<DataSet timestep=\"{}\" part=\"0\" file=\"{}\"/>\n", times[i],
                            escaped(folder.filename().string() + "/" + name));
      for (std::size_t k = 0; k < parts.size(); ++k)
        series += fmt::format(
            "<DataSet timestep=\"{}\" part=\"{}\" file=\"{}\"/>\n", times[i], k + 1,
            escaped(folder.filename().string() + "/" + parts[k](folder.string(), frames, first + i, times[i])));
      ++frames;
    }
  }
  series += "</Collection>\n</VTKFile>\n";
  write_file(base + ".pvd", series);  // last: the series is never ahead of its frames
  return frames;
}

}  // namespace clatter::record

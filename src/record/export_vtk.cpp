// VTK XML poly data. Orientation by the unit quaternion p = (w, x, y, z); columns of its rotation matrix:
//   axis_x = (1 - 2(y^2 + z^2), 2(xy + wz), 2(xz - wy)), and cyclically.
#include <fcntl.h>
#include <fmt/format.h>

#include <Eigen/Geometry>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
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
    put("<?xml version=\"1.0\"?>\n{}\n<VTKFile type=\"PolyData\" version=\"1.0\" "
        "byte_order=\"LittleEndian\">\n<PolyData>\n",
        kSeries.mark);
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

// The folder of a series while it is made: under another name beside its own, which it takes when it is whole.
class SeriesFolder {
 public:
  SeriesFolder(const fs::path& path, const OutputRules& rules)
      : path_(path), part_(name_beside(path.string())), rules_(rules) {
    std::error_code error;
    if (fs::exists(path_, error) && !fs::is_directory(path_, error))
      throw InputError(fmt::format("{} is there already and is not a folder", path_.string()), "choose another name");
    for (const fs::directory_entry& entry : fs::directory_iterator(path_, error))
      if (ours_by_name(entry.path())) refuse_output(entry.path().string(), kSeries, rules_);
    if (fs::create_directories(part_, error); error)
      throw InputError(fmt::format("{} cannot be made ({})", path_.string(), error.message()), "choose another place");
  }
  SeriesFolder(const SeriesFolder&) = delete;
  SeriesFolder& operator=(const SeriesFolder&) = delete;
  // Nothing but files of a series is ever removed.
  ~SeriesFolder() {
    std::error_code ignored;
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(part_, ignored))
      if (ours_by_name(entry.path())) files.push_back(entry.path());
    for (const fs::path& file : files) fs::remove(file, ignored);
    fs::remove(part_, ignored);
  }

  void add(const std::string& name, std::string_view bytes) const {
    // Thousands of small files: the system brings them to the disk when it likes.
    const std::string path = (part_ / name).string();
    std::ofstream out(path, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out)
      throw OutputError(fmt::format("{} cannot be written ({}); free some disk space, or choose another place", path,
                                    std::strerror(errno)));
  }

  void publish() {
    std::error_code error;
    if (!fs::exists(path_, error)) {
      fs::rename(part_, path_, error);
    } else if (::renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) != 0) {
      const fs::path older = name_beside(path_.string());
      if (fs::rename(path_, older, error); !error) fs::rename(part_, path_, error);
      if (!error) part_ = older;
    }
    if (error)
      throw InputError(fmt::format("{} cannot be made ({})", path_.string(), error.message()), "choose another place");
    // part_ is the older folder now, if there was one: what is not of a series goes where it was.
    std::vector<fs::path> others;
    for (const fs::directory_entry& entry : fs::directory_iterator(part_, error))
      if (!ours_by_name(entry.path())) others.push_back(entry.path());
    for (const fs::path& other : others) fs::rename(other, path_ / other.filename(), error);
  }

 private:
  // name_NNNNNN.vtp or .vtu
  static bool ours_by_name(const fs::path& path) {
    const std::string ending = path.extension().string(), stem = path.stem().string();
    return (ending == ".vtp" || ending == ".vtu") && matches_glob("*_??????", stem) &&
           stem.find_first_not_of("0123456789", stem.size() - 6) == stem.npos;
  }

  fs::path path_, part_;
  OutputRules rules_;
};

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
                         const std::vector<VtkPart>& parts, OutputRules rules) {
  std::vector<Body> bodies = find_bodies(reader);
  if (bodies.empty())
    throw ResultError(reader.path(), "records no 'bodies/<name>/position', nothing to show",
                      "add the bodies' poses to the model's outputs");
  bool with_velocity = true;
  for (const Body& body : bodies) {
    const std::string name = "bodies/" + body.name + "/velocity";
    with_velocity = with_velocity && reader.has(name) && reader.channel(name).width == 3;
  }
  rules.inputs.push_back(reader.path());
  const std::string folder_name = fs::path(base + "_vtp").filename().string();
  OutputFile series(base + ".pvd", kSeries, rules);
  SeriesFolder folder(base + "_vtp", rules);

  constexpr std::uint64_t kBlock = 1024;
  const std::uint64_t rows = reader.rows().samples;
  stride = std::max<std::uint64_t>(stride, 1);
  std::uint64_t frames = 0;
  series.stream() << "<?xml version=\"1.0\"?>\n"
                  << kSeries.mark
                  << "\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n";
  const auto list = [&](double t, std::size_t part, const std::string& name) {
    series.stream() << fmt::format("<DataSet timestep=\"{}\" part=\"{}\" file=\"{}\"/>\n", t, part,
                                   escaped(folder_name + "/" + name));
  };
  for (std::uint64_t first = 0; first < rows; first += kBlock) {
    const std::vector<double> times = reader.times(first, kBlock);
    for (Body& body : bodies) {
      body.position = reader.read("bodies/" + body.name + "/position", first, kBlock);
      if (body.has_orientation) body.orientation = reader.read("bodies/" + body.name + "/orientation", first, kBlock);
      if (with_velocity) body.velocity = reader.read("bodies/" + body.name + "/velocity", first, kBlock);
    }
    for (std::uint64_t i = (stride - first % stride) % stride; i < times.size(); i += stride) {
      const std::string name = fmt::format("frame_{:06}.vtp", frames);
      folder.add(name, frame_of(bodies, times[i], static_cast<Eigen::Index>(i), with_velocity).text());
      list(times[i], 0, name);
      for (std::size_t k = 0; k < parts.size(); ++k) {
        const VtkFile file = parts[k](frames, first + i, times[i]);
        folder.add(file.name, file.bytes);
        list(times[i], k + 1, file.name);
      }
      ++frames;
    }
  }
  series.stream() << "</Collection>\n</VTKFile>\n";
  folder.publish();
  series.publish();  // last: the series is never ahead of its frames
  return frames;
}

}  // namespace clatter::record

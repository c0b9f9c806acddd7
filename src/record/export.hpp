// Result files in the formats of other programs: CSV tables and ParaView time series.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/output_file.hpp"
#include "record/reader.hpp"

namespace clatter::record {

// `*` stands for any run of characters (slashes too), `?` for one.
bool matches_glob(std::string_view pattern, std::string_view text);

// RFC 4180 with one header line: "time [s]", then "name.component [unit]" for each component of each channel that
// matches one of the globs (all when there are none), in recorded order. Numbers have the fewest digits that read back
// to the same bits. A glob that matches nothing is a ResultError.
void export_csv(const Reader& reader, std::ostream& out, const std::vector<std::string>& globs = {});
// Into a file (base/output_file.hpp); the result itself is among what must not be replaced.
void export_csv(const Reader& reader, const std::string& path, const std::vector<std::string>& globs = {},
                OutputRules rules = {});
inline constexpr OutputKind kTable{"a table of `clatter export`", "time [s]", OutputKind::At::start};

// ParaView time series: `base`.pvd and one `base`_vtp/frame_NNNNNN.vtp for every `stride`-th row. Each frame has one
// point per body: every channel "bodies/<name>/position" (3 components). Point data: body (index), axis_x, axis_y,
// axis_z (columns of the rotation matrix, from "bodies/<name>/orientation", a quaternion w x y z; the unit axes without
// one), and velocity when every body records "bodies/<name>/velocity". Names are in the field data "body_names".
// Further parts (meshes of flexible bodies) give a file of their own for each frame. Returns the number of frames.
// The folder is made beside and takes its name when it is whole; what else was in an older one stays.
struct VtkFile {
  std::string name, bytes;
};
using VtkPart = std::function<VtkFile(std::uint64_t frame, std::uint64_t row, double t)>;
std::uint64_t export_vtk(const Reader& reader, const std::string& base, std::uint64_t stride = 1,
                         const std::vector<VtkPart>& parts = {}, OutputRules rules = {});
inline constexpr OutputKind kSeries{"a series of `clatter export`", "<!-- clatter export -->"};

}  // namespace clatter::record

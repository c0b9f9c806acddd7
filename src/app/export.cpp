#include "record/export.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <filesystem>
#include <ostream>

#include "app/commands.hpp"
#include "app/flexible_mesh.hpp"
#include "app/text.hpp"
#include "base/error.hpp"
#include "study/channels.hpp"

namespace clatter::app {

namespace fs = std::filesystem;

int export_result(const ExportOptions& options, const Console& console) {
  if (!options.csv && !options.vtk) {
    throw InputError("export needs to know the format", "add --csv for a table or --vtk for ParaView");
  }
  const record::Reader reader(options.result);
  const std::string beside = fs::path(options.result).replace_extension().string();
  if (options.csv) {
    const std::vector<std::string> names = study::matching_channels(reader, options.channels);
    if (*options.csv == "-") {
      record::export_csv(reader, console.out, names);
    } else {
      const std::string path = options.csv->empty() ? beside + ".csv" : *options.csv;
      record::export_csv(reader, path, names, {{}, options.force});
      fmt::print(console.out, "{}: {}, {}\n", path, counted(names.size(), "channel"),
                 counted(reader.rows().samples, "row"));
    }
  }
  if (options.vtk) {
    const std::string base = options.vtk->empty() ? beside : fs::path(*options.vtk).string();
    const std::uint64_t frames =
        record::export_vtk(reader, base, options.stride, mesh_parts(reader), {{}, options.force});
    fmt::print(console.out, "{}.pvd: {} (open it in ParaView)\n", base, counted(frames, "frame"));
  }
  return kDone;
}

}  // namespace clatter::app

// Fuzz target of the model loader: any bytes are a model file or an InputError, never a crash, a hang or a leak.
//
// Included files come from the input itself: everything after a line `--- file NAME` is the text of that file. Nothing
// is read from disk.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "model/load.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  static const std::string mark = "\n--- file ";
  std::map<std::string, std::string> files;
  std::size_t at = input.find(mark);
  const std::string text = input.substr(0, at == std::string::npos ? input.size() : at + 1);
  while (at != std::string::npos) {
    const std::size_t name = at + mark.size();
    const std::size_t line = input.find('\n', name);
    if (line == std::string::npos) break;
    const std::size_t next = input.find(mark, line);
    files[input.substr(name, line - name)] = input.substr(line + 1, next == std::string::npos ? next : next - line);
    at = next;
  }
  clatter::LoadOptions options;
  options.max_bytes = 1 << 20;
  options.max_nodes = 20'000;
  options.max_objects = 2'000;
  options.read_file = [&](const std::string& path) -> std::optional<std::string> {
    const auto it = files.find(path);
    if (it == files.end()) return {};
    return it->second;
  };
  try {
    const clatter::Model model = clatter::load_model_text(text, "model", options);
    // A model that loads has nothing in it that is not a number.
    for (const auto& b : model.bodies)
      if ((b.pose && !b.pose->position.allFinite()) || !(b.mass > 0) || !b.inertia.allFinite() ||
          !b.center_of_mass.allFinite())
        __builtin_trap();
    for (const auto& j : model.joints)
      if (!j.a.placement.position.allFinite() || !j.b.placement.rotation.coeffs().allFinite()) __builtin_trap();
  } catch (const clatter::InputError& e) {
    if (e.diagnostics().empty() || e.what()[0] == '\0') __builtin_trap();
  }
  return 0;
}

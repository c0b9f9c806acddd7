// A damaged result is refused by name, or what is read of it is what was written.
#include "damage.hpp"
#include "record/reader.hpp"
#include "result_file.hpp"

namespace {

// Everything a reader tells of the numbers.
std::string numbers(const std::string& path) {
  using namespace clatter::record;
  const Reader r(path);
  std::ostringstream out;
  out.precision(17);
  for (const double t : r.times()) out << t << ' ';
  for (const Channel& c : r.channels()) out << c.name << ' ' << c.unit << ' ' << r.read(c.name) << '\n';
  for (const double t : r.ledger_times()) out << t << ' ';
  for (const Channel& c : r.ledger_channels()) out << c.name << ' ' << c.unit << ' ' << r.read_ledger(c.name) << '\n';
  for (const Event& e : r.events()) out << e.t << ' ' << e.kind << ' ' << e.element << ' ' << e.text << '\n';
  return out.str();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const clatter::fuzz::ResultFile file;
  static const std::string right = numbers(file.write(file.whole()));
  try {
    if (numbers(file.write(clatter::fuzz::damaged(file.whole(), data, size))) != right) __builtin_trap();
  } catch (const clatter::record::ResultError& e) {
    if (e.what()[0] == '\0') __builtin_trap();
  }
  return 0;
}

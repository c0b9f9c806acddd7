// A damaged checkpoint is refused by name, or it is what was written; so is what a run that goes on from it keeps.
#include "damage.hpp"
#include "record/reader.hpp"
#include "result_file.hpp"

namespace {

bool same(const clatter::record::Checkpoint& a, const clatter::record::Checkpoint& b) {
  return a.t == b.t && a.state == b.state && a.memory == b.memory && a.counters == b.counters && a.rows == b.rows;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clatter::record;
  static const clatter::fuzz::ResultFile file;
  static const Checkpoint right = *Reader(file.write(file.whole())).last_checkpoint();
  const std::string& path = file.write(clatter::fuzz::damaged(file.whole(), data, size));
  try {
    const auto read = Reader(path).last_checkpoint();
    if (!read || !same(*read, right)) __builtin_trap();
    Writer::resume(path, 3).finish(Status::kInterrupted, "");
    const auto kept = Reader(path).last_checkpoint();
    if (!kept || !same(*kept, right)) __builtin_trap();
  } catch (const ResultError& e) {
    if (e.what()[0] == '\0') __builtin_trap();
  }
  return 0;
}

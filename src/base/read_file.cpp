#include "base/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/error.hpp"

namespace clatter {
namespace {

struct Descriptor {
  int number;
  explicit Descriptor(int n) : number(n) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

std::optional<std::string> read_regular_file(const std::string& path, std::size_t most_bytes) {
  const auto fail = [&](const std::string& what) { throw InputError(Source{path, 0, 0}, what); };
  // Without O_NONBLOCK a pipe would be waited for here already.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0) return {};
  struct stat about {};
  if (::fstat(file.number, &about) != 0) return {};
  if (S_ISDIR(about.st_mode)) fail("this is a folder, not a file");
  if (!S_ISREG(about.st_mode)) fail("this is a device or a pipe, not a file");
  const auto too_large = [&](std::size_t size) {
    fail(fmt::format("this file is too large ({} bytes; at most {})", size, most_bytes));
  };
  const auto size = static_cast<std::size_t>(about.st_size);
  if (size > most_bytes) too_large(size);
  // One byte more than there should be tells a file that has grown meanwhile (or one of /proc, whose size is told as
  // 0).
  std::string all(size + 1, '\0');
  std::size_t have = 0;
  while (true) {
    const ssize_t got = ::read(file.number, all.data() + have, all.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(fmt::format("this file cannot be read: {}", std::strerror(errno)));
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
    if (have > most_bytes) too_large(have);
    if (have == all.size()) all.resize(2 * have + 4096);
  }
  all.resize(have);
  return all;
}

}  // namespace clatter

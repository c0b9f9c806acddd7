// Files that commands leave behind. A file appears under its name whole or not at all: it is written under another name
// beside it, brought to the disk and renamed. And it never costs the user another file:
//   - a file that the command reads is not replaced, by whatever path or link it is named (device and inode decide);
//   - a file that is there is replaced only where it carries the mark of what is being written, is empty, or the user
//     said so (--force).
// A name that stands for no regular file (a pipe, /dev/stdout) is written to directly.
#pragma once

#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace clatter {

// What is written, and the mark by which such a file is known: in its first bytes, or in its last 1024.
struct OutputKind {
  std::string_view what;  // "a table of `clatter export`"
  std::string_view mark;
  enum class At { start, first_or_last_bytes } at = At::first_or_last_bytes;
};

struct OutputRules {
  std::vector<std::string> inputs;  // what the command reads
  bool force = false;
};

// The disk takes nothing more.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws InputError where a file of this kind must not be written here.
void refuse_output(const std::string& path, const OutputKind& kind, const OutputRules& rules);
// Only the first of the rules.
void refuse_input_as_output(const std::string& path, const std::vector<std::string>& inputs);
// Whether the file is there and carries the mark.
bool has_mark(const std::string& path, const OutputKind& kind);

class OutputFile {
 public:
  // Refuses at once, so that nothing is computed in vain; the disk is not touched before the first byte.
  OutputFile(std::string path, const OutputKind& kind, OutputRules rules = {});
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();  // without publish(): nothing is left

  std::ostream& stream();
  void publish();
  const std::string& path() const { return path_; }

 private:
  class Buffer;
  [[noreturn]] void fail(int error) const;
  std::string path_, target_, part_;
  OutputKind kind_;
  OutputRules rules_;
  std::unique_ptr<Buffer> buffer_;
  std::unique_ptr<std::ostream> stream_;
};

void write_file(const std::string& path, std::string_view bytes, const OutputKind& kind, const OutputRules& rules = {});
// Makes a file that must not be there yet.
void write_new_file(const std::string& path, std::string_view bytes);

// A name beside `path` that nobody else uses.
std::string name_beside(const std::string& path);
// Brings `part` to the disk and gives it the name `path`; the error number, or 0.
int publish_part(const std::string& part, const std::string& path);

}  // namespace clatter

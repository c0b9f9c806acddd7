#include "base/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <streambuf>

#include "base/error.hpp"

namespace clatter {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLookedAt = 1024;  // bytes at either end

bool same_file(const std::string& a, const std::string& b) {
  struct stat x {};
  struct stat y {};
  return ::stat(a.c_str(), &x) == 0 && ::stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

// Regular files alone can be replaced by another.
bool is_stream(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

std::string cannot(const std::string& path, int error) {
  return fmt::format("{} cannot be written ({})", path, std::strerror(error));
}

[[noreturn]] void fail_with(const std::string& path, int error) {
  for (const int number : {ENOSPC, EFBIG, EDQUOT, EIO})
    if (error == number) throw OutputError(cannot(path, error) + "; free some disk space, or choose another place");
  throw InputError(cannot(path, error), "check the folder, or choose another place");
}

int write_all(int fd, const char* data, std::size_t count) {
  while (count > 0) {
    const ssize_t n = ::write(fd, data, count);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    data += n;
    count -= static_cast<std::size_t>(n);
  }
  return 0;
}

}  // namespace

bool has_mark(const std::string& path, const OutputKind& kind) {
  std::ifstream in(path, std::ios::binary);
  const auto bytes = [&](std::streamoff from) {
    std::string text(kLookedAt, '\0');
    in.clear();
    in.seekg(from);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
  };
  if (!in) return false;
  const std::string head = bytes(0);
  if (kind.at == OutputKind::At::start) return head.starts_with(kind.mark);
  in.clear();
  in.seekg(0, std::ios::end);
  const std::streamoff size = in.tellg();
  return head.find(kind.mark) != head.npos ||
         bytes(std::max<std::streamoff>(0, size - static_cast<std::streamoff>(kLookedAt))).find(kind.mark) !=
             std::string::npos;
}

void refuse_input_as_output(const std::string& path, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs)
    if (same_file(path, input))
      throw InputError(path == input ? fmt::format("{} is read by this command and cannot be written by it", path)
                                     : fmt::format("{} is the same file as {}, which this command reads", path, input),
                       "choose another name");
}

void refuse_output(const std::string& path, const OutputKind& kind, const OutputRules& rules) {
  if (fs::path(path).filename().empty()) throw InputError(fmt::format("`{}` is not a file name", path));
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    const fs::path folder = fs::path(path).parent_path();
    if (errno != ENOENT && errno != ENOTDIR) fail_with(path, errno);
    if (!folder.empty() && ::stat(folder.c_str(), &info) != 0)
      throw InputError(cannot(path, errno), fmt::format("make the folder {} first", folder.string()));
    return;
  }
  if (S_ISDIR(info.st_mode)) throw InputError(fmt::format("{} is a folder", path), "give a file name inside it");
  refuse_input_as_output(path, rules.inputs);
  if (rules.force || !S_ISREG(info.st_mode) || info.st_size == 0 || has_mark(path, kind)) return;
  throw InputError(fmt::format("{} is there already and is not {}", path, kind.what),
                   "choose another name, or replace it with --force");
}

std::string name_beside(const std::string& path) {
  static std::atomic<unsigned> serial{0};
  return fmt::format("{}.{}-{}.part", path, ::getpid(), serial++);
}

int publish_part(const std::string& part, const std::string& path) {
  const int fd = ::open(part.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int synced = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  if (synced != 0 && synced != EINVAL && synced != EROFS) return synced;  // some file systems have no such thing
  return std::rename(part.c_str(), path.c_str()) == 0 ? 0 : errno;
}

class OutputFile::Buffer final : public std::streambuf {
 public:
  explicit Buffer(int fd) : fd_(fd) { setp(bytes_.data(), bytes_.data() + bytes_.size()); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() override { ::close(fd_); }
  int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  int sync() override {
    if (error_ == 0) error_ = write_all(fd_, pbase(), static_cast<std::size_t>(pptr() - pbase()));
    setp(bytes_.data(), bytes_.data() + bytes_.size());
    return error_ == 0 ? 0 : -1;
  }

 private:
  int fd_, error_ = 0;
  std::array<char, 65536> bytes_{};
};

OutputFile::OutputFile(std::string path, const OutputKind& kind, OutputRules rules)
    : path_(std::move(path)), kind_(kind), rules_(std::move(rules)) {
  refuse_output(path_, kind_, rules_);
}

OutputFile::~OutputFile() {
  buffer_.reset();
  if (!part_.empty()) ::unlink(part_.c_str());
}

void OutputFile::fail(int error) const { fail_with(path_, error); }

std::ostream& OutputFile::stream() {
  if (stream_) return *stream_;
  int fd = -1;
  if (is_stream(path_)) {
    fd = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    // Through a symbolic link to where the file is.
    std::error_code error;
    const fs::path real = fs::weakly_canonical(path_, error);
    target_ = error ? path_ : real.string();
    part_ = name_beside(target_);
    fd = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (fd < 0) {
    const int error = errno;
    part_.clear();
    fail(error);
  }
  buffer_ = std::make_unique<Buffer>(fd);
  stream_ = std::make_unique<std::ostream>(buffer_.get());
  return *stream_;
}

void OutputFile::publish() {
  stream().flush();
  if (const int error = buffer_->error(); error != 0) fail(error);
  if (part_.empty()) return;
  refuse_output(path_, kind_, rules_);  // somebody may have been faster
  struct stat old {};
  if (::stat(target_.c_str(), &old) == 0) ::chmod(part_.c_str(), old.st_mode & 07777);
  if (const int error = publish_part(part_, target_); error != 0) fail(error);
  part_.clear();
}

void write_file(const std::string& path, std::string_view bytes, const OutputKind& kind, const OutputRules& rules) {
  OutputFile file(path, kind, rules);
  file.stream().write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.publish();
}

void write_new_file(const std::string& path, std::string_view bytes) {
  const std::string part = name_beside(path);
  const int fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) fail_with(path, errno);
  int error = write_all(fd, bytes.data(), bytes.size());
  if (error == 0 && ::fsync(fd) != 0 && errno != EINVAL && errno != EROFS) error = errno;
  ::close(fd);
  // Both fail where there is a file, even one made at this moment; not every file system has the first.
  if (error == 0 && ::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0)
    error = errno == EINVAL && ::link(part.c_str(), path.c_str()) == 0 ? 0 : errno;
  ::unlink(part.c_str());
  if (error == EEXIST)
    throw InputError(fmt::format("{} is there already", path), "choose another name; nothing is overwritten");
  if (error != 0) fail_with(path, error);
}

}  // namespace clatter

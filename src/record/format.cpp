#include "record/format.hpp"

namespace clatter::record {

ResultError::ResultError(const std::string& path, const std::string& problem, const std::string& advice)
    : std::runtime_error(path + ": " + problem + (advice.empty() ? "" : "; " + advice)) {}

std::string_view to_string(Status status) {
  switch (status) {
    case Status::kRunning:
      return "running";
    case Status::kFinished:
      return "finished";
    case Status::kFailed:
      return "failed";
    case Status::kInterrupted:
      return "interrupted";
  }
  return "unknown";
}

std::string shortened(std::string_view text, std::size_t bytes) {
  constexpr std::string_view kEllipsis = "\xE2\x80\xA6";
  if (text.size() <= bytes) return std::string(text);
  if (bytes < kEllipsis.size()) return std::string(text.substr(0, bytes));
  std::size_t keep = bytes - kEllipsis.size();
  const auto continues = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U; };
  while (keep > 0 && continues(keep)) --keep;
  return std::string(text.substr(0, keep)).append(kEllipsis);
}

}  // namespace clatter::record

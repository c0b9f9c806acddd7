#include "base/error.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>

namespace clatter {

namespace {

std::string join(const std::vector<Diagnostic>& diagnostics) {
  std::string all;
  for (const auto& d : diagnostics) {
    if (!all.empty()) all += '\n';
    all += format(d);
  }
  return all;
}

std::string lower(std::string_view s) {
  std::string r(s);
  for (char& c : r) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return r;
}

// Optimal string alignment with three rolling rows; words longer than 64 letters are never near anything.
int edit_distance(std::string_view a, std::string_view b) {
  const std::size_t n = b.size();
  std::vector<int> before(n + 1), last(n + 1), now(n + 1);
  for (std::size_t j = 0; j <= n; ++j) last[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= n; ++j) {
      const int substitute = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, substitute});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[n];
}

std::string solve_text(const std::string& kind, double time, const std::vector<std::string>& elements,
                       const std::string& message, const std::string& advice) {
  std::string s = fmt::format("{} at t = {:.9g} s: {}", kind, time, message);
  if (!elements.empty()) {
    s += "\n  concerns: ";
    const std::size_t shown = std::min<std::size_t>(elements.size(), 12);
    for (std::size_t i = 0; i < shown; ++i) s += (i ? ", " : "") + elements[i];
    if (elements.size() > shown) s += fmt::format(" and {} more", elements.size() - shown);
  }
  if (!advice.empty()) s += "\n  try: " + advice;
  return s;
}

}  // namespace

std::string format(const Diagnostic& d) {
  std::string s;
  if (!d.source.file.empty()) s += d.source.file + ":";
  if (d.source.line > 0) s += fmt::format("{}:{}:", d.source.line, d.source.column);
  if (!s.empty()) s += ' ';
  s += d.message;
  if (!d.text.empty()) {
    // Long lines are cut around the caret; tabs keep their place under the caret line.
    const std::size_t caret = static_cast<std::size_t>(std::max(0, d.source.column - 1));
    std::string line = d.text;
    std::size_t shift = 0;
    if (line.size() > 160) {
      shift = caret > 80 ? caret - 80 : 0;
      line = shift < line.size() ? line.substr(shift, 160) : std::string();
    }
    std::string below;
    for (std::size_t i = shift; i < caret && i - shift < line.size(); ++i) {
      const auto c = static_cast<unsigned char>(line[i - shift]);
      if (c == '\t')
        below += '\t';
      else if (c < 0x80 || c >= 0xc0)  // one mark a character, not one a byte
        below += ' ';
    }
    for (char& c : line)
      if (static_cast<unsigned char>(c) < 0x20 && c != '\t') c = ' ';
    s += "\n    " + line + "\n    " + below + "^";
  }
  if (!d.hint.empty()) s += "\n    " + d.hint;
  return s;
}

InputError::InputError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(join(diagnostics)), diagnostics_(std::move(diagnostics)) {}
InputError::InputError(std::string message, std::string hint)
    : InputError(std::vector<Diagnostic>{{{}, std::move(message), std::move(hint), {}}}) {}
InputError::InputError(Source source, std::string message, std::string hint)
    : InputError(std::vector<Diagnostic>{{std::move(source), std::move(message), std::move(hint), {}}}) {}

InputError::InputError(const std::vector<std::pair<std::string, std::string>>& texts, Source source,
                       std::string message, std::string hint)
    : InputError([&] {
        std::string line;
        for (const auto& [file, text] : texts)
          if (file == source.file) line = std::string(line_of(text, source.line));
        return std::vector<Diagnostic>{{source, std::move(message), std::move(hint), line}};
      }()) {}

SolveError::SolveError(std::string kind, double time, std::vector<std::string> elements, std::string message,
                       std::string advice)
    : std::runtime_error(solve_text(kind, time, elements, message, advice)),
      kind_(std::move(kind)),
      time_(time),
      elements_(std::move(elements)),
      message_(std::move(message)),
      advice_(std::move(advice)) {}

std::string_view line_of(std::string_view text, int line) {
  for (int i = 1; i < line; ++i) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  if (line < 1) return {};
  text = text.substr(0, text.find('\n'));
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > 64) return {};
  const std::string w = lower(word);
  std::string best;
  int least = 1 << 20;
  for (const auto& candidate : candidates) {
    if (candidate.empty() || candidate.size() > 64) continue;
    const int longer = static_cast<int>(std::max(w.size(), candidate.size()));
    const int allowed = longer <= 2 ? 1 : (longer <= 5 ? 2 : (longer + 2) / 3);
    const int spread = std::abs(static_cast<int>(w.size()) - static_cast<int>(candidate.size()));
    if (spread > allowed || spread >= least) continue;
    const int d = edit_distance(w, lower(candidate));
    if (d <= allowed && d < longer && d < least) least = d, best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string near = nearest_word(word, candidates);
  return near.empty() ? std::string() : "did you mean `" + near + "`?";
}

}  // namespace clatter

#include "app/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "app/text.hpp"

namespace clatter::app {

namespace {

constexpr double kRedrawInterval = 0.1;  // s, on a terminal
constexpr double kFirstLine = 2.0;       // s until the first plain line: short runs print none
constexpr double kLineInterval = 5.0;

int terminal_width(std::FILE* out) {
  winsize size{};
  if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view v = value;
    return v.find("UTF-8") != v.npos || v.find("utf8") != v.npos || v.find("UTF8") != v.npos;
  }
  return false;
}

std::string bar_text(double fraction, int width, bool utf8) {
  const int eighths = static_cast<int>(std::floor(fraction * width * 8));
  const int full = utf8 ? eighths / 8 : static_cast<int>(std::floor(fraction * width));
  std::string s = "[";
  for (int i = 0; i < full; ++i) s += utf8 ? "\u2588" : "#";
  int used = full;
  if (utf8 && eighths % 8 != 0) {
    static constexpr const char* kPart[] = {"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"};
    s += kPart[eighths % 8];
    ++used;
  }
  s.append(static_cast<std::size_t>(width - used), utf8 ? ' ' : '.');
  return s + "]";
}

}  // namespace

std::string progress_text(const ProgressReport& r, int bar, bool utf8) {
  const double span = r.end - r.start;
  const double fraction = span > 0 ? std::clamp((r.t - r.start) / span, 0.0, 1.0) : 1.0;
  const double speed = r.wall > 0 ? (r.t - r.first) / r.wall : 0;
  std::string s;
  if (bar > 0) s += bar_text(fraction, bar, utf8) + " ";
  s += fmt::format("{:3.0f}%  t {:.4g} of {:.4g} s", std::floor(100 * fraction), r.t, r.end);
  if (speed > 0) s += fmt::format("  {:.3g} s/s  {} left", speed, duration((r.end - r.t) / speed));
  s += fmt::format("  h {:.2g} s  {}", r.step, counted(r.steps, "step"));
  if (r.events > 0) s += "  " + counted(r.events, "event");
  return s;
}

ProgressBar::ProgressBar(double start, double end, double first, bool quiet, std::FILE* out)
    : out_(out), quiet_(quiet), began_(std::chrono::steady_clock::now()) {
  report_.start = start;
  report_.end = end;
  report_.first = report_.t = first;
  terminal_ = isatty(fileno(out)) != 0;
  utf8_ = speaks_utf8();
  next_draw_ = terminal_ ? 0.2 : kFirstLine;
}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::update(double t, double step, std::uint64_t steps, std::uint64_t events) {
  if (quiet_) return;
  report_.t = t;
  report_.step = step;
  report_.steps = steps;
  report_.events = events;
  report_.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  if (report_.wall < next_draw_) return;
  draw();
  next_draw_ = report_.wall + (terminal_ ? kRedrawInterval : kLineInterval);
}

void ProgressBar::draw() {
  if (!terminal_) {
    fmt::print(out_, "{}\n", progress_text(report_, 0, false));
    std::fflush(out_);
    return;
  }
  const auto width = static_cast<std::size_t>(terminal_width(out_)) - 1;
  const std::string plain = progress_text(report_, 0, utf8_);
  const int room = static_cast<int>(width) - static_cast<int>(columns(plain)) - 3;
  std::string line = progress_text(report_, std::clamp(room, 0, 30), utf8_);
  if (room < 6) line = plain.substr(0, std::min(plain.size(), width));
  fmt::print(out_, "\r{}\x1b[K", line);
  std::fflush(out_);
  drawn_ = true;
}

void ProgressBar::clear() {
  if (!drawn_) return;
  fmt::print(out_, "\r\x1b[K");
  std::fflush(out_);
  drawn_ = false;
}

std::string stage_text(const std::string& what, const std::string& stage, double fraction, double wall, int bar,
                       bool utf8) {
  fraction = std::clamp(fraction, 0.0, 1.0);
  std::string s;
  if (bar > 0) s += bar_text(fraction, bar, utf8) + " ";
  return s + fmt::format("{:3.0f}%  {}: {}  {}", std::floor(100 * fraction), what, stage, duration(wall));
}

StageBar::StageBar(std::string what, bool quiet, std::FILE* out)
    : what_(std::move(what)), out_(out), quiet_(quiet), began_(std::chrono::steady_clock::now()) {
  terminal_ = isatty(fileno(out)) != 0;
  utf8_ = speaks_utf8();
  next_draw_ = terminal_ ? 0.2 : kFirstLine;
}

StageBar::~StageBar() { clear(); }

double StageBar::wall() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

void StageBar::update(const std::string& stage, double fraction) {
  if (quiet_) return;
  const double now = wall();
  if (now < next_draw_) return;
  next_draw_ = now + (terminal_ ? kRedrawInterval : kLineInterval);
  const std::string plain = stage_text(what_, stage, fraction, now, 0, utf8_);
  if (!terminal_) {
    fmt::print(out_, "{}\n", plain);
    std::fflush(out_);
    return;
  }
  const auto width = static_cast<std::size_t>(terminal_width(out_)) - 1;
  const int room = static_cast<int>(width) - static_cast<int>(columns(plain)) - 3;
  std::string line = stage_text(what_, stage, fraction, now, std::clamp(room, 0, 30), utf8_);
  if (room < 6) line = plain.substr(0, std::min(plain.size(), width));
  fmt::print(out_, "\r{}\x1b[K", line);
  std::fflush(out_);
  drawn_ = true;
}

void StageBar::clear() {
  if (!drawn_) return;
  fmt::print(out_, "\r\x1b[K");
  std::fflush(out_);
  drawn_ = false;
}

}  // namespace clatter::app

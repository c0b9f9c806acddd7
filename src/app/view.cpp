// `clatter view`: the result's page, served on this machine to the one who started it.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <ostream>
#include <thread>

#include "app/commands.hpp"
#include "app/result_page.hpp"
#include "app/stop_signals.hpp"
#include "base/error.hpp"
#include "view/blocks.hpp"
#include "view/json.hpp"
#include "view/loopback_server.hpp"

namespace clatter::app {

namespace fs = std::filesystem;

namespace {

struct BadRequest {
  std::string what;
};

std::uint64_t whole_number(const view::Request& request, std::string_view name, std::uint64_t otherwise) {
  const std::string_view text = request[name];
  if (text.empty()) return otherwise;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw BadRequest{fmt::format("`{}` is not a whole number", name)};
  return value;
}

double real_number(const view::Request& request, std::string_view name, double otherwise) {
  const std::string_view text = request[name];
  if (text.empty()) return otherwise;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw BadRequest{fmt::format("`{}` is not a number", name)};
  return value;
}

// "3", "0-6", "1,4-9": places of channels.
std::vector<std::size_t> places(std::string_view text, std::size_t known) {
  std::vector<std::size_t> list;
  const auto take = [&](std::string_view part) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || value >= known)
      throw BadRequest{fmt::format("there is no channel {}", part)};
    return value;
  };
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = part.find('-');
    const std::size_t first = take(part.substr(0, dash));
    const std::size_t last = dash == part.npos ? first : take(part.substr(dash + 1));
    for (std::size_t i = first; i <= last; ++i) list.push_back(i);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return list;
}

// The result behind the page. A run that writes the file anew is noticed: the page then starts over.
class ViewedResult {
 public:
  explicit ViewedResult(std::string path) : path_(std::move(path)) { open(); }

  view::Response answer(const view::Request& request) {
    try {
      return {200, binary(request.path) ? "application/octet-stream" : "application/json", body(request)};
    } catch (const BadRequest& bad) {
      return {400, "application/json", error_json(bad.what)};
    } catch (const std::exception& error) {
      reader_.reset();  // the next request tries again
      return {500, "application/json", error_json(error.what())};
    }
  }

  bool knows(std::string_view path) const { return path.starts_with("/data/"); }

 private:
  static bool binary(std::string_view path) {
    return path == "/data/rows" || path == "/data/series" || path == "/data/surface";
  }

  static std::string error_json(std::string_view what) {
    view::Json json;
    return json.object().put("error", what).end().take();
  }

  void open() {
    reader_.emplace(path_);
    struct stat info {};
    opened_ = ::stat(path_.c_str(), &info) == 0 ? info.st_ino : 0;
    ++generation_;
  }

  std::string body(const view::Request& request) {
    if (!reader_) open();
    if (request.path == "/data/meta") {
      reopen_if_replaced();
      reader_->refresh();
      return with_generation(meta_json(*reader_));
    }
    if (request.path == "/data/progress") {
      reopen_if_replaced();
      reader_->refresh();
      return with_generation(progress_json(*reader_));
    }
    if (request.path == "/data/checks") return checks_json(*reader_);
    if (request.path == "/data/events")
      return events_json(*reader_, whole_number(request, "first", 0), whole_number(request, "count", kMostEvents));
    const view::TableName table = request["table"] == "ledger" ? view::TableName::ledger : view::TableName::samples;
    const auto& channels = table == view::TableName::ledger ? reader_->ledger_channels() : reader_->channels();
    if (request.path == "/data/rows")
      return view::rows_block(*reader_,
                              {table, places(request["c"], channels.size()), whole_number(request, "first", 0),
                               whole_number(request, "count", 1), whole_number(request, "stride", 1)});
    if (request.path == "/data/series") {
      const std::vector<std::size_t> which = places(request["c"], channels.size());
      if (which.size() != 1) throw BadRequest{"one channel is wanted"};
      const bool length = request["k"] == "length";
      const std::uint64_t k = length ? 0 : whole_number(request, "k", 0);
      if (k >= static_cast<std::uint64_t>(channels[which[0]].width)) throw BadRequest{"there is no such component"};
      constexpr double kEver = std::numeric_limits<double>::max();
      return view::series_block(
          *reader_, {table, which[0], length ? -1 : static_cast<int>(k), real_number(request, "from", -kEver),
                     real_number(request, "to", kEver), whole_number(request, "points", 4000)});
    }
    if (request.path == "/data/surface") return surface(request);
    throw BadRequest{"nothing is known by this name"};
  }

  std::string surface(const view::Request& request) const {
    const auto& surfaces = reader_->info().surfaces;
    const std::uint64_t i = whole_number(request, "i", 0);
    if (i >= surfaces.size()) throw BadRequest{"there is no such surface"};
    const record::Surface& s = surfaces[i];
    const auto bytes = [](const auto& list) {
      return std::string(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(list[0]));
    };
    if (request["part"] == "vertices") return bytes(s.vertices);
    if (request["part"] == "triangles") return bytes(s.triangles);
    if (request["part"] == "modes") return bytes(s.modes);
    throw BadRequest{"a surface has vertices, triangles and modes"};
  }

  void reopen_if_replaced() {
    struct stat info {};
    if (::stat(path_.c_str(), &info) == 0 && info.st_ino != opened_) open();
  }

  std::string with_generation(std::string json) const {
    json.pop_back();
    return json + fmt::format(",\"generation\":{}}}", generation_);
  }

  std::string path_;
  std::optional<record::Reader> reader_;
  ino_t opened_ = 0;
  int generation_ = 0;
};

bool on_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
  const char* list = std::getenv("PATH");
  std::string_view rest = list != nullptr ? list : "";
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    if (::access((fs::path(rest.substr(0, colon)) / program).c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return false;
}

// The program that opens addresses: $BROWSER, or the desktop's own where there is a desktop. Empty: none.
std::string browser() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  std::string chosen = variable("BROWSER");
  chosen = chosen.substr(0, chosen.find(':'));
  if (!chosen.empty()) return chosen;
  const bool desktop = !variable("DISPLAY").empty() || !variable("WAYLAND_DISPLAY").empty();
  if (!desktop) return {};
  for (const char* program : {"xdg-open", "sensible-browser", "chromium", "firefox"})
    if (on_path(program)) return program;
  return {};
}

// Starts the browser away from this terminal. What becomes of it is not waited for, but a start that fails is told.
void open_browser(const std::string& address, const Console& console) {
  const std::string program = browser();
  if (program.empty() || !on_path(program)) {
    fmt::print(console.err, "note: {}; open the address above yourself\n",
               program.empty() ? "no browser was found here"
                               : fmt::format("the browser `{}` ($BROWSER) is not there", program));
    return;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd) ::dup2(nowhere, fd);
    ::execlp(program.c_str(), program.c_str(), address.c_str(), nullptr);
    ::_exit(127);
  }
  if (child > 0) {
    std::thread([child, program, &err = console.err] {
      int status = 0;
      if (::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) != 0)
        fmt::print(err, "note: `{}` could not open the page; open the address above yourself\n", program);
    }).detach();
  } else {
    fmt::print(console.err, "note: the browser could not be started; open the address above yourself\n");
  }
}

}  // namespace

int view_result(const ViewOptions& options, const Console& console) {
  const std::string extension = fs::path(options.result).extension().string();
  if (extension == ".yaml" || extension == ".yml") return view_model(options, console);
  ViewedResult result(options.result);
  const std::string page = load_page();
  view::LoopbackServer server(options.port, [&](const view::Request& request) -> view::Response {
    if (request.path == "/") return {200, "text/html; charset=utf-8", page};
    if (result.knows(request.path)) return result.answer(request);
    return {404, "text/plain; charset=utf-8", "there is nothing here\n"};
  });
  const StopSignals signals;
  fmt::print(console.out, "{}: {}\n", options.result, server.address());
  console.out.flush();
  if (options.browser) open_browser(server.address(), console);
  fmt::print(console.err, "Ctrl-C ends it\n");
  server.serve(StopSignals::requested());
  return kDone;
}

}  // namespace clatter::app

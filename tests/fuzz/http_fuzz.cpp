// Any bytes sent to the viewer's server are answered by HTTP or the connection is closed; nothing reaches the program
// but requests that hold the secret, and the next request is answered as ever.
//
// In the input `secret` stands for the address's secret and `:1` for the port, so that the way behind them is tried
// too. Connections are socket pairs that the server adopts: no ports, no threads, the same course for the same bytes.
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "text_reader_fuzz.hpp"
#include "view/loopback_server.hpp"

namespace {

using clatter::view::LoopbackServer;
using clatter::view::Request;
using clatter::view::Response;

class Served {
 public:
  Served()
      : server_(0, [](const Request& r) {
          if (r.path == "/alive") return Response{200, "text/plain", "alive"};
          return Response{404, "text/plain", r.path + std::string(r["first"])};
        }) {
    const std::string address = server_.address();
    const std::size_t slash = address.rfind('/', address.size() - 2);
    secret_ = address.substr(slash + 1, address.size() - slash - 2);
  }
  // What comes back until the server has closed the connection, which it does since nothing more is sent.
  std::string talk(const std::string& bytes) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) __builtin_trap();
    server_.adopt(ends[1]);
    std::string answer;
    std::size_t sent = 0;
    bool open = true;
    for (int quiet = 0; open; ++quiet) {
      if (quiet > 100000) __builtin_trap();  // neither taken nor answered
      if (sent < bytes.size()) {
        const ssize_t n = ::send(ends[0], bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (n > 0) sent += static_cast<std::size_t>(n), quiet = 0;
        if (n < 0 && errno != EAGAIN && errno != EINTR) sent = bytes.size();  // closed on us: its right
      }
      if (sent == bytes.size()) ::shutdown(ends[0], SHUT_WR);
      server_.look(0);
      char buffer[4096];
      ssize_t n = 0;
      while ((n = ::recv(ends[0], buffer, sizeof buffer, 0)) > 0) {
        answer.append(buffer, static_cast<std::size_t>(n));
        quiet = 0;
      }
      open = n < 0 && (errno == EAGAIN || errno == EINTR);
    }
    ::close(ends[0]);
    return answer;
  }
  std::string fill(std::string text) const {
    replace(text, "secret", secret_);
    replace(text, ":1", ":" + std::to_string(server_.port()));
    return text;
  }

 private:
  static void replace(std::string& text, const std::string& what, const std::string& with) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
      text.replace(at, what.size(), with);
  }
  LoopbackServer server_;
  std::string secret_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Served served;
  return clatter::fuzz::read_text(data, size, [](const std::string& text) {
    const std::string answer = served.talk(served.fill(text));
    if (!answer.empty() && !answer.starts_with("HTTP/1.1 ")) __builtin_trap();
    const std::string after =
        served.talk(served.fill("GET /secret/alive HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n"));
    if (!after.starts_with("HTTP/1.1 200 ") || !after.ends_with("alive")) __builtin_trap();
  });
}

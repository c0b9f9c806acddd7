// Any bytes sent to the viewer's server are answered by HTTP or the connection is closed; nothing reaches the program
// but requests that hold the secret, and the next request is answered as ever.
//
// In the input `secret` stands for the address's secret and `:1` for the port, so that the way behind them is tried
// too.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "text_reader_fuzz.hpp"
#include "view/loopback_server.hpp"

namespace {

using clatter::view::LoopbackServer;
using clatter::view::Request;
using clatter::view::Response;

class Served {
 public:
  Served()
      : server_(0,
                [](const Request& r) {
                  if (r.path == "/alive") return Response{200, "text/plain", "alive"};
                  return Response{404, "text/plain", r.path + std::string(r["first"])};
                }),
        thread_([this] { server_.serve(stop_); }) {
    const std::string address = server_.address();
    const std::size_t slash = address.rfind('/', address.size() - 2);
    secret_ = address.substr(slash + 1, address.size() - slash - 2);
  }
  ~Served() {
    stop_ = true;
    thread_.join();
  }
  // What comes back until the server closes or nothing more is owed.
  std::string talk(const std::string& bytes) const {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // Ports of closed connections rest for a minute. `./test` bounds the number of inputs, and each process comes from
    // an address of its own, of which this machine has many.
    sockaddr_in from{};
    from.sin_family = AF_INET;
    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + static_cast<std::uint32_t>(::getpid()) % 200);
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0) __builtin_trap();
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(server_.port()));
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) __builtin_trap();
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t n = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) break;  // closed on us: its right
      sent += static_cast<std::size_t>(n);
    }
    ::shutdown(fd, SHUT_WR);
    std::string answer;
    char buffer[4096];
    for (ssize_t n = 0; (n = ::recv(fd, buffer, sizeof buffer, 0)) > 0;)
      answer.append(buffer, static_cast<std::size_t>(n));
    ::close(fd);
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
  std::atomic<bool> stop_{false};
  std::thread thread_;
  std::string secret_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Served served;
  return clatter::fuzz::read_text(data, size, [](const std::string& text) {
    const std::string answer = served.talk(served.fill(text));
    if (!answer.empty() && !answer.starts_with("HTTP/1.1 ")) __builtin_trap();
    const std::string after =
        served.talk(served.fill("GET /secret/alive HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n"));
    if (!after.starts_with("HTTP/1.1 200 ") || !after.ends_with("alive")) __builtin_trap();
  });
}

#include "view/loopback_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "base/error.hpp"

namespace clatter::view {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kLongestHead = std::size_t{1} << 20U;  // thousands of channels may be asked for at once
constexpr std::size_t kLongestOfStranger = 8192;             // a head that does not begin with the secret
constexpr std::size_t kMostConnections = 64;
constexpr std::chrono::seconds kIdle{120};     // between the requests of one who had an answer
constexpr std::chrono::seconds kHeadTime{10};  // for a request to come in, however slowly its bytes drip
constexpr std::chrono::seconds kSendTime{60};  // without a byte of an answer being taken

std::string random_secret() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw InputError("the system gives no random numbers, so the page cannot be kept private");
  std::string out;
  for (const unsigned char b : bytes) out += fmt::format("{:02x}", b);
  return out;
}

// Takes the same time wherever the two differ.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
      out += static_cast<char>(16 * digit(text[i + 1]) + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

bool equal_without_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::optional<std::string_view> header(std::string_view head, std::string_view name) {
  std::size_t at = head.find("\r\n");
  while (at != head.npos && at + 2 < head.size()) {
    const std::size_t begin = at + 2;
    const std::size_t end = std::min(head.find("\r\n", begin), head.size());
    const std::string_view line = head.substr(begin, end - begin);
    const std::size_t colon = line.find(':');
    if (colon != line.npos && equal_without_case(line.substr(0, colon), name)) {
      std::string_view value = line.substr(colon + 1);
      while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
      while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
      return value;
    }
    at = end == head.size() ? head.npos : end;
  }
  return std::nullopt;
}

const char* reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    default:
      return "Internal Server Error";
  }
}

Response plain(int status, std::string text) { return {status, "text/plain; charset=utf-8", std::move(text)}; }

}  // namespace

std::string_view Request::operator[](std::string_view name) const {
  for (const auto& [key, value] : query)
    if (key == name) return value;
  return {};
}

struct LoopbackServer::Connection {
  explicit Connection(int descriptor) : fd(descriptor) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(fd); }
  int fd;
  std::string in, out;
  std::size_t sent = 0;
  bool last = false;   // close when everything is sent
  bool known = false;  // has had an answer to a request with the secret
  bool dead = false;
  Clock::time_point active = Clock::now();  // last byte
  Clock::time_point began = active;         // of the request that is coming in, or of waiting for it

  bool sending() const { return sent < out.size(); }
  bool overdue(Clock::time_point now) const {
    if (sending()) return now - active > kSendTime;
    if (known && in.empty()) return now - active > kIdle;
    return now - began > kHeadTime;
  }
};

LoopbackServer::LoopbackServer(int port, Answer answer) : answer_(std::move(answer)), secret_(random_secret()) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) throw InputError(fmt::format("no network socket can be made ({})", std::strerror(errno)));
  const int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) != 0 || ::listen(listener_, 32) != 0) {
    const int error = errno;
    ::close(listener_);
    if (error == EADDRINUSE)
      throw InputError(fmt::format("port {} is in use by another program", port),
                       "choose another with --port, or leave the option out to take any free one");
    throw InputError(fmt::format("port {} cannot be used ({})", port, std::strerror(error)),
                     "choose another with --port, or leave the option out to take any free one");
  }
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
}

LoopbackServer::~LoopbackServer() {
  if (listener_ >= 0) ::close(listener_);
}

std::string LoopbackServer::address() const { return fmt::format("http://127.0.0.1:{}/{}/", port_, secret_); }

void LoopbackServer::serve(const std::atomic<bool>& stop) {
  constexpr int kLookMilliseconds = 200;
  while (!stop) look(kLookMilliseconds);
  connections_.clear();
}

std::size_t LoopbackServer::look(int milliseconds) {
  polled_.assign(1, {listener_, POLLIN, 0});
  for (const auto& c : connections_) {
    polled_.push_back({c->fd, static_cast<short>(c->sending() ? POLLOUT : POLLIN), 0});
  }
  if (::poll(polled_.data(), polled_.size(), milliseconds) < 0) {
    if (errno != EINTR)
      throw std::runtime_error(fmt::format("connections cannot be watched ({})", std::strerror(errno)));
    return connections_.size();
  }
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    Connection& c = *connections_[i];
    const short happened = polled_[i + 1].revents;
    if ((happened & POLLOUT) != 0) work(c);
    if ((happened & POLLIN) != 0) receive(c);
    if ((happened & (POLLERR | POLLNVAL)) != 0 || ((happened & POLLHUP) != 0 && (happened & POLLIN) == 0))
      c.dead = true;
    if (c.overdue(Clock::now())) c.dead = true;
  }
  std::erase_if(connections_, [](const auto& c) { return c->dead; });
  if ((polled_[0].revents & POLLIN) != 0) accept_all();
  return connections_.size();
}

void LoopbackServer::adopt(int descriptor) {
  if (connections_.size() >= kMostConnections) make_room();
  connections_.push_back(std::make_unique<Connection>(descriptor));
  receive(*connections_.back());  // mostly the request is there already
}

void LoopbackServer::accept_all() {
  for (std::size_t i = 0; i < kMostConnections; ++i) {
    int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE) && !connections_.empty()) {
      make_room();
      fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    }
    if (fd < 0) return;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    adopt(fd);
  }
}

// Whoever has not shown the secret goes first, the oldest of them; then who has been still for the longest time.
void LoopbackServer::make_room() {
  const auto least = std::min_element(connections_.begin(), connections_.end(), [](const auto& a, const auto& b) {
    return std::pair(a->known, a->active) < std::pair(b->known, b->active);
  });
  connections_.erase(least);
}

void LoopbackServer::receive(Connection& c) {
  std::array<char, 16384> buffer{};
  const ssize_t n = ::recv(c.fd, buffer.data(), buffer.size(), 0);
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) c.dead = true;
  if (n <= 0) return;
  c.active = Clock::now();
  if (c.in.empty()) c.began = c.active;
  c.in.append(buffer.data(), static_cast<std::size_t>(n));
  work(c);
  const std::string_view rest = c.in;
  const bool stranger = !rest.starts_with("GET /" + secret_) && !rest.starts_with("HEAD /" + secret_);
  if (c.in.size() > (stranger ? kLongestOfStranger : kLongestHead)) c.dead = true;
}

bool LoopbackServer::answer_first_request(Connection& c) {
  const std::size_t end = c.in.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  const std::string head = c.in.substr(0, end);
  c.in.erase(0, end + 4);
  c.began = Clock::now();
  const Response r = respond(head);
  c.known = c.known || (r.status != 400 && r.status != 403 && r.status != 405);
  const auto wish = header(head, "connection");
  c.last = r.status == 405 || (wish && equal_without_case(*wish, "close"));
  // The page is one text that loads nothing from anywhere; whatever it shows of a model stays text.
  c.out = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: {}\r\nCache-Control: no-store\r\n"
      "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n"
      "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
      "img-src data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'\r\n\r\n",
      r.status, reason(r.status), r.type, r.body.size(), c.last ? "close" : "keep-alive");
  if (!head.starts_with("HEAD ")) c.out += r.body;
  return true;
}

void LoopbackServer::work(Connection& c) {
  while (!c.dead) {
    while (c.sending()) {
      const ssize_t n = ::send(c.fd, c.out.data() + c.sent, c.out.size() - c.sent, MSG_NOSIGNAL);
      if (n < 0) {
        if (errno == EINTR) continue;
        if (errno != EAGAIN) c.dead = true;
        return;
      }
      c.sent += static_cast<std::size_t>(n);
      c.active = Clock::now();
    }
    c.out.clear();
    c.sent = 0;
    if (c.last) c.dead = true;
    if (c.dead || !answer_first_request(c)) return;
  }
}

Response LoopbackServer::respond(std::string_view head) {
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const std::size_t first = line.find(' '), second = line.rfind(' ');
  if (first == line.npos || second <= first || !line.substr(second + 1).starts_with("HTTP/1."))
    return plain(400, "this is not a request\n");
  const std::string_view method = line.substr(0, first);
  if (method != "GET" && method != "HEAD") return plain(405, "only GET is answered here\n");
  const auto host = header(head, "host");
  const bool ours =
      host && (*host == fmt::format("127.0.0.1:{}", port_) || *host == fmt::format("localhost:{}", port_));
  std::string_view target = line.substr(first + 1, second - first - 1);
  const std::size_t mark = std::min(target.find('?'), target.size());
  const std::string_view query = target.substr(mark == target.size() ? mark : mark + 1);
  target = target.substr(0, mark);
  const std::size_t slash = target.size() > 1 ? std::min(target.find('/', 1), target.size()) : target.size();
  const bool known = ours && target.starts_with("/") && same_secret(target.substr(1, slash - 1), secret_);
  if (!known)
    return plain(403, "open the address that `clatter view` printed, with the letters and digits it ends in\n");

  Request request;
  request.path = decoded(target.substr(slash));
  for (std::size_t at = 0; at < query.size();) {
    const std::size_t end = std::min(query.find('&', at), query.size());
    const std::string_view pair = query.substr(at, end - at);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    request.query.emplace_back(decoded(pair.substr(0, equals)),
                               decoded(pair.substr(equals == pair.size() ? equals : equals + 1)));
    at = end + 1;
  }
  return answer_(request);
}

}  // namespace clatter::view

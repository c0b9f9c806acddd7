// A small HTTP server for one page on this machine: GET and HEAD, answers made whole in memory, one thread, many
// connections (poll).
//
// Who may ask: it listens on the loopback address only; the request must name this address as its host (a page of
// another site that had its name pointed here does not), and its path must begin with the secret the address that was
// printed holds. Everything else is answered 403 without touching anything. There are no files behind it.
//
// Who does not ask is not waited for: a request must come in within seconds, its head is bounded, and where all places
// are taken the oldest connection that has not shown the secret gives way to the next.
#pragma once

#include <poll.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clatter::view {

struct Request {
  std::string path;  // decoded, without the secret: "/", "/data/rows"
  std::vector<std::pair<std::string, std::string>> query;
  // Value of a parameter, or empty.
  std::string_view operator[](std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

class LoopbackServer {
 public:
  using Answer = std::function<Response(const Request&)>;

  // port 0: any free one. Throws InputError when the port is taken or may not be used.
  LoopbackServer(int port, Answer answer);
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  ~LoopbackServer();

  int port() const { return port_; }
  std::string address() const;  // http://127.0.0.1:PORT/SECRET/
  // Answers until `stop` becomes true (looked at several times a second).
  void serve(const std::atomic<bool>& stop);
  // One look at who has come and what they sent, waiting that long for something to happen; how many connections are
  // left. `adopt` adds one that was made elsewhere (one end of a socket pair, not blocking); it is closed here.
  std::size_t look(int milliseconds);
  void adopt(int descriptor);

 private:
  struct Connection;
  void accept_all();
  void make_room();  // for one connection more
  void receive(Connection& c);
  void work(Connection& c);                  // sends what waits, then answers what has come
  bool answer_first_request(Connection& c);  // false: no whole request has come yet
  Response respond(std::string_view head);

  Answer answer_;
  std::string secret_;
  int port_ = 0;
  int listener_ = -1;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<pollfd> polled_;
};

}  // namespace clatter::view

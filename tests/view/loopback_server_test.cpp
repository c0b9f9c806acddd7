// The server as a stranger on the same machine meets it: raw bytes on its port.
#include "view/loopback_server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"

namespace clatter::view {

class Server : public testing::Test {
 protected:
  void SetUp() override {
    thread_ = std::thread([this] { server_.serve(stop_); });
    secret_ = server_.address().substr(server_.address().find('/', 8));
  }
  void TearDown() override {
    stop_ = true;
    thread_.join();
  }

  // Sends the bytes and reads until the other side closes or `answers` answers with Content-Length have come.
  std::string exchange(const std::string& bytes, int answers = 1) const {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    timeval patience{5, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(server_.port()));
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return "no connection";
    (void)!::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    std::string in;
    char buffer[4096];
    std::size_t complete = 0, at = 0;
    while (true) {
      const std::size_t end = in.find("\r\n\r\n", at);
      if (end != std::string::npos) {
        const std::size_t length = in.find("Content-Length: ", at);
        const std::size_t size = std::stoul(in.substr(length + 16));
        if (in.size() >= end + 4 + size) {
          at = end + 4 + size;
          if (++complete >= static_cast<std::size_t>(answers)) break;
          continue;
        }
      }
      const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
      if (n <= 0) break;
      in.append(buffer, static_cast<std::size_t>(n));
    }
    ::close(fd);
    return in;
  }
  std::string get(const std::string& path, const std::string& host = "") const {
    const std::string own = "127.0.0.1:" + std::to_string(server_.port());
    return exchange("GET " + path + " HTTP/1.1\r\nHost: " + (host.empty() ? own : host) + "\r\n\r\n");
  }

  std::atomic<bool> stop_{false};
  std::string last_;
  LoopbackServer server_{0, [this](const Request& request) -> Response {
                           last_ = request.path + "?" + std::string(request["q"]);
                           return {200, "text/plain", "hello " + last_};
                         }};
  std::thread thread_;
  std::string secret_;
};

TEST_F(Server, AnswersWithTheSecretAndDecodesTheQuery) {
  const std::string answer = get(secret_ + "data/rows?a=1&q=x%20%2By+z");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("hello /data/rows?x +y z")) << answer;
  EXPECT_NE(answer.find("Content-Security-Policy: default-src 'none'"), std::string::npos);
}

TEST_F(Server, NobodyWithoutTheSecretIsServed) {
  for (const std::string path : {"/", "/data/rows", "/0123456789abcdef0123456789abcdef/", "//", "x"})
    EXPECT_TRUE(get(path).starts_with("HTTP/1.1 403")) << path;
  std::string nearly = secret_;
  nearly[5] = nearly[5] == 'a' ? 'b' : 'a';
  EXPECT_TRUE(get(nearly).starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(get(secret_.substr(0, secret_.size() - 2)).starts_with("HTTP/1.1 403"));
  EXPECT_EQ(last_, "");
}

// A page of another site can have its name point at 127.0.0.1; its browser then sends that name as the host.
TEST_F(Server, ARequestForAnotherHostIsRefusedEvenWithTheSecret) {
  EXPECT_TRUE(get(secret_, "evil.example:80").starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(exchange("GET " + secret_ + " HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(get(secret_, "localhost:" + std::to_string(server_.port())).starts_with("HTTP/1.1 200"));
}

TEST_F(Server, OnlyReadingIsAnswered) {
  for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS"})
    EXPECT_TRUE(exchange(method + " " + secret_ + " HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.1 405"))
        << method;
  EXPECT_TRUE(exchange("nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
  EXPECT_EQ(last_, "");
}

TEST_F(Server, ManyRequestsOnOneConnectionAreAnsweredInOrder) {
  const std::string host = " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server_.port()) + "\r\n\r\n";
  std::string bytes;
  for (int i = 0; i < 200; ++i) bytes += "GET " + secret_ + "?q=" + std::to_string(i) + host;
  const std::string answers = exchange(bytes, 200);
  std::size_t at = 0;
  for (int i = 0; i < 200; ++i) {
    at = answers.find("hello /?" + std::to_string(i), at);
    ASSERT_NE(at, std::string::npos) << i;
  }
}

// Connections that ask for nothing, or for nothing whole, in more numbers than the server has places.
TEST_F(Server, SlowConnectionsLockNobodyOut) {
  std::vector<int> slow;
  for (int i = 0; i < 200; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(server_.port()));
    ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    if (i % 2 == 0) (void)!::send(fd, "GET /x HTTP/1.1\r\nHost: ", 23, MSG_NOSIGNAL);
    slow.push_back(fd);
  }
  for (int i = 0; i < 5; ++i) {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_TRUE(get(secret_ + "?q=1").starts_with("HTTP/1.1 200"));
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(2));
  }
  for (const int fd : slow) ::close(fd);
}

TEST_F(Server, AnEndlessHeadIsCutOff) { EXPECT_EQ(exchange("GET /" + std::string(3U << 20U, 'x')), ""); }

TEST_F(Server, APortInUseIsNamed) {
  try {
    const LoopbackServer second(server_.port(), [](const Request&) { return Response{}; });
    FAIL() << "two servers on one port";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("port " + std::to_string(server_.port()) + " is in use"),
              std::string::npos)
        << error.what();
  }
}

TEST(LoopbackAddress, EveryServerHasASecretOfItsOwn) {
  const auto none = [](const Request&) { return Response{}; };
  const LoopbackServer a(0, none), b(0, none);
  EXPECT_NE(a.address().substr(a.address().find('/', 8)), b.address().substr(b.address().find('/', 8)));
}

}  // namespace clatter::view

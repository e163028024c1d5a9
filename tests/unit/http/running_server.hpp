// RunningServer — a server on 127.0.0.1 with its loop in a thread. RawSocket — a client that sends
// any bytes it likes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "common/http/loop.hpp"
#include "common/http/server.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::http {

class RunningServer {
 public:
  explicit RunningServer(Handler handler, ServerOptions options = {}, HeadCheck check = {})
      : server_(std::make_unique<Server>(loop_, std::move(options), std::move(handler),
                                         std::move(check))) {
    port_ = server_->start().value();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~RunningServer() {
    post_and_wait(loop_, [this] { server_.reset(); });
    loop_.stop();
    thread_.join();
  }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  std::uint16_t port() const { return port_; }
  std::string url() const { return "127.0.0.1:" + std::to_string(port_); }
  Loop& loop() { return loop_; }
  Server::Stats stats() {
    Server::Stats stats;
    post_and_wait(loop_, [&] { stats = server_->stats(); });
    return stats;
  }
  // Starts draining; ready when no connection is open or the grace period is over.
  std::future<void> drain(std::chrono::milliseconds grace) {
    auto done = std::make_shared<std::promise<void>>();
    loop_.post([this, grace, done] { server_->drain(grace, [done] { done->set_value(); }); });
    return done->get_future();
  }

 private:
  Loop loop_;
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

class RawSocket {
 public:
  // receive_buffer: bytes of SO_RCVBUF, 0 for the system's own; small ones make a server's write
  // wait.
  explicit RawSocket(std::uint16_t port, int receive_buffer = 0)
      : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    // a bound for broken servers; no test waits for it
    const timeval patience{20, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (receive_buffer > 0)
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // sockets' one cast: the C interface takes every family through sockaddr
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
      throw std::runtime_error("connect");
  }
  virtual ~RawSocket() { ::close(fd_); }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  // False once the server no longer accepts bytes.
  virtual bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  void finish_sending() const { ::shutdown(fd_, SHUT_WR); }

  // Everything up to the server's close.
  std::string read_to_close() {
    while (receive()) {
    }
    return std::exchange(got_, {});
  }
  // One reply with Content-Length, head and body; what follows stays for the next call. Empty if
  // the server closed.
  std::string read_reply() {
    std::size_t end = 0;
    while ((end = got_.find("\r\n\r\n")) == std::string::npos) {
      if (!receive()) return {};
    }
    end += 4;
    const std::string_view key = "Content-Length: ";
    const std::size_t at = got_.find(key);
    if (at < end) end += std::stoul(got_.substr(at + key.size()));
    while (got_.size() < end) {
      if (!receive()) return {};
    }
    std::string reply = got_.substr(0, end);
    got_.erase(0, end);
    return reply;
  }

 protected:
  int descriptor() const { return fd_; }
  // Reads at most `room` bytes, waiting for the first; 0 or less: the connection has ended.
  virtual ssize_t take(char* to, std::size_t room) { return ::recv(fd_, to, room, 0); }

 private:
  bool receive() {
    char buffer[4096];
    const ssize_t n = take(buffer, sizeof buffer);
    if (n <= 0) return false;
    got_.append(buffer, static_cast<std::size_t>(n));
    return true;
  }

  int fd_;
  std::string got_;
};

// "METHOD path?query [size] body": shows what arrived.
inline Response echo(const Request& request) {
  Response response;
  response.body = std::string(request.method) + " " + std::string(request.path) + "?" +
                  std::string(request.query) + " " + request.body;
  response.content_type = "text/plain";
  return response;
}

inline std::string body_of(const std::string& reply) {
  const std::size_t end = reply.find("\r\n\r\n");
  return end == std::string::npos ? std::string("no reply") : reply.substr(end + 4);
}

inline std::string status_of(const std::string& reply) {
  return reply.substr(0, std::min<std::size_t>(reply.size(), 12));
}

}  // namespace chipweave::http

// ScriptedPeer — a server that answers with given bytes: each connection has a list of answers, one
// for each request it gets, and is closed after the last. For tests of a client with unusual
// replies.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace chipweave::http {

class ScriptedPeer {
 public:
  using Script = std::vector<std::vector<std::string>>;  // answers by connection
  static constexpr const char* kNoAnswer = "";           // reads the request and does not answer

  explicit ScriptedPeer(Script script)
      : script_(std::move(script)), fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    // the C interface takes every family through sockaddr
    auto* generic = reinterpret_cast<sockaddr*>(&at);
    if (::bind(fd_, generic, size) != 0 || ::listen(fd_, 8) != 0 ||
        ::getsockname(fd_, generic, &size) != 0) {
      throw std::runtime_error("listen");
    }
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedPeer() { finish(); }
  ScriptedPeer(const ScriptedPeer&) = delete;
  ScriptedPeer& operator=(const ScriptedPeer&) = delete;

  std::string url() const { return "127.0.0.1:" + std::to_string(port_); }

  // Waits until so many connections have been closed from this side.
  void wait_until_closed(int connections) const {
    for (int now = closed_; now < connections; now = closed_) closed_.wait(now);
  }

  // Stops listening; returns the number of connections served.
  int finish() {
    if (thread_.joinable()) {
      ::shutdown(fd_, SHUT_RDWR);
      thread_.join();
      ::close(fd_);
    }
    return served_;
  }

 private:
  void serve() {
    for (const auto& answers : script_) {
      const int peer = ::accept(fd_, nullptr, nullptr);
      if (peer < 0) return;
      ++served_;
      for (const std::string& answer : answers) {
        char request[4096];
        if (::recv(peer, request, sizeof request, 0) <= 0) break;
        ::send(peer, answer.data(), answer.size(), MSG_NOSIGNAL);
      }
      ::close(peer);
      ++closed_;
      closed_.notify_all();
    }
  }

  Script script_;
  int fd_;
  int port_ = 0;
  int served_ = 0;
  std::atomic<int> closed_ = 0;
  std::thread thread_;
};

}  // namespace chipweave::http

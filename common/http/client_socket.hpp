// ClientSocket — the blocking client's connection, plain or over TLS: opened with a deadline, then
// written and read without blocking. For the .cpp files of this folder.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <netdb.h>
#include <unistd.h>

#include "common/base/result.hpp"
#include "common/http/tls_link.hpp"

namespace chipweave::http {

struct SharedOrigin;

class ClientSocket {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  struct Address {
    std::string host;  // without brackets
    std::string port;
    std::string authority;                // as given in the URL, and sent in the Host header
    std::shared_ptr<SharedOrigin> tls{};  // null: plain TCP
  };
  // What is possible without blocking.
  struct Ready {
    bool reading = false;
    bool writing = false;
  };
  enum class Got { bytes, nothing_yet, end, failure };

  ClientSocket() = default;
  // Errors: unavailable, deadline.
  static Result<ClientSocket> open(const Address& address, Deadline deadline);

  bool is_open() const { return fd_.open(); }
  void close();
  // Whether a reused connection must be replaced: the server has closed it or sent unsolicited
  // bytes.
  bool is_stale();
  // Waits until the socket is readable, or writable if `writing`; neither: the deadline has passed.
  Ready wait(bool writing, Deadline deadline);
  // Sends as much of head and body as the socket takes, starting at offset `sent`; false if the
  // server has closed the connection.
  bool send(std::string_view head, std::string_view body, std::size_t& sent);
  Got receive(char* to, std::size_t room, std::size_t& got);
  // Why receive() failed.
  const std::string& failure() const { return failure_; }

 private:
  // Owns a descriptor.
  class Fd {
   public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
      std::swap(fd_, other.fd_);
      return *this;
    }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() { reset(); }
    void reset() {
      if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }
    int get() const { return fd_; }
    bool open() const { return fd_ >= 0; }

   private:
    int fd_ = -1;
  };
  struct Secured {
    TlsLink link;
    bool read_blocked = false;
    bool read_wants_write = false;
  };
  Result<void> shake_hands(const Address& address, Deadline deadline);
  bool send_tls(std::string_view head, std::string_view body, std::size_t& sent);
  Got receive_tls(char* to, std::size_t room, std::size_t& got);
  static Result<Fd> connect(const addrinfo& to, Deadline deadline);

  Fd fd_;
  std::unique_ptr<Secured> tls_;
  std::string failure_;
};

}  // namespace chipweave::http

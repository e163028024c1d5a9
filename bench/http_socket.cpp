#include "bench/http_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>

namespace chipweave::bench {

void set_no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

HttpSocket::HttpSocket(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    throw std::runtime_error("cannot connect");
  set_no_delay(fd_);
}

HttpSocket::~HttpSocket() { ::close(fd_); }

HttpSocket::Reply HttpSocket::ask(std::string_view method, std::string_view target,
                                  std::string_view body) {
  std::string text = std::string(method) + " " + std::string(target) +
                     " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
                     "\r\n\r\n";
  if (!write_all(fd_, text.append(body))) throw std::runtime_error("cannot send");
  std::string seen;
  std::array<char, 65536> bytes{};
  std::size_t end = 0;
  while ((end = seen.find("\r\n\r\n")) == std::string::npos) {
    const ssize_t n = ::recv(fd_, bytes.data(), bytes.size(), 0);
    if (n <= 0) throw std::runtime_error("no reply to " + std::string(target));
    seen.append(bytes.data(), static_cast<std::size_t>(n));
  }
  Reply out;
  out.status = std::atoi(seen.c_str() + 9);
  const std::size_t at = seen.find("Content-Length: ");
  out.bytes = at == std::string::npos ? 0 : std::strtoull(seen.c_str() + at + 16, nullptr, 10);
  out.begin = seen.substr(end + 4, 300);
  for (std::size_t have = seen.size() - end - 4; have < out.bytes;) {
    const ssize_t n = ::recv(fd_, bytes.data(), bytes.size(), 0);
    if (n <= 0) throw std::runtime_error("the reply was cut off");
    have += static_cast<std::size_t>(n);
  }
  return out;
}

}  // namespace chipweave::bench

#include "common/http/client_socket.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "common/http/client_connection.hpp"
#include "common/http/server_name.hpp"

namespace chipweave::http {
namespace {

using Steady = std::chrono::steady_clock;

std::string system_text(int error) { return std::generic_category().message(error); }

// Waits for `events`; 0 when the deadline has passed, else what poll() saw.
short wait_for(int fd, short events, ClientSocket::Deadline deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - Steady::now()).count();
    if (left <= 0) return 0;
    pollfd entry{fd, events, 0};
    const int n = ::poll(&entry, 1, static_cast<int>(std::min<long long>(left, 1 << 30)));
    if (n > 0) return entry.revents;
    if (n < 0 && errno != EINTR) return POLLERR;
  }
}

}  // namespace

Result<ClientSocket::Fd> ClientSocket::connect(const addrinfo& to, Deadline deadline) {
  Fd fd(::socket(to.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.open()) return make_error(Errc::unavailable, system_text(errno));
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(fd.get(), to.ai_addr, to.ai_addrlen) == 0) return fd;
  if (errno != EINPROGRESS) return make_error(Errc::unavailable, system_text(errno));
  if (wait_for(fd.get(), POLLOUT, deadline) == 0)
    return make_error(Errc::deadline, "no answer in time");
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return make_error(Errc::unavailable, system_text(error));
  return fd;
}

Result<ClientSocket> ClientSocket::open(const Address& address, Deadline deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int status = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
  if (status != 0) {
    return make_error(Errc::unavailable,
                      "cannot find " + address.host + ": " + ::gai_strerror(status));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  Error last;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    auto fd = connect(*each, deadline);
    if (!fd.ok()) {
      last = fd.error();
      continue;
    }
    ClientSocket socket;
    socket.fd_ = std::move(*fd);
    if (!address.tls) return socket;
    if (auto ok = socket.shake_hands(address, deadline); !ok) return std::move(ok).error();
    return socket;
  }
  return make_error(last.code, "cannot connect to " + address.authority + ": " + last.message +
                                   "; is the server running?");
}

Result<void> ClientSocket::shake_hands(const Address& address, Deadline deadline) {
  tls_.reset(new Secured{{address.tls->tls.native_handle(), fd_.get(), TlsLink::Side::client}});
  const std::string& name = address.tls->origin.server_name;
  expect_server_name(tls_->link.native(), name.empty() ? address.host : name);
  const auto failed = [&](Errc code, const std::string& why) {
    return make_error(code, "no TLS connection to " + address.authority + ": " + why);
  };
  for (;;) {
    const TlsLink::Outcome how = tls_->link.handshake();
    if (how == TlsLink::Outcome::done) return {};
    if (how == TlsLink::Outcome::failed) {
      return failed(Errc::unavailable, tls_->link.failure() +
                                           "; does the server speak HTTPS, and has the given "
                                           "authority signed its certificate for this name?");
    }
    if (how == TlsLink::Outcome::closed)
      return failed(Errc::unavailable, "the server closed the connection");
    const short event = how == TlsLink::Outcome::want_read ? POLLIN : POLLOUT;
    if (wait_for(fd_.get(), event, deadline) == 0)
      return failed(Errc::deadline, "no answer in time");
  }
}

void ClientSocket::close() {
  if (tls_) tls_->link.finish();
  tls_.reset();
  fd_.reset();
}

// Over TLS, unread bytes may be session tickets, which arrive unsolicited.
bool ClientSocket::is_stale() {
  pollfd entry{fd_.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) != 0 && !(tls_ && tls_->link.quiet());
}

ClientSocket::Ready ClientSocket::wait(bool writing, Deadline deadline) {
  if (tls_ && !tls_->read_blocked) return {true, writing};
  const bool out = writing || (tls_ && tls_->read_wants_write);
  const short seen =
      wait_for(fd_.get(), static_cast<short>(out ? POLLIN | POLLOUT : POLLIN), deadline);
  if (seen == 0) return {};
  // what TLS wants to read or write is not what its user does
  if (tls_) return {true, writing};
  return {(seen & ~POLLOUT) != 0, (seen & POLLOUT) != 0};
}

bool ClientSocket::send(std::string_view head, std::string_view body, std::size_t& sent) {
  if (tls_) return send_tls(head, body, sent);
  while (sent < head.size() + body.size()) {
    const std::size_t head_done = std::min(sent, head.size());
    const std::size_t body_done = sent - head_done;
    std::array<iovec, 2> parts{};
    // sendmsg only reads; iovec has no const form
    parts[0] = {const_cast<char*>(head.data()) + head_done, head.size() - head_done};
    parts[1] = {const_cast<char*>(body.data()) + body_done, body.size() - body_done};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t n = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
    if (n >= 0) {
      sent += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return true;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool ClientSocket::send_tls(std::string_view head, std::string_view body, std::size_t& sent) {
  while (sent < head.size() + body.size()) {
    const std::string_view next =
        sent < head.size() ? head.substr(sent) : body.substr(sent - head.size());
    std::size_t n = 0;
    const TlsLink::Outcome how = tls_->link.write(next, n);
    sent += n;
    if (how == TlsLink::Outcome::want_read || how == TlsLink::Outcome::want_write) return true;
    if (how != TlsLink::Outcome::done) return false;
  }
  return true;
}

ClientSocket::Got ClientSocket::receive(char* to, std::size_t room, std::size_t& got) {
  if (tls_) return receive_tls(to, room, got);
  const ssize_t n = ::recv(fd_.get(), to, room, 0);
  got = n > 0 ? static_cast<std::size_t>(n) : 0;
  if (n > 0) return Got::bytes;
  if (n == 0) return Got::end;
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return Got::nothing_yet;
  failure_ = system_text(errno);
  return Got::failure;
}

ClientSocket::Got ClientSocket::receive_tls(char* to, std::size_t room, std::size_t& got) {
  const TlsLink::Outcome how = tls_->link.read(to, room, got);
  tls_->read_wants_write = how == TlsLink::Outcome::want_write;
  tls_->read_blocked = how == TlsLink::Outcome::want_read || tls_->read_wants_write;
  if (got > 0) return Got::bytes;
  if (tls_->read_blocked) return Got::nothing_yet;
  if (how == TlsLink::Outcome::closed) return Got::end;
  failure_ = tls_->link.failure();
  return Got::failure;
}

}  // namespace chipweave::http

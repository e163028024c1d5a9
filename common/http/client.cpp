#include "common/http/client.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/limits.hpp"
#include "common/http/reply_reader.hpp"

namespace chipweave::http {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::seconds kConnectTimeout{5};
constexpr std::size_t kReadBytes = 128U << 10U;

std::string system_text(int error) { return std::generic_category().message(error); }

// Owns a socket.
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

struct Address {
  std::string host;  // without brackets
  std::string port;
  std::string authority;  // as it goes into the Host field
};

Result<Address> parse_url(std::string_view url) {
  const auto bad = [url](std::string_view why) {
    return make_error(Errc::invalid_argument, "'" + std::string(url) +
                                                  "' is not a server address: " + std::string(why) +
                                                  "; write host:port or http://host:port");
  };
  std::string_view rest = url;
  bool scheme = false;
  if (rest.starts_with("https://")) return bad("TLS is not spoken here");
  if (rest.starts_with("http://")) {
    scheme = true;
    rest.remove_prefix(7);
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const auto plain = [](char c) {
    return c > ' ' && c < 0x7f && c != '/' && c != '?' && c != '#' && c != '@';
  };
  if (rest.empty() || !std::all_of(rest.begin(), rest.end(), plain))
    return bad("it needs a host and no path");
  Address address{{}, "80", std::string(rest)};
  std::string_view after;
  if (rest.front() == '[') {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos) return bad("']' is missing");
    address.host = rest.substr(1, end - 1);
    after = rest.substr(end + 1);
    if (!after.empty() && after.front() != ':') return bad("a ':' must follow the ']'");
  } else {
    const std::size_t colon = rest.find(':');
    address.host = rest.substr(0, colon);
    if (colon != std::string_view::npos) after = rest.substr(colon);
    if (after.find(':', 1) != std::string_view::npos) return bad("an IPv6 address needs brackets");
  }
  if (address.host.empty()) return bad("the host is missing");
  if (after.empty() && !scheme) return bad("the port is missing");
  if (!after.empty()) {
    after.remove_prefix(1);
    std::uint16_t port = 0;
    const auto read = std::from_chars(after.data(), after.data() + after.size(), port);
    if (read.ec != std::errc() || read.ptr != after.data() + after.size() || port == 0)
      return bad("the port must be 1 to 65535");
    address.port = after;
  }
  return address;
}

// Waits for `events`; 0 when the deadline has passed, else what poll() saw.
short wait_for(int fd, short events, Steady::time_point deadline) {
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

Result<Fd> connect_one(const addrinfo& to, Steady::time_point deadline) {
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

Result<Fd> open_connection(const Address& address, Steady::time_point deadline) {
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
    auto fd = connect_one(*each, deadline);
    if (fd.ok()) return fd;
    last = fd.error();
  }
  return make_error(last.code, "cannot connect to " + address.authority + ": " + last.message +
                                   "; is the server running?");
}

}  // namespace

struct Client::Impl {
  Address address;
  Fd fd;
  std::string head;
  std::vector<char> scratch = std::vector<char>(kReadBytes);

  enum class Outcome { replied, closed_before_reply, failed };
  struct Exchange {
    Outcome outcome = Outcome::failed;
    Reply reply;
    Error error;
    std::size_t sent = 0;  // bytes of the request that the system took
  };

  void write_head(std::string_view method, std::string_view target, std::size_t body_bytes);
  Exchange exchange(bool has_body, std::string_view body, Steady::time_point deadline);
  // Whether a kept connection is of no use any more: the server has closed it, or has sent what
  // nobody asked for.
  bool is_stale() const;
  // Sends what the socket takes, from `sent` on; false if the server does not take it any more.
  bool send_some(std::string_view body, std::size_t& sent) const;
  Exchange fail(Errc code, const std::string& what);
};

void Client::Impl::write_head(std::string_view method, std::string_view target,
                              std::size_t body_bytes) {
  head.assign(method);
  head.append(" ").append(target).append(" HTTP/1.1\r\nHost: ").append(address.authority);
  head += "\r\nUser-Agent: chipweave\r\n";
  if (body_bytes > 0 || method == "POST" || method == "PUT" || method == "PATCH") {
    head +=
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(body_bytes) + "\r\n";
  }
  head += "\r\n";
}

bool Client::Impl::is_stale() const {
  pollfd entry{fd.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) != 0;
}

bool Client::Impl::send_some(std::string_view body, std::size_t& sent) const {
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
    const ssize_t n = ::sendmsg(fd.get(), &message, MSG_NOSIGNAL);
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

Client::Impl::Exchange Client::Impl::fail(Errc code, const std::string& what) {
  fd.reset();
  Exchange failed;
  failed.error = make_error(code, what + " (" + address.authority + ")");
  return failed;
}

// One request and its reply on the open connection. Reads while it writes: a server may refuse a
// body half-way.
Client::Impl::Exchange Client::Impl::exchange(bool has_body, std::string_view body,
                                              Steady::time_point deadline) {
  ReplyReader reader({limits::kMaxHttpHeaderBytes, limits::kMaxHttpBodyBytes}, has_body);
  const std::size_t total = head.size() + body.size();
  std::size_t sent = 0;
  bool sending = send_some(body, sent);
  ReplyReader::State state = ReplyReader::State::more;
  while (state == ReplyReader::State::more) {
    const bool more_to_send = sending && sent < total;
    const short seen =
        wait_for(fd.get(), static_cast<short>(more_to_send ? POLLIN | POLLOUT : POLLIN), deadline);
    if (seen == 0) return fail(Errc::deadline, "the server did not answer in time");
    if ((seen & POLLOUT) != 0) sending = send_some(body, sent);
    if ((seen & ~POLLOUT) == 0) continue;
    const ssize_t n = ::recv(fd.get(), scratch.data(), scratch.size(), 0);
    if (n > 0) {
      state = reader.feed({scratch.data(), static_cast<std::size_t>(n)});
      continue;
    }
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) continue;
    if (!reader.has_begun()) {
      Exchange closed =
          fail(Errc::unavailable, "the server closed the connection without an answer");
      closed.outcome = Outcome::closed_before_reply;
      closed.sent = sent;
      return closed;
    }
    if (n < 0)
      return fail(Errc::unavailable,
                  "the connection broke in the middle of the reply: " + system_text(errno));
    state = reader.end_of_stream();
  }
  if (state == ReplyReader::State::too_large)
    return fail(Errc::limit_exceeded, "the reply is larger than the limit");
  if (state == ReplyReader::State::malformed)
    return fail(Errc::unavailable, "the reply is cut short or not HTTP");
  if (!reader.keep_alive() || sent < total) fd.reset();
  Exchange done;
  done.outcome = Outcome::replied;
  done.reply = Reply{reader.status(), std::move(reader.body())};
  return done;
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<Client> Client::connect_to(std::string_view url) {
  auto address = parse_url(url);
  if (!address.ok()) return std::move(address).error();
  auto impl = std::make_unique<Impl>();
  impl->address = std::move(*address);
  auto fd = open_connection(impl->address, Steady::now() + kConnectTimeout);
  if (!fd.ok()) return std::move(fd).error();
  impl->fd = std::move(*fd);
  return Client(std::move(impl));
}

Result<Reply> Client::call(std::string_view method, std::string_view target, std::string_view body,
                           std::chrono::milliseconds timeout) {
  const auto printable = [](char c) { return c > ' ' && c < 0x7f; };
  if (method.empty() || !std::all_of(method.begin(), method.end(), printable)) {
    return make_error(Errc::invalid_argument, "an HTTP method is one word");
  }
  if (!target.starts_with('/') || !std::all_of(target.begin(), target.end(), printable)) {
    return make_error(Errc::invalid_argument,
                      "a request target starts with '/' and has no spaces; escape them as %20");
  }
  Impl& i = *impl_;
  const auto deadline = Steady::now() + timeout;
  i.write_head(method, target, body.size());
  if (i.fd.open() && i.is_stale()) i.fd.reset();
  const bool safe = method == "GET" || method == "HEAD";
  bool kept = i.fd.open();
  for (;;) {
    if (!i.fd.open()) {
      auto fd = open_connection(i.address, deadline);
      if (!fd.ok()) return std::move(fd).error();
      i.fd = std::move(*fd);
    }
    auto result = i.exchange(method != "HEAD", body, deadline);
    if (result.outcome == Impl::Outcome::replied) return std::move(result.reply);
    // The server may close a kept connection at any time. It may have acted on what it got before
    // that, so only a request that changes nothing is sent twice, or one of which nothing was sent.
    const bool again =
        kept && result.outcome == Impl::Outcome::closed_before_reply && (safe || result.sent == 0);
    if (!again) return std::move(result.error);
    kept = false;
  }
}

}  // namespace chipweave::http

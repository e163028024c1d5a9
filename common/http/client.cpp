#include "common/http/client.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/http/client_connection.hpp"
#include "common/http/client_socket.hpp"
#include "common/http/reply_reader.hpp"

namespace chipweave::http {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::seconds kConnectTimeout{5};
constexpr std::size_t kReadBytes = 128U << 10U;

using Address = ClientSocket::Address;

struct Url {
  Address address;
  bool tls = false;
};

Result<Url> parse_url(std::string_view url) {
  const auto bad = [url](std::string_view why) {
    return make_error(Errc::invalid_argument, "'" + std::string(url) +
                                                  "' is not a server address: " + std::string(why) +
                                                  "; write host:port, http://host:port or "
                                                  "https://host:port");
  };
  std::string_view rest = url;
  const bool tls = rest.starts_with("https://");
  const bool scheme = tls || rest.starts_with("http://");
  if (scheme) rest.remove_prefix(rest.find("://") + 3);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const auto plain = [](char c) {
    return c > ' ' && c < 0x7f && c != '/' && c != '?' && c != '#' && c != '@';
  };
  if (rest.empty() || !std::all_of(rest.begin(), rest.end(), plain))
    return bad("it needs a host and no path");
  Address address{{}, tls ? "443" : "80", std::string(rest)};
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
    if (parse_number<std::uint16_t>(after).value_or(0) == 0)
      return bad("the port must be 1 to 65535");
    address.port = after;
  }
  return Url{std::move(address), tls};
}

}  // namespace

struct Client::Impl {
  Address address;
  ClientSocket socket;
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

Client::Impl::Exchange Client::Impl::fail(Errc code, const std::string& what) {
  socket.close();
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
  bool sending = socket.send(head, body, sent);
  ReplyReader::State state = ReplyReader::State::more;
  while (state == ReplyReader::State::more) {
    const ClientSocket::Ready ready = socket.wait(sending && sent < total, deadline);
    if (!ready.reading && !ready.writing)
      return fail(Errc::deadline, "the server did not answer in time");
    if (ready.writing) sending = socket.send(head, body, sent);
    if (!ready.reading) continue;
    std::size_t n = 0;
    const ClientSocket::Got got = socket.receive(scratch.data(), scratch.size(), n);
    if (got == ClientSocket::Got::nothing_yet) continue;
    if (got == ClientSocket::Got::bytes) {
      state = reader.feed({scratch.data(), n});
      continue;
    }
    const bool cut = got == ClientSocket::Got::failure;
    if (!reader.has_begun()) {
      Exchange closed =
          fail(Errc::unavailable, "the server closed the connection without an answer" +
                                      (cut ? ": " + socket.failure() : std::string()));
      closed.outcome = Outcome::closed_before_reply;
      closed.sent = sent;
      return closed;
    }
    if (cut) {
      return fail(Errc::unavailable,
                  "the connection broke in the middle of the reply: " + socket.failure());
    }
    state = reader.end_of_stream();
  }
  if (state == ReplyReader::State::too_large)
    return fail(Errc::limit_exceeded, "the reply is larger than the limit");
  if (state == ReplyReader::State::malformed)
    return fail(Errc::unavailable, "the reply is cut short or not HTTP");
  if (!reader.keep_alive() || sent < total) socket.close();
  Exchange done;
  done.outcome = Outcome::replied;
  done.reply = Reply{reader.status(), std::move(reader.body())};
  return done;
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<Client> Client::connect_to(std::string_view url, const ClientPem& pem) {
  auto parsed = parse_url(url);
  if (!parsed.ok()) return std::move(parsed).error();
  auto impl = std::make_unique<Impl>();
  impl->address = std::move(parsed->address);
  if (parsed->tls) {
    Origin origin;
    origin.server_name = pem.server_name;
    origin.ca_pem = pem.ca;
    origin.certificate_pem = pem.certificate;
    origin.key_pem = pem.key;
    auto tls = SharedOrigin::make(std::move(origin));
    if (!tls.ok()) return std::move(tls).error();
    impl->address.tls = std::move(*tls);
  }
  auto socket = ClientSocket::open(impl->address, Steady::now() + kConnectTimeout);
  if (!socket.ok()) return std::move(socket).error();
  impl->socket = std::move(*socket);
  return Client(std::move(impl));
}

Result<Reply> Client::call(std::string_view method, std::string_view target, std::string_view body,
                           std::chrono::milliseconds timeout) {
  const auto printable = [](char c) { return c > ' ' && c < 0x7f; };
  if (method.empty() || !std::all_of(method.begin(), method.end(), printable)) {
    return make_error(Errc::invalid_argument, "an HTTP method must be a single token");
  }
  if (!target.starts_with('/') || !std::all_of(target.begin(), target.end(), printable)) {
    return make_error(
        Errc::invalid_argument,
        "a request target must start with '/' and contain no spaces; escape them as %20");
  }
  Impl& i = *impl_;
  const auto deadline = Steady::now() + timeout;
  i.write_head(method, target, body.size());
  if (i.socket.is_open() && i.socket.is_stale()) i.socket.close();
  const bool safe = method == "GET" || method == "HEAD";
  bool kept = i.socket.is_open();
  for (;;) {
    if (!i.socket.is_open()) {
      auto socket = ClientSocket::open(i.address, deadline);
      if (!socket.ok()) return std::move(socket).error();
      i.socket = std::move(*socket);
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

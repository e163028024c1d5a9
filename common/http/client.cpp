#include "common/http/client.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/http/client_connection.hpp"
#include "common/http/reply_reader.hpp"

namespace chipweave::http {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::seconds kConnectTimeout{5};

struct Url {
  Origin origin;
  std::string authority;  // for the Host field and messages
};

Result<Url> parse_url(std::string_view url) {
  const auto bad = [url](std::string_view why) {
    return make_error(Errc::invalid_argument,
                      "expected host:port, http://host:port or https://host:port, got " +
                          in_quotes(url) + ": " + std::string(why));
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
  Url parsed{{}, std::string(rest)};
  Origin& address = parsed.origin;
  address.tls = tls;
  address.port = tls ? "443" : "80";
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
  return parsed;
}

bool is_printable(char c) { return c > ' ' && c < 0x7f; }

}  // namespace

struct Client::Impl {
  Impl(std::shared_ptr<SharedOrigin> to, std::string named, std::string bearer)
      : origin_(std::move(to)), authority_(std::move(named)), token_(std::move(bearer)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { close(); }

  struct Exchange {
    Result<Reply> reply;
    bool unanswered = false;  // the server closed the connection before the first byte of a reply
  };

  Result<void> open(Steady::time_point deadline) {
    close();
    cut_.reset();
    connection_ = std::make_shared<ClientConnection>(context_, origin_);
    std::optional<Result<void>> opened;
    connection_->open([&opened](Result<void> result) { opened = std::move(result); });
    if (!run([&] { return opened.has_value(); }, deadline))
      opened =
          make_error(Errc::deadline, "cannot connect to " + authority_ + ": no answer in time");
    if (!*opened) {
      const Error why = opened->error();
      close();
      return make_error(why.code, why.message + (origin_->origin.tls
                                                     ? "; is the server running, does it speak "
                                                       "HTTPS, and has the given authority signed "
                                                       "its certificate for this name?"
                                                     : "; is the server running?"));
    }
    listen();
    return {};
  }

  // What was begun on the connection ends before this returns.
  void close() {
    if (connection_ == nullptr) return;
    std::exchange(connection_, nullptr)->close();
    context_.restart();
    context_.run();
  }

  // Whether the kept connection can carry one more request.
  bool usable() {
    context_.restart();
    context_.poll();
    return connection_ != nullptr && !cut_;
  }

  // One request and its reply on the open connection. Reads while it writes: a server may refuse a
  // body half-way.
  Exchange exchange(const std::string& request, bool has_body, Steady::time_point deadline) {
    using State = ReplyReader::State;
    reader_.emplace(ReplyReader::Limits{limits::kMaxHttpHeaderBytes, limits::kMaxHttpBodyBytes},
                    has_body);
    state_ = State::more;
    bool sent = false;
    connection_->write(request, [&sent](const Result<void>& wrote) { sent = wrote.ok(); });
    const bool ended = run([this] { return state_ != State::more || cut_; }, deadline);
    const auto of_reply = [&]() -> Result<Reply> {
      if (!ended) return error(Errc::deadline, "the server did not answer in time");
      if (!reader_->has_begun()) {
        return error(Errc::unavailable,
                     "the server closed the connection without an answer" + *cut_);
      }
      if (state_ == State::more)
        return error(Errc::unavailable, "the connection broke in the middle of the reply" + *cut_);
      if (state_ == State::too_large)
        return error(Errc::limit_exceeded, "the reply is larger than the limit");
      if (state_ == State::malformed)
        return error(Errc::unavailable, "the reply is cut short or not HTTP");
      return Reply{reader_->status(), std::move(reader_->body())};
    };
    Exchange done{of_reply(), ended && !reader_->has_begun()};
    if (!done.reply || !reader_->keep_alive() || !sent) close();
    reader_.reset();
    return done;
  }

  const std::string& authority() const { return authority_; }
  const std::string& token() const { return token_; }

 private:
  // Runs the connection until `over()`; false when the deadline came first.
  template <class Over>
  bool run(Over over, Steady::time_point deadline) {
    context_.restart();
    while (!over() && context_.run_one_until(deadline) > 0) {
    }
    return over();
  }

  void listen() {
    connection_->read([this](const Result<std::string_view>& bytes) { took(bytes); });
  }

  void took(const Result<std::string_view>& bytes) {
    if (!bytes || bytes->empty() || !reader_) {
      cut_ = bytes ? std::string() : ": " + bytes.error().message;
      if (bytes && reader_) state_ = reader_->end_of_stream();
      return;
    }
    state_ = reader_->feed(*bytes);
    if (connection_ != nullptr) listen();
  }

  Error error(Errc code, const std::string& what) const {
    return make_error(code, what + " (" + authority_ + ")");
  }

  boost::asio::io_context context_{1};
  std::shared_ptr<SharedOrigin> origin_;
  std::string authority_;
  std::string token_;
  std::shared_ptr<ClientConnection> connection_;  // null: none is open
  // A read is always pending on an open connection, so that the end of a kept one is seen, and
  // session tickets are taken.
  std::optional<ReplyReader> reader_;  // of the reply that is awaited
  ReplyReader::State state_ = ReplyReader::State::more;
  std::optional<std::string> cut_;  // why nothing more comes on the connection
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;
Client::~Client() = default;

Result<void> Client::check_url(std::string_view url) {
  auto parsed = parse_url(url);
  return parsed.ok() ? Result<void>() : std::move(parsed).error();
}

Result<Client> Client::connect_to(std::string_view url, const ClientPem& pem,
                                  const std::string& token) {
  if (!std::all_of(token.begin(), token.end(), is_printable))
    return make_error(Errc::invalid_argument, "a bearer token must be one word");
  auto parsed = parse_url(url);
  if (!parsed.ok()) return std::move(parsed).error();
  parsed->origin.pem = pem;
  auto shared = SharedOrigin::make(std::move(parsed->origin));
  if (!shared.ok()) return std::move(shared).error();
  auto impl = std::make_unique<Impl>(std::move(*shared), std::move(parsed->authority), token);
  if (auto opened = impl->open(Steady::now() + kConnectTimeout); !opened)
    return std::move(opened).error();
  return Client(std::move(impl));
}

Result<Reply> Client::call(std::string_view method, std::string_view target, std::string_view body,
                           std::chrono::milliseconds timeout) {
  if (method.empty() || !std::all_of(method.begin(), method.end(), is_printable)) {
    return make_error(Errc::invalid_argument, "an HTTP method must be a single token");
  }
  if (!target.starts_with('/') || !std::all_of(target.begin(), target.end(), is_printable)) {
    return make_error(
        Errc::invalid_argument,
        "a request target must start with '/' and contain no spaces; escape them as %20");
  }
  Impl& i = *impl_;
  const auto deadline = Steady::now() + timeout;
  std::vector<std::pair<std::string, std::string>> headers = {{"User-Agent", "chipweave"}};
  if (!i.token().empty()) headers.emplace_back("Authorization", "Bearer " + i.token());
  if (announces_body(method, body)) headers.emplace_back("Content-Type", "application/json");
  const std::string text = request_text(method, target, i.authority(), headers, body);
  // The server may close a kept connection at any time, and may have acted on what it got before
  // that, so only a request that changes nothing is sent twice.
  bool again = i.usable() && (method == "GET" || method == "HEAD");
  for (;;) {
    if (!i.usable()) {
      if (auto opened = i.open(deadline); !opened) return std::move(opened).error();
    }
    auto [reply, unanswered] = i.exchange(text, method != "HEAD", deadline);
    if (!unanswered || !std::exchange(again, false)) return std::move(reply);
  }
}

}  // namespace chipweave::http

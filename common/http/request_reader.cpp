#include "common/http/request_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "common/http/body_decoder.hpp"

namespace chipweave::http {
namespace {

namespace beast = boost::beast;
using beast::error_code;

// Buffers of headers larger than this are freed after the request.
constexpr std::size_t kKeepBytes = 1U << 10U;

// What Beast reads off one request header: the request line, and the fields that decide about
// framing.
class RequestHeadParser final : public beast::http::basic_parser<true> {
 public:
  RequestHeadParser(std::string& method, std::string& target, std::string& authorization)
      : method_(method), target_(target), authorization_(authorization) {
    authorization_.clear();
  }

  int hosts = 0;
  int authorizations = 0;
  bool http11 = false;
  bool transfer_encoding = false;
  bool unknown_coding = false;
  bool expects_continue = false;
  bool unknown_expectation = false;

 private:
  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target,
                       int version, error_code&) override {
    method_.assign(method.data(), method.size());
    target_.assign(target.data(), target.size());
    http11 = version == 11;
  }
  void on_response_impl(int, beast::string_view, int, error_code&) override {}
  void on_field_impl(beast::http::field name, beast::string_view, beast::string_view value,
                     error_code&) override {
    if (name == beast::http::field::host) ++hosts;
    if (name == beast::http::field::authorization && ++authorizations == 1)
      authorization_.assign(value.data(), value.size());
    if (name == beast::http::field::transfer_encoding) {
      transfer_encoding = true;
      unknown_coding = unknown_coding || !beast::iequals(value, "chunked");
    }
    if (name == beast::http::field::expect) {
      const bool known = beast::iequals(value, "100-continue");
      expects_continue = expects_continue || known;
      unknown_expectation = unknown_expectation || !known;
    }
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(beast::string_view body, error_code&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body, error_code&) override {
    return body.size();
  }
  void on_finish_impl(error_code&) override {}

  std::string& method_;
  std::string& target_;
  std::string& authorization_;
};

constexpr RequestReader::Refusal kBadRequest{400, "bad_request", "this is not an HTTP/1.1 request"};
constexpr RequestReader::Refusal kBadVersion{400, "bad_version",
                                             "only HTTP/1.0 and HTTP/1.1 are spoken here"};
constexpr RequestReader::Refusal kBadRequestLine{
    400, "bad_request_line", "the first line must be METHOD TARGET HTTP/1.1 and end in CR LF"};
constexpr RequestReader::Refusal kBadTarget{
    400, "bad_target", "the request target must be a path that starts with '/'"};
constexpr RequestReader::Refusal kBadHost{400, "bad_host",
                                          "an HTTP/1.1 request needs exactly one Host field"};
constexpr RequestReader::Refusal kBadLength{
    400, "bad_length", "Content-Length and Transfer-Encoding do not say one body length"};
constexpr RequestReader::Refusal kBadChunk{400, "bad_chunk", "the chunked body is malformed"};
constexpr RequestReader::Refusal kBadCoding{501, "bad_coding",
                                            "the only transfer coding understood is chunked"};
constexpr RequestReader::Refusal kBadExpectation{417, "bad_expectation",
                                                 "the only expectation understood is 100-continue"};
constexpr RequestReader::Refusal kHeaderTooLarge{
    431, "header_too_large", "the request header is larger than the server's limit"};
constexpr RequestReader::Refusal kBodyTooLarge{
    413, "body_too_large", "the request body is larger than the server's limit"};

constexpr RequestReader::Refusal kBusy{503, "busy", "there is no memory for the request now"};

RequestReader::Refusal refusal_of(const error_code& ec) {
  using E = beast::http::error;
  if (ec == E::header_limit) return kHeaderTooLarge;
  if (ec == E::bad_version) return kBadVersion;
  if (ec == E::bad_content_length || ec == E::multiple_content_length ||
      ec == E::bad_transfer_encoding) {
    return kBadLength;
  }
  return kBadRequest;
}

// Whether the first line of a header is one up to its version. Beast calls whatever follows the
// target a bad version: a second word of the target, or a line end without CR.
bool shaped_like_request_line(std::string_view header) {
  const std::size_t end = header.find('\n');
  const std::string_view line = header.substr(0, end);
  const bool whole = end == std::string_view::npos || line.ends_with('\r');
  return whole && std::count(line.begin(), line.end(), ' ') == 2 &&
         line.substr(line.rfind(' ') + 1).starts_with("HTTP/");
}

// Methods are tokens; a first byte that cannot start one (a TLS hello, say) need not wait for a
// whole header.
bool can_start_method(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

}  // namespace

struct RequestReader::Impl {
  Impl(Limits l, RequestGate* g) : limits(l), gate(g) {}

  Limits limits;
  RequestGate* gate;
  State state = State::idle;
  std::optional<RequestHeadParser> parser;
  std::optional<BodyDecoder> decoder;
  std::size_t header_bytes = 0;  // of this request, taken by the parser so far
  std::string pending;           // bytes not parsed yet: a cut header line, or requests to come
  std::size_t pending_from = 0;  // how many of them are used up
  std::string method;
  std::string target;
  std::string authorization;
  std::string_view path;
  std::string_view query;
  std::string body;
  std::size_t max_body = 0;  // its length, or the limit of a chunked one
  bool head = false;
  bool continue_wanted = false;
  Refusal refusal;
  RefusalShape refusal_shape = nullptr;
  std::optional<Response> rejection;  // the gate's

  State fail(const Refusal& why) {
    refusal = why;
    return state = State::failed;
  }

  // Parses from the front of `in` and takes off what it used.
  State advance(std::string_view& in) {
    if (state == State::idle) {
      refusal_shape = nullptr;
      // an empty line before a request is ignored (RFC 9112, 2.2)
      const std::size_t start = in.find_first_not_of("\r\n");
      in.remove_prefix(start == std::string_view::npos ? in.size() : start);
      if (in.empty()) return state;
      if (!can_start_method(in.front())) return fail(kBadRequest);
      state = State::header;
      header_bytes = 0;
      head = false;
      parser.emplace(method, target, authorization);
      // the parser's limit counts per call; the sum is kept in header_bytes
      parser->header_limit(
          static_cast<std::uint32_t>(std::min<std::size_t>(limits.header_bytes, UINT32_MAX)));
      parser->skip(true);  // header only; bodies are read here
    }
    if (state == State::header) read_header(in);
    if (state == State::body) read_body(in);
    return state;
  }

  State advance_pending() {
    std::string_view in = std::string_view(pending).substr(pending_from);
    advance(in);
    pending_from = pending.size() - in.size();
    if (in.empty()) {
      if (pending.capacity() > kKeepBytes) std::string().swap(pending);
      pending.clear();
      pending_from = 0;
    }
    return state;
  }

  void read_header(std::string_view& in) {
    error_code ec;
    const std::string_view unread = in;
    const std::size_t used = parser->put(boost::asio::const_buffer(in.data(), in.size()), ec);
    in.remove_prefix(used);
    header_bytes += used;
    const bool more = ec == beast::http::error::need_more;
    if (ec == beast::http::error::bad_version && !shaped_like_request_line(unread)) {
      fail(kBadRequestLine);
    } else if (ec && !more) {
      fail(refusal_of(ec));
    } else if (header_bytes + (more ? in.size() : 0) > limits.header_bytes) {
      fail(kHeaderTooLarge);
    } else if (!more) {
      header_done();
    }
  }

  // The header is whole: checks what Beast leaves open and decides how the body comes.
  void header_done() {
    const RequestHeadParser& h = *parser;
    if (h.hosts > 1 || (h.http11 && h.hosts == 0)) return void(fail(kBadHost));
    if (!split_target()) return void(fail(kBadTarget));
    if (h.unknown_coding) return void(fail(kBadCoding));
    if (h.transfer_encoding && !h.http11) return void(fail(kBadLength));
    if (h.unknown_expectation) return void(fail(kBadExpectation));
    if (h.authorizations > 1) authorization.clear();
    head = method == "HEAD";
    max_body = 0;
    state = State::body;
    const std::uint64_t length = h.content_length().value_or(0);
    const std::size_t most = ask_gate();
    if (rejection) {
      if (!h.chunked() && length == 0) return finish();
      state = State::failed;
      return;
    }
    if (h.chunked()) {
      max_body = most;
      decoder.emplace(most, limits.header_bytes);
    } else {
      if (length > most) return void(fail(kBodyTooLarge));
      if (length == 0) return finish();
      max_body = static_cast<std::size_t>(length);
      if (gate != nullptr && !gate->may_announce(max_body)) return void(fail(kBusy));
      decoder.emplace(length);
    }
    continue_wanted = h.expects_continue && h.http11;
  }

  // How long the body may be, or sets rejection.
  std::size_t ask_gate() {
    rejection.reset();
    if (gate == nullptr) return limits.body_bytes;
    HeadVerdict verdict = gate->check(request_head());
    if (auto* refused = std::get_if<Response>(&verdict)) {
      rejection = std::move(*refused);
      return 0;
    }
    const auto& accepted = std::get<AcceptedHead>(verdict);
    refusal_shape = accepted.refusal;
    return std::min(accepted.max_body, limits.body_bytes);
  }

  RequestHead request_head() const {
    RequestHead out{head ? std::string_view("GET") : std::string_view(method), path, query};
    out.authorization = authorization;
    return out;
  }

  bool split_target() {
    std::string_view rest = target;
    std::string_view when_empty;
    // proxies' form "http://host/path", where the path may be missing
    if (rest.size() >= 7 && beast::iequals(beast::string_view(rest.data(), 7), "http://")) {
      const std::size_t end_of_host = rest.find_first_of("/?", 7);
      rest = end_of_host == std::string_view::npos ? std::string_view() : rest.substr(end_of_host);
      when_empty = "/";
    }
    const std::size_t mark = rest.find('?');
    path = rest.substr(0, mark);
    query = mark == std::string_view::npos ? std::string_view() : rest.substr(mark + 1);
    if (path.empty()) path = when_empty;
    return path == "*" || path.starts_with('/');
  }

  void read_body(std::string_view& in) {
    if (in.empty()) return;
    continue_wanted = false;  // it did not wait
    if (!grow_body(std::min(body.size() + in.size(), max_body) + kBodyPadding))
      return void(fail(kBusy));
    switch (decoder->feed(in, body)) {
      case BodyDecoder::State::more:
        return;
      case BodyDecoder::State::done:
        return finish();
      case BodyDecoder::State::malformed:
        return void(fail(kBadChunk));
      case BodyDecoder::State::too_large:
        return void(fail(kBodyTooLarge));
    }
  }

  // Doubles as bytes arrive and ends at the largest size that the body can have: an announced
  // length alone takes no memory. False if there is no room.
  bool grow_body(std::size_t need) {
    if (gate != nullptr && body.capacity() < kBodyPadding) body = gate->take_buffer();
    if (need <= body.capacity()) return true;
    const std::size_t most = std::max(need, max_body + kBodyPadding);
    const std::size_t size = std::clamp(2 * body.capacity(), need, most);
    if (!has_room(size - body.capacity())) return false;
    std::string larger;  // reserve() of a string in use doubles its capacity at least
    larger.reserve(size);
    larger.append(body);
    body.swap(larger);
    return true;
  }

  bool has_room(std::size_t bytes) const { return gate == nullptr || gate->make_room(bytes); }

  // Keeps bytes that are not parsed yet.
  void keep(std::string_view bytes) {
    if (state == State::failed) return;
    if (pending.size() + bytes.size() > pending.capacity() && !has_room(bytes.size()))
      return void(fail(kBusy));
    pending.append(bytes);
  }

  void finish() {
    if (!grow_body(body.size() + kBodyPadding)) return void(fail(kBusy));
    continue_wanted = false;
    state = State::ready;
  }
};

RequestReader::RequestReader(Limits limits, RequestGate* gate)
    : impl_(std::make_unique<Impl>(limits, gate)) {}
RequestReader::~RequestReader() = default;

RequestReader::State RequestReader::feed(std::string_view bytes) {
  Impl& i = *impl_;
  if (i.state == State::ready || i.state == State::failed) {
    i.keep(bytes);
    return i.state;
  }
  if (i.pending.empty()) {
    // the common case: a request in one piece is parsed in place
    i.advance(bytes);
    i.keep(bytes);
    return i.state;
  }
  i.pending.erase(0, i.pending_from);
  i.pending_from = 0;
  i.keep(bytes);
  return i.state == State::failed ? i.state : i.advance_pending();
}

RequestReader::State RequestReader::next() {
  Impl& i = *impl_;
  if (i.state != State::ready) return i.state;
  i.state = State::idle;
  drop_body();
  for (std::string* text : {&i.method, &i.target, &i.authorization}) {
    if (text->capacity() > kKeepBytes) std::string().swap(*text);
  }
  return i.advance_pending();
}

RequestReader::State RequestReader::state() const { return impl_->state; }

bool RequestReader::take_expect_continue() { return std::exchange(impl_->continue_wanted, false); }

std::optional<Response> RequestReader::take_rejection() {
  return std::exchange(impl_->rejection, std::nullopt);
}

Request RequestReader::request() { return Request{impl_->request_head(), impl_->body}; }

bool RequestReader::is_head() const { return impl_->head; }

bool RequestReader::is_http11() const {
  return !impl_->parser || !impl_->parser->is_header_done() || impl_->parser->http11;
}

bool RequestReader::keep_alive() const {
  return impl_->state == State::ready && impl_->parser->keep_alive();
}

const RequestReader::Refusal& RequestReader::refusal() const { return impl_->refusal; }

RefusalShape RequestReader::refusal_shape() const { return impl_->refusal_shape; }

std::size_t RequestReader::held() const {
  const Impl& i = *impl_;
  return i.body.capacity() + i.pending.capacity() + i.method.capacity() + i.target.capacity() +
         i.authorization.capacity();
}

void RequestReader::drop_body() {
  Impl& i = *impl_;
  if (i.gate != nullptr && i.body.capacity() >= kBodyPadding)
    i.gate->give_back(std::exchange(i.body, std::string()));
  i.body.clear();
}

void RequestReader::drop_all() {
  drop_body();
  std::string().swap(impl_->pending);
  impl_->pending_from = 0;
}

}  // namespace chipweave::http

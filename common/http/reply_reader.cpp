#include "common/http/reply_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "common/base/text.hpp"
#include "common/http/chunk_decoder.hpp"

namespace chipweave::http {
namespace {

namespace beast = boost::beast;
using beast::error_code;

class ReplyHeadParser final : public beast::http::basic_parser<false> {
 public:
  int status = 0;
  int retry_after = -1;
  bool unknown_coding = false;

 private:
  void on_request_impl(beast::http::verb, beast::string_view, beast::string_view, int,
                       error_code&) override {}
  void on_response_impl(int code, beast::string_view, int, error_code&) override { status = code; }
  void on_field_impl(beast::http::field name, beast::string_view, beast::string_view value,
                     error_code&) override {
    if (name == beast::http::field::transfer_encoding && !beast::iequals(value, "chunked"))
      unknown_coding = true;
    if (name == beast::http::field::retry_after)
      retry_after = std::max(-1, parse_number<int>({value.data(), value.size()}).value_or(-1));
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(beast::string_view body, error_code&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body, error_code&) override {
    return body.size();
  }
  void on_finish_impl(error_code&) override {}
};

}  // namespace

struct ReplyReader::Impl {
  Impl(Limits l, bool b) : limits(l), has_body(b) { start(); }

  enum class Framing { header, length, chunked, until_close, none };

  Limits limits;
  bool has_body;
  bool begun = false;
  State state = State::more;
  Framing framing = Framing::header;
  std::optional<ReplyHeadParser> parser;
  std::optional<ChunkDecoder> chunks;
  std::size_t header_bytes = 0;
  std::uint64_t left = 0;
  std::string pending;  // of the header
  std::string body;
  bool surplus = false;

  void start() {
    framing = Framing::header;
    parser.emplace();
    parser->header_limit(
        static_cast<std::uint32_t>(std::min<std::size_t>(limits.header_bytes, UINT32_MAX)));
    parser->skip(true);
  }
  State read_header(std::string_view& in);
  State header_done();
  State read_body(std::string_view& in);
};

ReplyReader::State ReplyReader::Impl::read_header(std::string_view& in) {
  error_code ec;
  const std::size_t used = parser->put(boost::asio::const_buffer(in.data(), in.size()), ec);
  in.remove_prefix(used);
  header_bytes += used;
  const bool more = ec == beast::http::error::need_more;
  if (ec == beast::http::error::header_limit ||
      header_bytes + (more ? in.size() : 0) > limits.header_bytes) {
    return State::too_large;
  }
  if (more) return State::more;
  return ec ? State::malformed : header_done();
}

ReplyReader::State ReplyReader::Impl::header_done() {
  const int status = parser->status;
  if (status >= 100 && status < 200) {
    start();
    return State::more;
  }
  if (parser->unknown_coding) return State::malformed;
  if (!has_body || status == 204 || status == 304) {
    framing = Framing::none;
    return State::done;
  }
  if (parser->chunked()) {
    framing = Framing::chunked;
    chunks.emplace(limits.body_bytes, limits.header_bytes);
    return State::more;
  }
  const auto length = parser->content_length();
  if (!length) {
    framing = Framing::until_close;
    return State::more;
  }
  framing = Framing::length;
  left = *length;
  if (left > limits.body_bytes) return State::too_large;
  return left == 0 ? State::done : State::more;
}

ReplyReader::State ReplyReader::Impl::read_body(std::string_view& in) {
  if (framing == Framing::chunked) {
    switch (chunks->feed(in, body)) {
      case ChunkDecoder::State::more:
        return State::more;
      case ChunkDecoder::State::done:
        return State::done;
      case ChunkDecoder::State::malformed:
        return State::malformed;
      case ChunkDecoder::State::too_large:
        return State::too_large;
    }
  }
  if (framing == Framing::until_close) {
    if (in.size() > limits.body_bytes - body.size()) return State::too_large;
    append_padded(body, in);
    in = {};
    return State::more;
  }
  const auto run = static_cast<std::size_t>(std::min<std::uint64_t>(left, in.size()));
  append_padded(body, in.substr(0, run));
  in.remove_prefix(run);
  left -= run;
  return left == 0 ? State::done : State::more;
}

ReplyReader::ReplyReader(Limits limits, bool has_body)
    : impl_(std::make_unique<Impl>(limits, has_body)) {}
ReplyReader::~ReplyReader() = default;

ReplyReader::State ReplyReader::feed(std::string_view bytes) {
  Impl& i = *impl_;
  i.begun = i.begun || !bytes.empty();
  std::string_view in = bytes;
  if (i.framing == Impl::Framing::header && !i.pending.empty()) {
    i.pending.append(bytes);
    in = i.pending;
  }
  std::size_t before = 0;
  while (i.state == State::more && !in.empty() && before != in.size()) {
    before = in.size();
    i.state = i.framing == Impl::Framing::header ? i.read_header(in) : i.read_body(in);
  }
  i.surplus = i.state == State::done && !in.empty();
  std::string rest(in);
  i.pending = std::move(rest);
  return i.state;
}

ReplyReader::State ReplyReader::end_of_stream() {
  Impl& i = *impl_;
  if (i.state == State::more) {
    i.state = i.framing == Impl::Framing::until_close ? State::done : State::malformed;
  }
  return i.state;
}

bool ReplyReader::has_begun() const { return impl_->begun; }
bool ReplyReader::has_header() const { return impl_->framing != Impl::Framing::header; }
int ReplyReader::retry_after() const { return impl_->parser->retry_after; }
int ReplyReader::status() const { return impl_->parser->status; }
std::string& ReplyReader::body() { return impl_->body; }

bool ReplyReader::keep_alive() const {
  const Impl& i = *impl_;
  return i.state == State::done && i.framing != Impl::Framing::until_close && !i.surplus &&
         i.parser->keep_alive();
}

}  // namespace chipweave::http

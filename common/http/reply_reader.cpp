#include "common/http/reply_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>

#include "common/base/text.hpp"

namespace chipweave::http {
namespace {

namespace beast = boost::beast;
using beast::error_code;

using HeadParser = beast::http::response_parser<beast::http::empty_body>;

}  // namespace

struct ReplyReader::Impl {
  Impl(Limits l, bool b) : limits(l), has_body(b) { start(); }

  enum class Framing { header, decoder, until_close, none };

  Limits limits;
  bool has_body;
  bool begun = false;
  State state = State::more;
  Framing framing = Framing::header;
  std::optional<HeadParser> parser;
  std::optional<BodyDecoder> decoder;
  std::size_t header_bytes = 0;
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

  State read_header(std::string_view& in) {
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

  State header_done() {
    const unsigned status = parser->get().result_int();
    if (status >= 100 && status < 200) {
      start();
      return State::more;
    }
    const auto [begin, end] = parser->get().equal_range(beast::http::field::transfer_encoding);
    const auto chunked = [](const auto& field) { return beast::iequals(field.value(), "chunked"); };
    if (!std::all_of(begin, end, chunked)) return State::malformed;
    if (!has_body || status == 204 || status == 304) {
      framing = Framing::none;
      return State::done;
    }
    if (parser->chunked()) {
      framing = Framing::decoder;
      decoder.emplace(limits.body_bytes, limits.header_bytes);
      return State::more;
    }
    const auto length = parser->content_length();
    if (!length) {
      framing = Framing::until_close;
      return State::more;
    }
    framing = Framing::decoder;
    if (*length > limits.body_bytes) return State::too_large;
    if (*length == 0) return State::done;
    decoder.emplace(*length);
    return State::more;
  }

  State read_body(std::string_view& in) {
    if (framing == Framing::until_close) {
      if (in.size() > limits.body_bytes - body.size()) return State::too_large;
      append_padded(body, in);
      in = {};
      return State::more;
    }
    return decoder->feed(in, body);
  }
};

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
int ReplyReader::retry_after() const {
  const auto seconds = impl_->parser->get()[beast::http::field::retry_after];
  return std::max(-1, parse_number<int>({seconds.data(), seconds.size()}).value_or(-1));
}
int ReplyReader::status() const { return static_cast<int>(impl_->parser->get().result_int()); }
std::string& ReplyReader::body() { return impl_->body; }

bool ReplyReader::keep_alive() const {
  const Impl& i = *impl_;
  return i.state == State::done && i.framing != Impl::Framing::until_close && !i.surplus &&
         i.parser->keep_alive();
}

}  // namespace chipweave::http

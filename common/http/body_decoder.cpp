#include "common/http/body_decoder.hpp"

#include <algorithm>

namespace chipweave::http {
namespace {

constexpr int kMaxSizeDigits = 15;  // stays below 2^60, so that sums cannot overflow

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void append_padded(std::string& body, std::string_view bytes) {
  const std::size_t need = body.size() + bytes.size() + kBodyPadding;
  if (body.capacity() < need) body.reserve(std::max(need, 2 * body.capacity()));
  body.append(bytes);
}

BodyDecoder::State BodyDecoder::feed(std::string_view& bytes, std::string& body) {
  while (!bytes.empty()) {
    if (at_ == At::data || at_ == At::plain) {
      const std::size_t run =
          static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
      append_padded(body, bytes.substr(0, run));
      bytes.remove_prefix(run);
      left_ -= run;
      if (left_ > 0) continue;
      if (at_ == At::plain) return State::done;
      at_ = At::data_cr;
      continue;
    }
    const State state = step(bytes.front());
    bytes.remove_prefix(1);
    if (state != State::more) return state;
  }
  return State::more;
}

BodyDecoder::State BodyDecoder::step(char byte) {
  const auto expect = [this, byte](char wanted, At then) {
    at_ = then;
    return byte == wanted ? State::more : State::malformed;
  };
  switch (at_) {
    case At::size_first:
      digits_ = 0;
      left_ = 0;
      at_ = At::size;
      return hex_value(byte) < 0 ? State::malformed : digit(byte);
    case At::size:
      return digit(byte);
    case At::extension:
      if (byte == '\r') at_ = At::size_lf;
      return byte == '\n' ? State::malformed : extra();
    case At::size_lf:
      return expect('\n', left_ == 0 ? At::trailer_first : At::data);
    case At::data_cr:
      return expect('\r', At::data_lf);
    case At::data_lf:
      return expect('\n', At::size_first);
    case At::trailer_first:
      at_ = byte == '\r' ? At::last_lf : At::trailer;
      return byte == '\n' ? State::malformed : extra();
    case At::trailer:
      if (byte == '\r') at_ = At::trailer_lf;
      return byte == '\n' ? State::malformed : extra();
    case At::trailer_lf:
      return expect('\n', At::trailer_first);
    case At::last_lf:
      at_ = At::done;
      return byte == '\n' ? State::done : State::malformed;
    case At::data:
    case At::plain:
    case At::done:
      break;
  }
  return State::malformed;
}

// A byte of the size line: one more digit, or what ends the number.
BodyDecoder::State BodyDecoder::digit(char byte) {
  const int value = hex_value(byte);
  if (value >= 0) {
    if (++digits_ > kMaxSizeDigits) return State::malformed;
    left_ = left_ * 16 + static_cast<std::uint64_t>(value);
    return State::more;
  }
  if (left_ > max_body_bytes_ - body_bytes_) return State::too_large;
  body_bytes_ += static_cast<std::size_t>(left_);
  if (byte == '\r') {
    at_ = At::size_lf;
    return State::more;
  }
  at_ = At::extension;
  return byte == ';' || byte == ' ' || byte == '\t' ? extra() : State::malformed;
}

BodyDecoder::State BodyDecoder::extra() {
  return ++extra_bytes_ > max_extra_bytes_ ? State::malformed : State::more;
}

}  // namespace chipweave::http

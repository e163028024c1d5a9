// BodyDecoder — takes the body off the bytes of a message, chunked or of a known length; input may
// be split anywhere.
//
// Replaces Beast's decoder: Beast 1.81 asserts on some splits of the last chunk and does not bound
// chunk extensions. Chunk extensions and trailers are skipped; together they may be as long as a
// header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace chipweave::http {

// Readable bytes after the end of every complete body (required by simdjson).
inline constexpr std::size_t kBodyPadding = 64;

// Appends and reserves the padding. Capacity doubles as bytes arrive, so that an announced length
// alone reserves no memory.
void append_padded(std::string& body, std::string_view bytes);

class BodyDecoder {
 public:
  enum class State { more, done, malformed, too_large };

  // A chunked body.
  BodyDecoder(std::size_t max_body_bytes, std::size_t max_extra_bytes)
      : max_body_bytes_(max_body_bytes), max_extra_bytes_(max_extra_bytes) {}
  // A body of that many bytes, at least one.
  explicit BodyDecoder(std::uint64_t length) : left_(length), at_(At::plain) {}

  // Consumes `bytes` from the front until the body ends, the input ends or an error occurs.
  State feed(std::string_view& bytes, std::string& body);

 private:
  enum class At {
    size_first,
    size,
    extension,
    size_lf,
    data,
    plain,  // not chunked
    data_cr,
    data_lf,
    trailer_first,
    trailer,
    trailer_lf,
    last_lf,
    done
  };

  State step(char byte);
  State digit(char byte);
  State extra();

  std::size_t max_body_bytes_ = 0;
  std::size_t max_extra_bytes_ = 0;
  std::size_t body_bytes_ = 0;   // payload announced by the chunk sizes so far
  std::size_t extra_bytes_ = 0;  // extensions and trailers
  std::uint64_t left_ = 0;       // of the current chunk or the plain body
  int digits_ = 0;
  At at_ = At::size_first;
};

}  // namespace chipweave::http

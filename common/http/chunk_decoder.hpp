// ChunkDecoder — takes the framing off a chunked body, byte runs in, payload out; it may be cut
// anywhere.
//
// Our own and not Beast's: Beast 1.81 asserts on some cuts of the last chunk and does not bound
// chunk extensions. Chunk extensions and trailers are read over; together they may take as many
// bytes as a header may.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace chipweave::http {

// Readable bytes that every finished body has after its end (simdjson reads that far).
inline constexpr std::size_t kBodyPadding = 64;

// Appends with room for the padding; grows at least twofold, so that a claimed length reserves
// nothing by itself.
void append_padded(std::string& body, std::string_view bytes);

class ChunkDecoder {
 public:
  enum class State { more, done, malformed, too_large };

  ChunkDecoder(std::size_t max_body_bytes, std::size_t max_extra_bytes)
      : max_body_bytes_(max_body_bytes), max_extra_bytes_(max_extra_bytes) {}

  // Eats from the front of `bytes` until the body ends, the bytes end or they are wrong.
  State feed(std::string_view& bytes, std::string& body);

 private:
  enum class At {
    size_first,
    size,
    extension,
    size_lf,
    data,
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

  std::size_t max_body_bytes_;
  std::size_t max_extra_bytes_;
  std::size_t body_bytes_ = 0;   // payload announced by the chunk sizes so far
  std::size_t extra_bytes_ = 0;  // extensions and trailers
  std::uint64_t left_ = 0;       // of the chunk at hand
  int digits_ = 0;
  At at_ = At::size_first;
};

}  // namespace chipweave::http

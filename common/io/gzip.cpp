#include "common/io/gzip.hpp"

#include <array>
#include <memory>

#define ZLIB_CONST  // its input pointers are const
#include <zlib.h>

namespace chipweave::io {
namespace {

constexpr int kGzipFraming = 15 + 16;
constexpr std::size_t kInflateChunk = std::size_t{64} << 10U;

template <auto End>
struct EndStream {
  void operator()(z_stream* stream) const { End(stream); }
};

void read_from(z_stream& stream, const std::string& content) {
  stream.next_in = reinterpret_cast<const Bytef*>(content.data());
  stream.avail_in = static_cast<uInt>(content.size());
}

void write_to(z_stream& stream, char* room, std::size_t size) {
  stream.next_out = reinterpret_cast<Bytef*>(room);
  stream.avail_out = static_cast<uInt>(size);
}

}  // namespace

bool is_gzip(std::string_view content) {
  return content.size() >= 2 && content[0] == '\x1f' && content[1] == '\x8b';
}

Result<std::string> gunzip(const std::string& content, std::size_t max_bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipFraming) != Z_OK)
    return make_error(Errc::internal, "zlib could not start");
  const std::unique_ptr<z_stream, EndStream<inflateEnd>> owner(&stream);
  read_from(stream, content);
  std::string out;
  std::array<char, kInflateChunk> chunk{};
  for (;;) {
    write_to(stream, chunk.data(), chunk.size());
    const int rc = inflate(&stream, Z_NO_FLUSH);
    const std::size_t made = chunk.size() - stream.avail_out;
    if (out.size() + made > max_bytes) {
      return make_error(Errc::limit_exceeded, "the archive unpacks to more than " +
                                                  std::to_string(max_bytes >> 20U) + " MiB");
    }
    out.append(chunk.data(), made);
    if (rc == Z_STREAM_END) {
      if (stream.avail_in < 2 || stream.next_in[0] != 0x1f) return out;
      if (inflateReset(&stream) != Z_OK) return make_error(Errc::internal, "zlib could not go on");
    } else if (rc != Z_OK) {
      return make_error(Errc::invalid_argument, rc == Z_BUF_ERROR ? "the gzip file ends too early"
                                                                  : "the gzip file is damaged");
    }
  }
}

Result<std::string> gzip(const std::string& content) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipFraming, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    return make_error(Errc::internal, "zlib could not start");
  const std::unique_ptr<z_stream, EndStream<deflateEnd>> owner(&stream);
  read_from(stream, content);
  std::string out(deflateBound(&stream, static_cast<uLong>(content.size())), '\0');
  write_to(stream, out.data(), out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
    return make_error(Errc::internal, "zlib could not pack");
  out.resize(out.size() - stream.avail_out);
  return out;
}

}  // namespace chipweave::io

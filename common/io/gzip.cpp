#include "common/io/gzip.hpp"

#include <zlib.h>

#include <array>

namespace chipweave::io {
namespace {

constexpr int kGzipFraming = 15 + 16;
constexpr std::size_t kInflateChunk = std::size_t{64} << 10U;

// Owns a zlib stream.
class Inflater {
 public:
  Inflater() : ready_(inflateInit2(&stream_, kGzipFraming) == Z_OK) {}
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }

  Result<std::string> run(const std::string& content, std::size_t max_bytes) {
    if (!ready_) return make_error(Errc::internal, "zlib could not start");
    std::string out;
    std::string input = content;  // zlib's interface takes a writable pointer
    stream_.next_in = reinterpret_cast<Bytef*>(input.data());
    stream_.avail_in = static_cast<uInt>(input.size());
    std::array<char, kInflateChunk> chunk{};
    for (;;) {
      stream_.next_out = reinterpret_cast<Bytef*>(chunk.data());
      stream_.avail_out = static_cast<uInt>(chunk.size());
      const int rc = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t made = chunk.size() - stream_.avail_out;
      if (out.size() + made > max_bytes) {
        return make_error(Errc::limit_exceeded, "the archive unpacks to more than " +
                                                    std::to_string(max_bytes >> 20U) + " MiB");
      }
      out.append(chunk.data(), made);
      if (rc == Z_STREAM_END) {
        if (stream_.avail_in < 2 || stream_.next_in[0] != 0x1f) return out;
        if (inflateReset(&stream_) != Z_OK)
          return make_error(Errc::internal, "zlib could not go on");
      } else if (rc != Z_OK) {
        return make_error(Errc::invalid_argument, rc == Z_BUF_ERROR ? "the gzip file ends too early"
                                                                    : "the gzip file is damaged");
      }
    }
  }

 private:
  z_stream stream_{};
  bool ready_;
};

class Deflater {
 public:
  Deflater()
      : ready_(deflateInit2(&stream_, Z_BEST_COMPRESSION, Z_DEFLATED, kGzipFraming, 8,
                            Z_DEFAULT_STRATEGY) == Z_OK) {}
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() {
    if (ready_) deflateEnd(&stream_);
  }

  Result<std::string> run(const std::string& content) {
    if (!ready_) return make_error(Errc::internal, "zlib could not start");
    std::string input = content;
    std::string out(deflateBound(&stream_, static_cast<uLong>(input.size())), '\0');
    stream_.next_in = reinterpret_cast<Bytef*>(input.data());
    stream_.avail_in = static_cast<uInt>(input.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    if (deflate(&stream_, Z_FINISH) != Z_STREAM_END)
      return make_error(Errc::internal, "zlib could not pack");
    out.resize(out.size() - stream_.avail_out);
    return out;
  }

 private:
  z_stream stream_{};
  bool ready_;
};

}  // namespace

bool is_gzip(std::string_view content) {
  return content.size() >= 2 && content[0] == '\x1f' && content[1] == '\x8b';
}

Result<std::string> gunzip(const std::string& content, std::size_t max_bytes) {
  return Inflater().run(content, max_bytes);
}

Result<std::string> gzip(const std::string& content) { return Deflater().run(content); }

}  // namespace chipweave::io

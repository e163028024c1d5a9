// ReplyReader — bytes of one HTTP reply in, status and body out; no socket. The counterpart of
// RequestReader.
//
// One object a reply. Interim replies (100 Continue) are passed over.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace chipweave::http {

class ReplyReader {
 public:
  enum class State { more, done, malformed, too_large };
  struct Limits {
    std::size_t header_bytes;
    std::size_t body_bytes;
  };

  // has_body: false for the reply to HEAD, whose Content-Length is not followed by that many bytes.
  ReplyReader(Limits limits, bool has_body);
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  // In state more.
  State feed(std::string_view bytes);
  // The server has closed: that ends a body without a length, and is malformed in the middle of
  // anything else.
  State end_of_stream();

  bool has_begun() const;
  // Whether the header of the final reply is there; then status() and retry_after() are known.
  bool has_header() const;
  int status() const;
  // Seconds; -1: not said, or said as a date.
  int retry_after() const;
  // Whole in state done; before, as much as came, which a stream takes out piece by piece.
  std::string& body();
  // Whether the server keeps the connection and sent nothing behind the reply.
  bool keep_alive() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::http

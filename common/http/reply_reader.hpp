// ReplyReader — bytes of one HTTP reply in, status and body out; no socket. The counterpart of
// RequestReader.
//
// One object a reply. Interim replies (100 Continue) are skipped. Beast parses the header, a
// BodyDecoder the body: a stream's body has no end, and its parts are consumed as they come.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "common/http/body_decoder.hpp"

namespace chipweave::http {

class ReplyReader {
 public:
  using State = BodyDecoder::State;
  struct Limits {
    std::size_t header_bytes;
    std::size_t body_bytes;
  };

  // has_body: false for the reply to HEAD, whose Content-Length is not followed by that many bytes.
  ReplyReader(Limits limits, bool has_body);
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  // Precondition: state more.
  State feed(std::string_view bytes);
  // The server has closed the connection: completes a body without a length, otherwise the reply is
  // malformed.
  State end_of_stream();

  bool has_begun() const;
  // Whether the header of the final reply has arrived; then status() and retry_after() are known.
  bool has_header() const;
  int status() const;
  // Seconds; -1 if absent or given as a date.
  int retry_after() const;
  // Complete in state done; before that the part received so far, which a stream consumes
  // piecewise.
  std::string& body();
  // Whether the server keeps the connection open and sent nothing after the reply.
  bool keep_alive() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::http

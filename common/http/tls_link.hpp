// TlsLink — TLS on a non-blocking socket that somebody else owns: takes and gives what the socket
// does at the moment and says what to wait for. The handshake is part of the first call.
//
// For the .cpp files of this folder; one owner, one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct ssl_ctx_st;
struct ssl_st;

namespace chipweave::http {

class TlsLink {
 public:
  enum class Side { server, client };
  enum class Outcome {
    done,
    want_read,   // again when the socket is readable
    want_write,  // again, with the same bytes, when it is writable
    closed,      // by the peer, with or without a good-bye, or by the network
    failed,      // the peer breaks the protocol or is not trusted: failure() says why
  };

  // Throws std::bad_alloc. The descriptor must stay open as long as the link lives.
  TlsLink(ssl_ctx_st* context, int descriptor, Side side);
  TlsLink(const TlsLink&) = delete;
  TlsLink& operator=(const TlsLink&) = delete;

  Outcome handshake();
  // Reads until `room` is full or something else than done comes; `got` bytes are there either way.
  Outcome read(char* to, std::size_t room, std::size_t& got);
  // done: `taken` bytes, at most one record's.
  Outcome write(std::string_view bytes, std::size_t& taken);
  // Whether the peer has nothing to say that a reader would see.
  bool quiet();
  // Says good-bye, if it can be said at once.
  void finish();

  bool established() const;
  // The peer has shown a certificate, and a valid one.
  bool peer_certified() const;
  const std::string& failure() const { return failure_; }
  ssl_st* native() const { return ssl_.get(); }

  static constexpr std::size_t kRecordBytes = std::size_t{16} << 10U;

 private:
  struct Free {
    void operator()(ssl_st* ssl) const;
  };
  Outcome outcome(int result);
  int descriptor_;  // OpenSSL has its address
  std::unique_ptr<ssl_st, Free> ssl_;
  std::string failure_;
};

}  // namespace chipweave::http

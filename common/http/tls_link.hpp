// TlsLink — the server's side of TLS on a non-blocking socket owned by the caller: reads and writes
// as much as the socket allows and returns what to wait for. The first read performs the handshake.
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
  enum class Outcome {
    done,
    want_read,   // again when the socket is readable
    want_write,  // again, with the same bytes, when it is writable
    closed,      // by the peer, with or without close_notify, or by the network
    failed,      // protocol error or untrusted peer: see failure()
  };

  // Throws std::bad_alloc. The descriptor must stay open as long as the link lives.
  TlsLink(ssl_ctx_st* context, int descriptor);
  TlsLink(const TlsLink&) = delete;
  TlsLink& operator=(const TlsLink&) = delete;

  // Reads until `room` is full or something else than done comes; `got` bytes are there either way.
  Outcome read(char* to, std::size_t room, std::size_t& got);
  // done: `taken` bytes, at most one record's.
  Outcome write(std::string_view bytes, std::size_t& taken);
  // Sends close_notify if that is possible without blocking.
  void finish();

  bool established() const;
  // The peer has presented a valid certificate.
  bool peer_certified() const;
  const std::string& failure() const { return failure_; }

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

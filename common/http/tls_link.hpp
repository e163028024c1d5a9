// TlsLink — the server's side of TLS on a non-blocking socket owned by the caller: reads and writes
// as much as the socket allows. The first read performs the handshake.
//
// Asio's ssl::stream loses output on a non-blocking socket whose send buffer is full, and keeps
// two 17 KiB buffers for each idle connection. For the .cpp files of this folder; one owner, one
// thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/system/error_code.hpp>

struct ssl_ctx_st;
struct ssl_st;

namespace chipweave::http {

class TlsLink {
 public:
  using error_code = boost::system::error_code;
  // What a read or write that would block waits for.
  enum class Wait { none, readable, writable };

  // Throws std::bad_alloc. The descriptor must stay open as long as the link lives.
  TlsLink(ssl_ctx_st* context, int descriptor);
  TlsLink(const TlsLink&) = delete;
  TlsLink& operator=(const TlsLink&) = delete;

  // Both return bytes, or an error: would_block, then again after that wait; eof if the connection
  // was closed by the peer, with or without close_notify, or by the network; connection_aborted
  // after a protocol error or with an untrusted peer, see failure().
  // Reads until `room` is full or the socket has no more.
  std::size_t read(char* to, std::size_t room, error_code& ec);
  // Takes at most one record's bytes. After would_block the next call must pass the same ones.
  std::size_t write(std::string_view bytes, error_code& ec);
  Wait read_wait() const { return read_wait_; }
  Wait write_wait() const { return write_wait_; }
  // Sends close_notify if that is possible without blocking.
  void finish();

  bool established() const;
  // The peer has presented a valid certificate.
  bool peer_certified() const;
  // DNS names, URIs and common name of that certificate; empty without one.
  std::vector<std::string> peer_names() const;
  const std::string& failure() const { return failure_; }
  // The handshake failed because of the peer's certificate.
  bool has_bad_certificate() const;

  static constexpr std::size_t kRecordBytes = std::size_t{16} << 10U;

 private:
  struct Free {
    void operator()(ssl_st* ssl) const;
  };
  error_code outcome(int result, Wait& wait);
  std::unique_ptr<ssl_st, Free> ssl_;
  Wait read_wait_ = Wait::none;
  Wait write_wait_ = Wait::none;
  std::string failure_;
};

// After a failed handshake: " (reason)" if the peer's certificate was rejected, otherwise "".
std::string distrust(const ssl_st* ssl);

}  // namespace chipweave::http

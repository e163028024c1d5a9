// Wire — the socket of a server connection, plain or over TLS: reads and writes without blocking;
// the first reads perform the TLS handshake.
//
// Loop thread only. On a plain socket each call is one system call. Beast's streams read and write
// through a composed operation with a timer each; here the server's ConnectionTable has one timer
// for all, and a reply usually leaves with the first call, without a turn of the loop.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "common/http/server.hpp"
#include "common/http/tls_context.hpp"
#include "common/http/tls_link.hpp"

namespace chipweave::http {

class Wire final : public Peer {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using error_code = boost::system::error_code;
  // Why a read failed, other than a disconnected client.
  enum class Fault {
    none,
    clear_text,  // plain HTTP on a TLS port; the wire is plain from now on
    bad_tls,     // see failure()
  };

  // tls: null for plain TCP.
  Wire(Socket socket, const TlsContext* tls);

  // At least one byte, or an error: would_block (then wait), anything else ends the connection.
  std::size_t read_some(char* to, std::size_t room, error_code& ec) {
    if (tls_) return read_tls(to, room, ec);
    return socket_.read_some(boost::asio::buffer(to, room), ec);
  }
  // Whether a read may return buffered data although the socket is not readable.
  bool has_more() const {
    return tls_ && tls_->looked && tls_->link.read_wait() == TlsLink::Wait::none;
  }
  bool is_in_handshake() const { return tls_ && !tls_->link.established(); }
  Fault take_fault() { return std::exchange(fault_, Fault::none); }
  // Of the TLS connection.
  const std::string& failure() const { return tls_->link.failure(); }
  bool has_bad_certificate() const { return tls_ && tls_->link.has_bad_certificate(); }

  // Writes as much of head followed by body as the socket takes. After would_block the next call
  // must pass the same bytes.
  std::size_t write_some(std::string_view head, std::string_view body, error_code& ec);
  // Sends a few hundred bytes at most, best effort.
  void try_send(std::string_view text);

  template <class Handler>
  void async_wait_to_read(Handler handler) {
    const bool writes = tls_ && tls_->link.read_wait() == TlsLink::Wait::writable;
    socket_.async_wait(writes ? Socket::wait_write : Socket::wait_read, std::move(handler));
  }
  template <class Handler>
  void async_wait_to_write(Handler handler) {
    const bool reads = tls_ && tls_->link.write_wait() == TlsLink::Wait::readable;
    socket_.async_wait(reads ? Socket::wait_read : Socket::wait_write, std::move(handler));
  }

  bool has_unread() const;
  // The client has presented a valid certificate, or none is required.
  bool trusted() const;
  std::string address() const override;
  const std::vector<std::string>& names() const override;
  // Ends the sending direction; what is still read is discarded.
  void finish_sending();
  void finish();
  void close();
  Socket::executor_type executor() { return socket_.get_executor(); }

 private:
  struct Secured {
    Secured(const TlsContext& context, int descriptor)
        : link(context.native(), descriptor), asks_client(context.asks_clients()) {}
    TlsLink link;
    bool asks_client;
    bool looked = false;                                    // at the first byte
    mutable std::optional<std::vector<std::string>> names;  // after the first names()
    std::string owed;  // unsent bytes of try_send(): TLS requires them to be sent first
  };
  std::size_t read_tls(char* to, std::size_t room, error_code& ec);
  std::size_t write_tls(std::string_view head, std::string_view body, error_code& ec);
  bool look_at_first_byte(error_code& ec);

  Socket socket_;
  std::unique_ptr<Secured> tls_;
  Fault fault_ = Fault::none;
};

}  // namespace chipweave::http

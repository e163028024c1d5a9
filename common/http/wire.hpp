// Wire — the socket of one of a server's connections, in the clear or under TLS: reads and writes
// what the socket takes at the moment; a TLS handshake is part of the first reads.
//
// Loop thread only. In the clear each call is one system call and nothing else.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "common/http/tls_context.hpp"
#include "common/http/tls_link.hpp"

namespace chipweave::http {

class Wire {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using error_code = boost::system::error_code;
  // Why a read failed, besides a client that is gone.
  enum class Fault {
    none,
    clear_text,  // plain HTTP came where TLS is spoken; the wire is in the clear from now on
    bad_tls,     // failure() says what
  };

  // tls: null for a wire in the clear.
  Wire(Socket socket, const TlsContext* tls);

  // At least one byte, or an error: would_block (then wait), anything else ends the connection.
  std::size_t read_some(char* to, std::size_t room, error_code& ec) {
    if (tls_) return read_tls(to, room, ec);
    return socket_.read_some(boost::asio::buffer(to, room), ec);
  }
  // Whether the next read may bring something though the socket brings nothing.
  bool has_more() const { return tls_ && !tls_->read_blocked; }
  Fault take_fault() { return std::exchange(fault_, Fault::none); }
  const std::string& failure() const { return failure_; }

  // What of head and body, as they lie one behind the other, the socket takes; after would_block
  // the next call must bring the same bytes.
  std::size_t write_some(std::string_view head, std::string_view body, error_code& ec);
  // Bytes that go out if they can, from a few to some hundred; nobody waits for them.
  void say(std::string_view text);

  template <class Handler>
  void async_wait_to_read(Handler handler) {
    const bool writes = tls_ && tls_->read_wants_write;
    socket_.async_wait(writes ? Socket::wait_write : Socket::wait_read, std::move(handler));
  }
  template <class Handler>
  void async_wait_to_write(Handler handler) {
    const bool reads = tls_ && tls_->write_wants_read;
    socket_.async_wait(reads ? Socket::wait_read : Socket::wait_write, std::move(handler));
  }

  bool has_unread() const;
  // The client has shown a valid certificate, or none is asked for.
  bool trusted() const;
  // Nothing is written any more; what is still read is for nobody.
  void finish_sending();
  void finish();
  void close();
  Socket::executor_type executor() { return socket_.get_executor(); }

 private:
  struct Secured {
    Secured(const TlsContext& context, int descriptor)
        : link(context.native(), descriptor, TlsLink::Side::server),
          asks_client(context.asks_clients()) {}
    TlsLink link;
    bool asks_client;
    bool looked = false;  // at the first byte
    bool read_blocked = false;
    bool read_wants_write = false;
    bool write_wants_read = false;
    std::string owed;  // what say() could not send: TLS must be given it again first
  };
  std::size_t read_tls(char* to, std::size_t room, error_code& ec);
  std::size_t write_tls(std::string_view head, std::string_view body, error_code& ec);
  std::size_t write_link(std::string_view bytes, error_code& ec);
  bool look_at_first_byte(error_code& ec);
  void fail(Fault fault, error_code& ec);

  Socket socket_;
  std::unique_ptr<Secured> tls_;
  Fault fault_ = Fault::none;
  std::string failure_;
};

}  // namespace chipweave::http

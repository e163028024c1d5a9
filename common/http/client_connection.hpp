// ClientConnection — one connection to an Origin on the loop: opened, written to and read from,
// over TLS (1.2 at least) or in the clear. For the .cpp files of this folder.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "common/base/result.hpp"
#include "common/http/origin.hpp"

namespace chipweave::http {

// What all connections to one origin share.
struct SharedOrigin {
  // invalid_argument: a certificate or key that is none.
  static Result<std::shared_ptr<SharedOrigin>> make(Origin origin);
  Origin origin;
  boost::asio::ssl::context tls{boost::asio::ssl::context::tls_client};
};

class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
 public:
  using Opened = std::function<void(Result<void>)>;
  using Wrote = std::function<void(Result<void>)>;
  // Bytes, valid during the call; none: the server has closed.
  using Read = std::function<void(Result<std::string_view>)>;

  ClientConnection(boost::asio::io_context& context, std::shared_ptr<SharedOrigin> to);

  void open(Opened done);
  // `bytes` must live until then.
  void write(std::string_view bytes, Wrote done);
  void read(Read done);
  void close();
  // Whether the server seems to be there still and has nothing to say: right before a request on a
  // connection that was kept.
  bool quiet();

  std::chrono::steady_clock::time_point kept_since{};

 private:
  using tcp = boost::asio::ip::tcp;
  using error_code = boost::system::error_code;
  tcp::socket& socket();
  void handshake(Opened done);

  std::shared_ptr<SharedOrigin> to_;
  tcp::resolver resolver_;
  std::optional<tcp::socket> plain_;
  std::optional<boost::asio::ssl::stream<tcp::socket>> secure_;
  static constexpr std::size_t kReadBytes = 64U << 10U;
  std::array<char, kReadBytes> buffer_{};
};

}  // namespace chipweave::http

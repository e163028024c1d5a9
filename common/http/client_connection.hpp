// ClientConnection — one connection to an Origin on the loop: opened, written to and read from,
// over TLS (1.2 or later) or plain TCP. For the .cpp files of this folder.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "common/base/result.hpp"
#include "common/http/origin.hpp"

namespace chipweave::http {

// Shared by all connections to one origin.
struct SharedOrigin {
  // Errors: invalid_argument for an unusable certificate or key.
  static Result<std::shared_ptr<SharedOrigin>> make(Origin origin);
  Origin origin;
  boost::asio::ssl::context tls{boost::asio::ssl::context::tls_client};
};

// Whether a request states the length of its body: there is one, or the method calls for one.
bool announces_body(std::string_view method, std::string_view body);
// What is sent for a request. The caller has checked that no part can end its line.
std::string request_text(std::string_view method, std::string_view target, std::string_view host,
                         const std::vector<std::pair<std::string, std::string>>& headers,
                         std::string_view body);

class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
 public:
  using Opened = std::function<void(Result<void>)>;
  using Wrote = std::function<void(Result<void>)>;
  // Bytes, valid during the call; empty: the server has closed the connection.
  using Read = std::function<void(Result<std::string_view>)>;

  ClientConnection(boost::asio::io_context& context, std::shared_ptr<SharedOrigin> to);

  void open(Opened done);
  // `bytes` must stay valid until `done` is called.
  void write(std::string_view bytes, Wrote done);
  void read(Read done);
  void close();
  // Whether the connection is still open and has no unread bytes. Check it before a request on a
  // reused connection.
  bool quiet();
  bool is_to(const SharedOrigin& origin) const { return to_.get() == &origin; }

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

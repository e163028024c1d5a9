// ScriptedServer — a server on loopback that sends exactly the bytes that a test specifies, for
// clients that must survive anything. One thread per connection; all end with the server.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "tests/component/kube_api/certificates.hpp"

namespace chipweave::test {

class ScriptedServer {
 public:
  // A script's view of one connection. Reads and writes return false once the client is gone.
  class Talk {
   public:
    int number = 0;  // of the connection, from 1
    // A whole request; its first line and header, then the body.
    std::optional<std::string> request();
    bool say(std::string_view bytes);
    // With a length, kept alive.
    bool reply(int status, const std::string& body, const std::string& more_header = "");
    void chunk(std::string_view bytes);
    // Waits until the client disconnects.
    void wait_for_end();
    // Ends it so that the client sees a reset.
    void reset();

   private:
    friend class ScriptedServer;
    using Socket = boost::asio::ip::tcp::socket;
    Talk(Socket socket, boost::asio::ssl::context* tls);
    bool shake_hands();
    bool read_some();
    // Ends the sending direction; any thread.
    void hang_up();
    Socket& socket();
    std::optional<Socket> plain_;
    std::optional<boost::asio::ssl::stream<Socket>> secure_;
    std::string got_;
    std::unique_ptr<std::mutex> closing_ = std::make_unique<std::mutex>();
  };
  using Script = std::function<void(Talk& talk)>;

  // tls: the server's certificate; nullopt: plain HTTP.
  ScriptedServer(std::optional<Pem> tls, Script script);
  ~ScriptedServer();

  std::uint16_t port() const { return port_; }
  int connections() const { return connections_; }
  // Connections that come from now on see this certificate.
  void use(const Pem& tls);

 private:
  void accept();

  Script script_;
  boost::asio::io_context context_;
  std::list<boost::asio::ssl::context> tls_;  // the last one is in use; older ones may be
  boost::asio::ip::tcp::acceptor acceptor_;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_{0};
  std::atomic<bool> ending_{false};
  std::mutex mutex_;
  std::list<Talk> talks_;
  std::vector<std::thread> threads_;
  std::thread acceptor_thread_;
};

}  // namespace chipweave::test

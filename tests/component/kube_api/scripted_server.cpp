#include "tests/component/kube_api/scripted_server.hpp"

#include <sys/socket.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

namespace chipweave::test {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

ScriptedServer::Talk::Talk(Socket socket, asio::ssl::context* tls) {
  if (tls != nullptr) {
    secure_.emplace(std::move(socket), *tls);
  } else {
    plain_.emplace(std::move(socket));
  }
}

tcp::socket& ScriptedServer::Talk::socket() { return secure_ ? secure_->next_layer() : *plain_; }

bool ScriptedServer::Talk::shake_hands() {
  if (!secure_) return true;
  error_code ec;
  secure_->handshake(asio::ssl::stream_base::server, ec);
  return !ec;
}

bool ScriptedServer::Talk::read_some() {
  std::array<char, 4096> buffer{};
  error_code ec;
  const std::size_t n = secure_ ? secure_->read_some(asio::buffer(buffer), ec)
                                : plain_->read_some(asio::buffer(buffer), ec);
  if (ec) return false;
  got_.append(buffer.data(), n);
  return true;
}

std::optional<std::string> ScriptedServer::Talk::request() {
  std::size_t end = 0;
  while ((end = got_.find("\r\n\r\n")) == std::string::npos) {
    if (!read_some()) return std::nullopt;
  }
  end += 4;
  std::size_t body = 0;
  if (const auto at = got_.find("Content-Length: "); at < end)
    body = std::strtoul(got_.c_str() + at + 16, nullptr, 10);
  while (got_.size() < end + body) {
    if (!read_some()) return std::nullopt;
  }
  std::string whole = got_.substr(0, end + body);
  got_.erase(0, end + body);
  return whole;
}

bool ScriptedServer::Talk::say(std::string_view bytes) {
  error_code ec;
  const auto buffer = asio::buffer(bytes.data(), bytes.size());
  if (secure_) {
    asio::write(*secure_, buffer, ec);
  } else {
    asio::write(*plain_, buffer, ec);
  }
  return !ec;
}

bool ScriptedServer::Talk::reply(int status, const std::string& body,
                                 const std::string& more_header) {
  return say("HTTP/1.1 " + std::to_string(status) + " X\r\n" + more_header +
             "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
}

void ScriptedServer::Talk::chunk(std::string_view bytes) {
  std::array<char, 20> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  say(size.data() + std::string(bytes) + "\r\n");
}

void ScriptedServer::Talk::wait_for_end() {
  while (read_some()) {
  }
}

void ScriptedServer::Talk::hang_up() {
  const std::lock_guard lock(*closing_);
  if (socket().is_open()) ::shutdown(socket().native_handle(), SHUT_RDWR);
}

void ScriptedServer::Talk::reset() {
  const std::lock_guard lock(*closing_);
  error_code ignored;
  socket().set_option(asio::socket_base::linger(true, 0), ignored);
  socket().close(ignored);
}

ScriptedServer::ScriptedServer(std::optional<Pem> tls, Script script)
    : script_(std::move(script)),
      acceptor_(context_, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0)),
      port_(acceptor_.local_endpoint().port()) {
  if (tls) use(*tls);
  acceptor_thread_ = std::thread([this] { accept(); });
}

void ScriptedServer::use(const Pem& tls) {
  const std::lock_guard lock(mutex_);
  asio::ssl::context& context = tls_.emplace_back(asio::ssl::context::tls_server);
  context.use_certificate_chain(asio::buffer(tls.certificate));
  context.use_private_key(asio::buffer(tls.key), asio::ssl::context::pem);
}

ScriptedServer::~ScriptedServer() {
  ending_ = true;
  // Both calls unblock reads and writes in other threads.
  ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
  acceptor_thread_.join();
  {
    const std::lock_guard lock(mutex_);
    for (Talk& talk : talks_) talk.hang_up();
  }
  for (std::thread& thread : threads_) thread.join();
}

void ScriptedServer::accept() {
  while (!ending_) {
    error_code ec;
    tcp::socket socket(context_);
    acceptor_.accept(socket, ec);
    if (ec || ending_) return;
    socket.set_option(tcp::no_delay(true), ec);
    const std::lock_guard lock(mutex_);
    talks_.push_back(Talk(std::move(socket), tls_.empty() ? nullptr : &tls_.back()));
    Talk& talk = talks_.back();
    talk.number = ++connections_;
    threads_.emplace_back([this, &talk] {
      if (talk.shake_hands()) script_(talk);
      talk.hang_up();  // closed by its owner at the end
    });
  }
}

}  // namespace chipweave::test

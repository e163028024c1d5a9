// The scheduler's memory while every connection that it accepts sends a large body and does not
// finish it: it stays below the chart's limit, and good requests are answered meanwhile.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/http/client.hpp"
#include "tests/component/agent_hardware/program.hpp"
#include "tests/component/kube_api/certificates.hpp"
#include "tests/support/chart_memory.hpp"
#include "tests/support/number_after.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave {
namespace {

constexpr std::size_t kConnections = 1024;                  // as many as the scheduler keeps open
constexpr std::size_t kBodyBytes = std::size_t{64} << 20U;  // as large as it reads
constexpr std::size_t kSentBytes = std::size_t{2} << 20U;

std::uint16_t http_port_of(const std::string& port_file) {
  std::optional<long> port;
  const bool there = eventually([&] {
    port = test::number_after(test::file_content(port_file).value_or(""), "\"http\":");
    return port.has_value();
  });
  if (!there) throw std::runtime_error("the scheduler does not start");
  return static_cast<std::uint16_t>(*port);
}

struct Freed {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* link) const { SSL_free(link); }
};
using TlsContext = std::unique_ptr<SSL_CTX, Freed>;

// A connection that begins a body of 64 MiB, over TLS if there is a context; it trusts any server.
class Flood {
 public:
  Flood(std::uint16_t port, SSL_CTX* context) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // sockets' one cast: the C interface takes every family through sockaddr
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
      throw std::runtime_error("connect");
    if (context != nullptr) {
      link_.reset(SSL_new(context));
      SSL_set_fd(link_.get(), fd_);
      if (SSL_connect(link_.get()) != 1) throw std::runtime_error("TLS handshake");
    }
    ::fcntl(fd_, F_SETFL, O_NONBLOCK);
  }
  Flood(Flood&& from) noexcept
      : fd_(std::exchange(from.fd_, -1)), link_(std::move(from.link_)), sent_(from.sent_) {}
  Flood& operator=(Flood&&) = delete;
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;
  ~Flood() {
    link_.reset();
    if (fd_ >= 0) ::close(fd_);
  }
  // Sends what the socket takes; false when all is sent or the server has closed.
  bool send(std::string_view request) {
    const std::string_view left = request.substr(sent_, std::size_t{256} << 10U);
    if (link_) return send_secured(left) && sent_ < request.size();
    const ssize_t n = ::send(fd_, left.data(), left.size(), MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN;
    sent_ += static_cast<std::size_t>(n);
    return sent_ < request.size();
  }
  std::size_t sent() const { return sent_; }

 private:
  bool send_secured(std::string_view bytes) {
    std::size_t n = 0;
    const int result = SSL_write_ex(link_.get(), bytes.data(), bytes.size(), &n);
    const int why = SSL_get_error(link_.get(), result);
    ERR_clear_error();
    sent_ += n;
    return result == 1 || why == SSL_ERROR_WANT_WRITE || why == SSL_ERROR_WANT_READ;
  }

  int fd_;
  std::unique_ptr<SSL, Freed> link_;  // null: without TLS
  std::size_t sent_ = 0;
};

enum class Port { clear_text, tls };

// A scheduler on loopback, or as the chart starts it: with TLS, reachable from outside, and callers
// with secrets.
class SchedulerMemory : public ::testing::TestWithParam<Port> {
 protected:
  void SetUp() override {
    const rlimit files{4096, 4096};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
    std::vector<std::string> words = {"chipweave-scheduler", "--standalone", "--port-file",
                                      at("ports")};
    std::vector<std::string> more = {"--http", "127.0.0.1:0", "--grpc", "127.0.0.1:0"};
    if (GetParam() == Port::tls) more = of_chart();
    words.insert(words.end(), more.begin(), more.end());
    scheduler_.emplace(words, std::map<std::string, std::string>{}, at("log"));
    port_ = http_port_of(at("ports"));
  }
  std::string at(const std::string& file) const { return folder_.path() + "/" + file; }
  std::vector<std::string> of_chart() {
    const test::Pem own = test::make_certificate(ca_, "IP:127.0.0.1");
    folder_.put("tls.crt", own.certificate);
    folder_.put("tls.key", own.key);
    for (const char* caller : {"kube-scheduler", "volcano"})
      folder_.put(std::string("callers/") + caller, secret_ + caller);
    return {"--http",           "0.0.0.0:0",   "--grpc",    "off",
            "--tls-cert",       at("tls.crt"), "--tls-key", at("tls.key"),
            "--caller-secrets", at("callers")};
  }
  // What a caller writes for the path: with its secret, where callers have one.
  std::string target(const std::string& path) const {
    if (GetParam() == Port::clear_text) return path;
    const bool kube = path.starts_with("/kube/");
    return "/callers/" + secret_ + (kube ? "kube-scheduler" : "volcano") + path;
  }
  Result<http::Client> client() const {
    const std::string address = "127.0.0.1:" + std::to_string(port_);
    if (GetParam() == Port::clear_text) return http::Client::connect_to(address);
    return http::Client::connect_to("https://" + address, ClientPem{ca_.certificate, {}, {}, {}});
  }
  bool answered(const std::string& method, const std::string& path, const std::string& body) {
    return eventually([&] {
      auto caller = client();
      const auto reply = caller ? caller->call(method, path, body) : caller.error();
      return reply.ok() && reply->status == 200 &&
             reply->body.find("all its memory") == std::string::npos;
    });
  }
  // Begins as many bodies as the scheduler keeps connections open; returns how much was sent.
  std::size_t flood() {
    TlsContext context;
    if (GetParam() == Port::tls) {
      context.reset(SSL_CTX_new(TLS_client_method()));
      SSL_CTX_set_mode(context.get(),
                       SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    }
    const std::string request = "POST " + target("/kube/filter") +
                                " HTTP/1.1\r\nHost: x\r\nContent-Length: 67108864\r\n\r\n" +
                                std::string(kSentBytes, '[');
    std::vector<Flood> all;
    all.reserve(kConnections);
    for (std::size_t i = 0; i < kConnections; ++i) all.emplace_back(port_, context.get());
    std::vector<Flood*> sending;
    sending.reserve(kConnections);
    for (Flood& one : all) sending.push_back(&one);
    const auto before = std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's sockets raise it
    const bool all_sent = eventually(
        [&] {
          std::erase_if(sending, [&](Flood* one) { return !one->send(request); });
          return sending.empty();
        },
        std::chrono::seconds(60));
    std::signal(SIGPIPE, before);
    EXPECT_TRUE(all_sent) << sending.size() << " connections are neither read nor refused";
    EXPECT_TRUE(answered("GET", "/healthz", ""));
    EXPECT_TRUE(answered(
        "POST", target("/kube/filter"),
        R"({"Pod":{"metadata":{"name":"p","namespace":"ns","uid":"u"}},"NodeNames":["n1"]})"));
    std::size_t sent = 0;
    for (const Flood& one : all) sent += one.sent();
    return sent;
  }

  const std::string secret_ = std::string(48, 'k');
  const test::Pem ca_ = test::make_authority("CA");
  io::TempFolder folder_;
  std::optional<Program> scheduler_;
  std::uint16_t port_ = 0;
};

TEST_P(SchedulerMemory, StaysBelowTheChartsLimitWhateverIsSent) {
  const std::size_t sent = flood();
  // bodies that are complete, and take most memory to read
  auto caller = client();
  ASSERT_TRUE(caller) << caller.error().text();
  for (const char* path : {"/kube/filter", "/kube/preempt", "/volcano/predicate"}) {
    for (const char* part : {"[", "{},", "1,"}) {
      std::string body = R"({"x":[)";
      while (body.size() < kBodyBytes - 8) body += part;
      EXPECT_TRUE(eventually([&] { return caller->call("POST", target(path), body).ok(); }))
          << path << part;
    }
  }
  // what the container has beside a large state and the callers of the other port
  const long left =
      test::memory_limit_of_chart() - test::kLargeStateKilobytes - test::kGrpcCallersKilobytes;
  EXPECT_LT(scheduler_->kilobytes("VmHWM"), left);
  EXPECT_GT(sent >> 10U, static_cast<std::size_t>(left));
}

INSTANTIATE_TEST_SUITE_P(Ports, SchedulerMemory, ::testing::Values(Port::clear_text, Port::tls),
                         [](const auto& port) {
                           return std::string(port.param == Port::tls ? "Tls" : "ClearText");
                         });

}  // namespace
}  // namespace chipweave

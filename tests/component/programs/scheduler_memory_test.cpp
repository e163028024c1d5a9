// The scheduler's memory while every connection that it accepts sends a large body and does not
// finish it: it stays below the chart's limit, and good requests are answered meanwhile.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/http/client.hpp"
#include "tests/component/agent_hardware/program.hpp"
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

// Begins a body of 64 MiB.
class Flood {
 public:
  explicit Flood(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // sockets' one cast: the C interface takes every family through sockaddr
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
      throw std::runtime_error("connect");
    ::fcntl(fd_, F_SETFL, O_NONBLOCK);
  }
  Flood(Flood&& from) noexcept : fd_(std::exchange(from.fd_, -1)), sent_(from.sent_) {}
  Flood& operator=(Flood&&) = delete;
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;
  ~Flood() {
    if (fd_ >= 0) ::close(fd_);
  }
  // Sends what the socket takes; false when all is sent or the server has closed.
  bool send(std::string_view request) {
    const std::string_view left = request.substr(sent_, std::size_t{256} << 10U);
    const ssize_t n = ::send(fd_, left.data(), left.size(), MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN;
    sent_ += static_cast<std::size_t>(n);
    return sent_ < request.size();
  }
  std::size_t sent() const { return sent_; }

 private:
  int fd_;
  std::size_t sent_ = 0;
};

TEST(SchedulerMemory, StaysBelowTheChartsLimitWhateverIsSent) {
  const rlimit files{4096, 4096};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  io::TempFolder folder;
  const std::string ports = folder.path() + "/ports";
  const Program scheduler({"chipweave-scheduler", "--standalone", "--http", "127.0.0.1:0", "--grpc",
                           "127.0.0.1:0", "--port-file", ports},
                          {}, folder.path() + "/log");
  const std::uint16_t port = http_port_of(ports);

  const std::string request =
      "POST /kube/filter HTTP/1.1\r\nHost: x\r\nContent-Length: 67108864\r\n\r\n" +
      std::string(kSentBytes, '[');
  std::vector<Flood> flood;
  flood.reserve(kConnections);
  for (std::size_t i = 0; i < kConnections; ++i) flood.emplace_back(port);
  std::vector<Flood*> sending;
  sending.reserve(kConnections);
  for (Flood& one : flood) sending.push_back(&one);
  const bool all_sent = eventually([&] {
    std::erase_if(sending, [&](Flood* one) { return !one->send(request); });
    return sending.empty();
  });
  EXPECT_TRUE(all_sent) << sending.size() << " connections are neither read nor refused";

  const std::string url = "127.0.0.1:" + std::to_string(port);
  const auto answered = [&](const std::string& method, const std::string& path,
                            const std::string& body) {
    return eventually([&] {
      auto client = http::Client::connect_to(url);
      const auto reply = client ? client->call(method, path, body) : client.error();
      return reply.ok() && reply->status == 200 &&
             reply->body.find("all its memory") == std::string::npos;
    });
  };
  EXPECT_TRUE(answered("GET", "/healthz", ""));
  EXPECT_TRUE(answered(
      "POST", "/kube/filter",
      R"({"Pod":{"metadata":{"name":"p","namespace":"ns","uid":"u"}},"NodeNames":["n1"]})"));
  std::size_t sent = 0;
  for (const Flood& one : flood) sent += one.sent();
  // bodies that are complete, and take most memory to read
  flood.clear();
  auto client = http::Client::connect_to(url);
  ASSERT_TRUE(client) << client.error().text();
  for (const char* path : {"/kube/filter", "/kube/preempt", "/volcano/predicate"}) {
    for (const char* part : {"[", "{},", "1,"}) {
      std::string body = R"({"x":[)";
      while (body.size() < kBodyBytes - 8) body += part;
      EXPECT_TRUE(eventually([&] { return client->call("POST", path, body).ok(); }))
          << path << part;
    }
  }
  // what the container has beside a large state and the callers of the other port
  const long left =
      test::memory_limit_of_chart() - test::kLargeStateKilobytes - test::kGrpcCallersKilobytes;
  EXPECT_LT(scheduler.kilobytes("VmHWM"), left);
  EXPECT_GT(sent >> 10U, static_cast<std::size_t>(left));
}

}  // namespace
}  // namespace chipweave

// How the agent ends when it cannot begin.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/component/programs/run.hpp"

namespace chipweave {
namespace {

using ::testing::HasSubstr;

// A port of 127.0.0.1 that somebody listens on.
class TakenPort {
 public:
  TakenPort() : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    // sockets' one cast: the C interface takes every family through sockaddr
    if (::bind(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
        ::listen(fd_, 1) != 0 || ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
      throw std::runtime_error("listen");
    address_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  }
  TakenPort(const TakenPort&) = delete;
  TakenPort& operator=(const TakenPort&) = delete;
  ~TakenPort() { ::close(fd_); }
  const std::string& address() const { return address_; }

 private:
  int fd_;
  std::string address_;
};

const std::string kAgent = "chipweave-agent --node n1 --scheduler 127.0.0.1:1 ";

TEST(AgentExit, ATakenMetricsAddressIsOne) {
  const TakenPort taken;
  const Outcome out = complaint(kAgent + "--probe profile:hgx-h100-8 --metrics " + taken.address());
  EXPECT_EQ(out.code, 1);
  EXPECT_THAT(out.text, HasSubstr(taken.address()));
}

TEST(AgentExit, NothingToReportIsThreeAndWrongUsageTwo) {
  EXPECT_EQ(complaint(kAgent + "--probe file:/no/such/file").code, 3);
  EXPECT_EQ(complaint(kAgent + "--probe profile:no-such-machine").code, 2);
  EXPECT_EQ(complaint(kAgent + "--no-such-flag").code, 2);
}

}  // namespace
}  // namespace chipweave

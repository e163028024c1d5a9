// How the agent exits when it cannot start.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "tests/component/programs/run.hpp"

namespace chipweave {
namespace {

using ::testing::HasSubstr;

// A port of 127.0.0.1 that is in use.
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

const std::string kCluster = "chipweave-agent --probe profile:pcie-8 --node ";

TEST(AgentExit, ItReportsToExactlyOnePlace) {
  const std::string nowhere = "chipweave-agent --node n1 --probe profile:pcie-8";
  for (const std::string& line :
       {nowhere, nowhere + " --kubernetes=false", nowhere + " --lease-namespace a"}) {
    const Outcome out = complaint(line);
    EXPECT_EQ(out.code, 2) << line;
    EXPECT_THAT(out.text, HasSubstr("--scheduler is required: HOST:PORT of the scheduler's gRPC "
                                    "server (in a cluster: --kubernetes or --kubeconfig)"));
  }
  for (const char* cluster : {"--kubernetes", "--kubeconfig /no/such/file"}) {
    const Outcome out = complaint(kAgent + cluster);
    EXPECT_EQ(out.code, 2) << cluster;
    EXPECT_THAT(out.text, HasSubstr("--scheduler cannot be combined with --kubernetes or "
                                    "--kubeconfig"));
  }
  EXPECT_THAT(complaint(kAgent + "--lease-namespace a").text,
              HasSubstr("--lease-namespace requires --kubernetes or --kubeconfig"));
}

TEST(AgentExit, NamesThatNoObjectCanHaveAreWrongUsage) {
  for (const char* rest :
       {"N_1 --kubernetes", "n1 --kubernetes --lease-namespace a.b",
        "n1 --kubernetes --lease-namespace kube-node-lease", "n1 --kubernetes=perhaps"}) {
    EXPECT_EQ(complaint(kCluster + rest).code, 2) << rest;
  }
}

TEST(AgentExit, WithoutAWayIntoTheClusterThereIsNoPoint) {
  Outcome out = run("env -u KUBERNETES_SERVICE_HOST %B/" + kCluster + "n1 --kubernetes 2>&1");
  EXPECT_EQ(out.code, 2);
  EXPECT_THAT(out.text, HasSubstr("a kubeconfig is required"));
  out = complaint(kCluster + "n1 --kubeconfig /no/such/file");
  EXPECT_EQ(out.code, 3);
  EXPECT_THAT(out.text, HasSubstr("/no/such/file"));
}

TEST(AgentExit, TheKubeletsSocketIsAPathAndForClustersAlone) {
  Outcome out =
      complaint(kCluster + "n1 --scheduler 127.0.0.1:1 --pod-resources /run/kubelet.sock");
  EXPECT_EQ(out.code, 2);
  EXPECT_THAT(out.text, HasSubstr("--pod-resources requires --kubernetes or --kubeconfig"));
  for (const char* path : {"kubelet.sock", "unix:///run/kubelet.sock", "/run/kubelet/"}) {
    out = complaint(kCluster + "n1 --kubernetes --publish mindcluster --pod-resources " + path);
    EXPECT_EQ(out.code, 2) << path;
    EXPECT_THAT(out.text, HasSubstr("must be the absolute path of a socket"));
  }
}

TEST(AgentFlags, APrintedConfigIsAConfigFile) {
  const std::string printed = run("%B/" + kCluster + "n1 --kubernetes --print-config").text;
  EXPECT_THAT(printed, HasSubstr("kubernetes: 'true'"));
  const std::string file = testing::TempDir() + "chipweave-agent.yaml";
  std::ofstream(file) << printed;
  EXPECT_EQ(run("%B/chipweave-agent --config " + file + " --print-config 2>&1").text, printed);
}

}  // namespace
}  // namespace chipweave

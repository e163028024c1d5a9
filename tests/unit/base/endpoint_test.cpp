#include "common/base/endpoint.hpp"

#include <gtest/gtest.h>

namespace chipweave {
namespace {

TEST(Endpoint, ReadsNamesAndAddresses) {
  const auto v4 = parse_endpoint("127.0.0.1:9200", PortZero::refused);
  ASSERT_TRUE(v4);
  EXPECT_EQ(v4->host, "127.0.0.1");
  EXPECT_EQ(v4->port, 9200);
  const auto name = parse_endpoint("scheduler.ns-1.svc:1", PortZero::refused);
  ASSERT_TRUE(name);
  EXPECT_EQ(name->text(), "scheduler.ns-1.svc:1");
  const auto v6 = parse_endpoint("[::1]:80", PortZero::refused);
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->host, "::1");
  EXPECT_EQ(v6->text(), "[::1]:80");
  EXPECT_TRUE(parse_endpoint("0.0.0.0:0", PortZero::allowed));
}

TEST(Endpoint, RefusesWhatIsNoAddress) {
  const std::string long_host(254, 'a');
  for (const std::string& text :
       {std::string(""), std::string("host"), std::string(":1"), std::string("host:"),
        std::string("host:x"), std::string("host:65536"), std::string("host:-1"),
        std::string("host:1 "), std::string("ho st:1"), std::string("unix:/run/x:1"),
        std::string(":"), std::string(":80"), std::string("::1:80"), std::string("[]:1"),
        long_host + ":1"}) {
    const auto got = parse_endpoint(text, PortZero::allowed);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code, Errc::invalid_argument);
    EXPECT_NE(got.error().message.find("HOST:PORT"), std::string::npos) << got.error().message;
  }
  EXPECT_FALSE(parse_endpoint("host:0", PortZero::refused));
}

TEST(Endpoint, KnowsWhatOnlyThisMachineReaches) {
  for (const char* here : {"127.0.0.1:1", "127.1.2.3:1", "[::1]:1", "localhost:1"})
    EXPECT_TRUE(parse_endpoint(here, PortZero::allowed)->is_loopback()) << here;
  for (const char* there : {"0.0.0.0:1", "10.0.0.127:1", "[::]:1", "127.example.com:1", "host:1"})
    EXPECT_FALSE(parse_endpoint(there, PortZero::allowed)->is_loopback()) << there;
}

TEST(SocketPath, IsAbsoluteShortAndPlain) {
  EXPECT_TRUE(check_socket_path("/var/lib/kubelet/pod-resources/kubelet.sock"));
  EXPECT_TRUE(check_socket_path("/" + std::string(106, 'a')));
  for (const std::string& path :
       {std::string(), std::string("kubelet.sock"), std::string("./a"), std::string("unix:///a"),
        std::string("/"), std::string("/run/"), std::string("/a b"), std::string("/a%2f"),
        std::string("/a?b"), std::string("/a\n"), "/" + std::string(107, 'a')}) {
    const auto got = check_socket_path(path);
    ASSERT_FALSE(got) << path;
    EXPECT_TRUE(got.error().message.starts_with("must be ")) << got.error().message;
  }
}

}  // namespace
}  // namespace chipweave

#include "common/http/client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <vector>

#include "common/base/limits.hpp"
#include "tests/unit/http/running_server.hpp"
#include "tests/unit/http/scripted_peer.hpp"

namespace chipweave::http {
namespace {

TEST(Client, UsesOneConnectionForManyCalls) {
  RunningServer running(echo);
  auto client = Client::connect_to("http://" + running.url() + "/");
  ASSERT_TRUE(client.ok()) << client.error().text();
  for (const char* body : {"", "a", "two words"}) {
    const auto reply = client->call("POST", "/p?q", body);
    ASSERT_TRUE(reply.ok()) << reply.error().text();
    EXPECT_EQ(reply->body, "POST /p?q " + std::string(body));
  }
  const auto head = client->call("HEAD", "/p", "");
  ASSERT_TRUE(head.ok()) << head.error().text();
  EXPECT_EQ(head->body, "");
  const auto get = client->call("GET", "/p", "");
  ASSERT_TRUE(get.ok()) << get.error().text();
  EXPECT_EQ(get->body, "GET /p? ");
  EXPECT_EQ(running.stats().connections_open, 1U);
}

TEST(Client, SendsATokenWithEveryRequest) {
  RunningServer running([](const Request& request) {
    Response response;
    response.body = request.authorization;
    return response;
  });
  auto client = Client::connect_to(running.url(), {}, "abc_-123");
  ASSERT_TRUE(client.ok()) << client.error().text();
  for (const char* method : {"GET", "POST"})
    EXPECT_EQ(client->call(method, "/", "").value().body, "Bearer abc_-123");
  for (const char* token : {"a b", "a\r\nX: y", "\x7f"})
    EXPECT_EQ(Client::connect_to(running.url(), {}, token).error().code, Errc::invalid_argument);
}

TEST(Client, SendsAndReceivesLargeBodies) {
  RunningServer running(echo);
  auto client = Client::connect_to(running.url());
  ASSERT_TRUE(client.ok());
  const std::string body(20U << 20U, 'b');
  const auto reply = client->call("POST", "/", body);
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->body, "POST /? " + body);
}

TEST(Client, ComesBackWhenAKeptConnectionWasClosed) {
  ScriptedPeer peer({{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"},
                     {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2"}});
  auto client = Client::connect_to(peer.url());
  ASSERT_TRUE(client.ok());
  EXPECT_EQ(client->call("POST", "/", "first").value_or({}).body, "1");
  peer.wait_until_closed(1);
  EXPECT_EQ(client->call("POST", "/", "second").value_or({}).body, "2");
  EXPECT_EQ(peer.finish(), 2);
}

TEST(Client, DoesNotRepeatAPostThatTheServerMayHaveActedOn) {
  ScriptedPeer peer({{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1", ScriptedPeer::kNoAnswer},
                     {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2"}});
  auto client = Client::connect_to(peer.url());
  ASSERT_TRUE(client.ok());
  EXPECT_EQ(client->call("POST", "/", "first").value_or({}).body, "1");
  const auto second = client->call("POST", "/", "second");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Errc::unavailable);
  EXPECT_EQ(peer.finish(), 1);
}

TEST(Client, RepeatsAGetThatWasNotAnswered) {
  ScriptedPeer peer({{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1", ScriptedPeer::kNoAnswer},
                     {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2"}});
  auto client = Client::connect_to(peer.url());
  ASSERT_TRUE(client.ok());
  EXPECT_EQ(client->call("GET", "/", "").value_or({}).body, "1");
  EXPECT_EQ(client->call("GET", "/", "").value_or({}).body, "2");
  EXPECT_EQ(peer.finish(), 2);
}

TEST(Client, DoesNotRepeatARequestThatWasBegunToBeAnswered) {
  ScriptedPeer peer(
      {{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1", "HTTP/1.1 200 OK\r\nContent-Le"},
       {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nX"}});
  auto client = Client::connect_to(peer.url());
  ASSERT_TRUE(client.ok());
  EXPECT_EQ(client->call("POST", "/", "first").value_or({}).body, "1");
  const auto second = client->call("POST", "/", "second");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Errc::unavailable);
}

TEST(Client, TriesAgainOnlyOnce) {
  ScriptedPeer peer({{}, {}, {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nX"}});
  auto client = Client::connect_to(peer.url());
  ASSERT_TRUE(client.ok());
  const auto reply = client->call("GET", "/", "");
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Errc::unavailable);
}

TEST(Client, GivesUpAtTheDeadline) {
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  RunningServer running([released](const Request& request) {
    if (request.path == "/wait") released.wait();
    return echo(request);
  });
  auto client = Client::connect_to(running.url());
  ASSERT_TRUE(client.ok());
  const auto late = client->call("GET", "/wait", "", std::chrono::milliseconds(30));
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, Errc::deadline);
  release.set_value();
  // the late reply must not be taken for the answer to the next request
  const auto next = client->call("GET", "/next", "");
  ASSERT_TRUE(next.ok()) << next.error().text();
  EXPECT_EQ(next->body, "GET /next? ");
}

TEST(Client, RefusesAReplyLargerThanTheLimit) {
  ScriptedPeer peer({{"HTTP/1.1 200 OK\r\nContent-Length: " +
                      std::to_string(limits::kMaxHttpBodyBytes + 1) + "\r\n\r\n"}});
  auto client = Client::connect_to(peer.url());
  ASSERT_TRUE(client.ok());
  const auto reply = client->call("GET", "/", "");
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, Errc::limit_exceeded);
}

TEST(Client, SaysWhatIsWrongWithAnAddress) {
  for (const char* url :
       {"", "host", "https://", "host:port", "host:0", "host:65536", "host:1/path", "::1:80",
        "[::1:80", "[::1]x", ":80", "user@host:1", "ho st:1", "http://", "host:1?q"}) {
    const auto client = Client::connect_to(url);
    ASSERT_FALSE(client.ok()) << url;
    EXPECT_EQ(client.error().code, Errc::invalid_argument) << url;
    EXPECT_NE(client.error().message.find("expected host:port"), std::string::npos)
        << client.error().message;
  }
}

TEST(Client, SaysThatNobodyListens) {
  std::uint16_t port = 0;
  {
    RunningServer running(echo);
    port = running.port();
  }
  const auto client = Client::connect_to("127.0.0.1:" + std::to_string(port));
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.error().code, Errc::unavailable);
  EXPECT_NE(client.error().message.find("is the server running?"), std::string::npos)
      << client.error().message;
}

TEST(Client, RefusesTargetsThatWouldForgeAHeader) {
  RunningServer running(echo);
  auto client = Client::connect_to(running.url());
  ASSERT_TRUE(client.ok());
  for (const char* target : {"", "path", "/a b", "/a\r\nX: y"}) {
    const auto reply = client->call("GET", target, "");
    ASSERT_FALSE(reply.ok()) << target;
    EXPECT_EQ(reply.error().code, Errc::invalid_argument);
  }
  EXPECT_FALSE(client->call("GET /", "/", "").ok());
}

TEST(Client, SpeaksIPv6) {
  ServerOptions options;
  options.host = "[::1]";
  Loop probe;
  if (!Server(probe, options, echo).start().ok()) GTEST_SKIP() << "no IPv6 here";
  RunningServer running(echo, options);
  auto client = Client::connect_to("http://[::1]:" + std::to_string(running.port()));
  ASSERT_TRUE(client.ok()) << client.error().text();
  EXPECT_TRUE(client->call("GET", "/", "").ok());
}

}  // namespace
}  // namespace chipweave::http

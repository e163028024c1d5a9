// The blocking client over TLS, against our own server.
#include <gtest/gtest.h>

#include <string>

#include "common/http/client.hpp"
#include "tests/unit/http/scripted_peer.hpp"
#include "tests/unit/http/tls_socket.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::http {
namespace {

using chipweave::test::make_authority;
using chipweave::test::make_certificate;
using chipweave::test::Pem;

struct TlsClient : ::testing::Test {
  const Pem ca = make_authority("CA");
  const Pem other_ca = make_authority("another CA");

  static ServerOptions server_with(const Pem& own, const std::string& client_ca = "") {
    ServerOptions options;
    options.tls = TlsContext::make({own.certificate, own.key, client_ca}).value();
    return options;
  }
  ClientPem trusting() const { return {ca.certificate, {}, {}, {}}; }
  static std::string why_not(const RunningServer& running, const ClientPem& pem,
                             const std::string& host = "127.0.0.1") {
    const auto client =
        Client::connect_to("https://" + host + ":" + std::to_string(running.port()), pem);
    if (client.ok()) return "connected";
    EXPECT_EQ(client.error().code, Errc::unavailable);
    return client.error().text();
  }
};

TEST_F(TlsClient, CallsAgainAndAgainOnOneConnection) {
  RunningServer running(echo, server_with(make_certificate(ca, "IP:127.0.0.1")));
  auto client = Client::connect_to("https://" + running.url(), trusting());
  ASSERT_TRUE(client.ok()) << client.error().text();
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{3U << 20U}}) {
    const std::string body(size, 'x');
    const auto reply = client->call("POST", "/a", body);
    ASSERT_TRUE(reply.ok()) << reply.error().text();
    EXPECT_EQ(reply->body, "POST /a? " + body);
  }
  EXPECT_EQ(running.stats().connections_open, 1U);
  EXPECT_EQ(running.stats().requests, 3U);
}

// What a server sends on its own after the handshake does not make the connection stale.
TEST_F(TlsClient, TakesTicketsForNoReply) {
  const ServerOptions options = server_with(make_certificate(ca, "IP:127.0.0.1"));
  RunningServer running(echo, options);
  auto client = Client::connect_to("https://" + running.url(), trusting());
  ASSERT_TRUE(client.ok());
  // once a later client has been served, the server has finished this handshake including tickets
  TlsSocket later(running.port());
  later.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  later.read_reply();
  // a new connection would not be trusted
  const Pem other = make_certificate(other_ca, "IP:127.0.0.1");
  post_and_wait(running.loop(), [&] {
    options.tls->replace(*TlsContext::make({other.certificate, other.key, {}}).value());
  });
  const auto reply = client->call("GET", "/", "");
  EXPECT_TRUE(reply.ok()) << reply.error().text();
}

TEST_F(TlsClient, ReplacesAConnectionThatTheServerClosed) {
  ServerOptions options = server_with(make_certificate(ca, "IP:127.0.0.1"));
  options.idle_timeout = std::chrono::milliseconds(20);
  RunningServer running(echo, options);
  auto client = Client::connect_to("https://" + running.url(), trusting());
  ASSERT_TRUE(client.ok());
  for (int i = 0; i < 3; ++i) {
    const auto reply = client->call("POST", "/", "x");
    ASSERT_TRUE(reply.ok()) << reply.error().text();
    while (running.stats().connections_open > 0) {
    }
  }
}

TEST_F(TlsClient, SeesTheRefusalOfALargeBody) {
  ServerOptions options = server_with(make_certificate(ca, "IP:127.0.0.1"));
  options.max_body_bytes = 1000;
  RunningServer running(echo, options);
  auto client = Client::connect_to("https://" + running.url(), trusting());
  ASSERT_TRUE(client.ok());
  const auto reply = client->call("POST", "/", std::string(20U << 20U, 'x'));
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->status, 413);
}

TEST_F(TlsClient, BelievesTheAuthorityForTheNameOnly) {
  RunningServer by_address(echo, server_with(make_certificate(ca, "IP:127.0.0.1")));
  EXPECT_EQ(why_not(by_address, trusting()), "connected");
  EXPECT_NE(why_not(by_address, trusting(), "localhost").find("mismatch"), std::string::npos);
  EXPECT_NE(why_not(by_address, {other_ca.certificate, {}, {}, {}}).find("certificate verify"),
            std::string::npos);
  EXPECT_NE(why_not(by_address, {}).find("certificate verify"), std::string::npos);

  RunningServer by_name(echo, server_with(make_certificate(ca, "DNS:localhost")));
  EXPECT_EQ(why_not(by_name, trusting(), "localhost"), "connected");
  EXPECT_NE(why_not(by_name, trusting()).find("mismatch"), std::string::npos);
  ClientPem named = trusting();
  named.server_name = "localhost";
  EXPECT_EQ(why_not(by_name, named), "connected");

  RunningServer expired(echo, server_with(make_certificate(ca, "IP:127.0.0.1", -60)));
  EXPECT_NE(why_not(expired, trusting()).find("expired"), std::string::npos);
}

TEST_F(TlsClient, ShowsItsCertificate) {
  RunningServer running(
      [](const Request& request) {
        Response response;
        response.body = request.trusted ? "trusted" : "untrusted";
        return response;
      },
      server_with(make_certificate(ca, "IP:127.0.0.1"), ca.certificate));
  const auto answer = [&](const Pem& own) {
    auto client = Client::connect_to("https://" + running.url(),
                                     {ca.certificate, own.certificate, own.key, {}});
    if (!client.ok()) return client.error().text();
    const auto reply = client->call("GET", "/", "");
    return reply.ok() ? reply->body : reply.error().text();
  };
  EXPECT_EQ(answer(make_certificate(ca, "DNS:me")), "trusted");
  EXPECT_EQ(answer({}), "untrusted");
  EXPECT_NE(answer(make_certificate(other_ca, "DNS:me")).find("without an answer"),
            std::string::npos);
}

TEST_F(TlsClient, SaysThatTheServerSpeaksNoTls) {
  RunningServer running(echo);
  EXPECT_NE(why_not(running, trusting()).find("does it speak HTTPS"), std::string::npos);
}

TEST_F(TlsClient, SaysThatTheServerHangsUp) {
  ScriptedPeer peer({{ScriptedPeer::kNoAnswer}});
  const auto client = Client::connect_to("https://" + peer.url(), trusting());
  ASSERT_FALSE(client.ok());
  EXPECT_NE(client.error().text().find("TLS handshake"), std::string::npos);
}

TEST_F(TlsClient, RefusesAuthoritiesAndKeysThatAreNone) {
  const Pem own = make_certificate(ca, "DNS:me");
  EXPECT_TRUE(check_client_pem(trusting()));
  EXPECT_TRUE(check_client_pem({ca.certificate, own.certificate, own.key, {}}));
  EXPECT_FALSE(check_client_pem({"nonsense", {}, {}, {}}));
  EXPECT_FALSE(check_client_pem({ca.certificate, own.certificate, ca.key, {}}));
  EXPECT_FALSE(check_client_pem({ca.certificate, "nonsense", own.key, {}}));
}

}  // namespace
}  // namespace chipweave::http

// The server over TLS: handshakes, framing that does not match the records, rejected clients, a
// change of the certificate.
#include <gtest/gtest.h>

#include <deque>
#include <future>
#include <map>
#include <string>
#include <thread>

#include "common/http/server.hpp"
#include "common/http/tls_context.hpp"
#include "tests/unit/http/tls_socket.hpp"
#include "tests/unit/loop_thread.hpp"

namespace chipweave::http {
namespace {

using chipweave::test::make_authority;
using chipweave::test::make_certificate;
using chipweave::test::Pem;
using std::chrono::milliseconds;

const std::string kLocal = "IP:127.0.0.1,DNS:localhost";

std::string https_get(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n";
}

std::string https_post(const std::string& path, const std::string& body) {
  return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

Response show_trust(const Request& request) {
  Response response;
  response.body = request.trusted ? "trusted" : "untrusted";
  return response;
}

struct TlsServer : ::testing::Test {
  const Pem ca = make_authority("chipweave test CA");
  const Pem own = make_certificate(ca, kLocal);
  std::shared_ptr<TlsContext> context;

  static std::shared_ptr<TlsContext> make(const ServerPem& pem) {
    return TlsContext::make(pem).value();
  }
  ServerOptions options(const std::string& client_ca = "") {
    context = make({own.certificate, own.key, client_ca});
    ServerOptions out;
    out.tls = context;
    return out;
  }
  TlsWish wish() const {
    TlsWish out;
    out.ca = ca.certificate;
    return out;
  }
};

TEST_F(TlsServer, ServesRequestAfterRequestOnOneConnection) {
  RunningServer running(echo, options());
  TlsSocket socket(running.port(), wish());
  ASSERT_TRUE(socket.connected());
  for (int i = 0; i < 3; ++i) {
    socket.send(https_post("/a?b", "body " + std::to_string(i)));
    EXPECT_EQ(body_of(socket.read_reply()), "POST /a?b body " + std::to_string(i));
  }
  EXPECT_EQ(running.stats().connections_open, 1U);
  EXPECT_EQ(running.stats().bad_requests, 0U);
}

TEST_F(TlsServer, TellsUntilWhenItsCertificateIsValid) {
  RunningServer running(echo, options());
  const auto left = running.stats().certificate_not_after - std::chrono::system_clock::now();
  EXPECT_GT(left, std::chrono::minutes(30));
  EXPECT_LT(left, std::chrono::minutes(90));
}

TEST_F(TlsServer, HandshakesAndRequestsAreTasksOfTheLoop) {
  std::map<LoopTask, int> tasks;
  int posted = 0;
  {
    Loop loop;
    loop.on_held([&](LoopTask task, std::chrono::nanoseconds) { ++tasks[task]; });
    Server server(loop, options(), show_trust);
    const std::uint16_t port = server.start().value();
    std::thread thread([&] { loop.run(); });
    {
      TlsSocket socket(port, wish());
      // A request that arrives with the end of the handshake would be one task with it.
      for (bool over = false; !over; ++posted)
        post_and_wait(loop, [&] { over = tasks[LoopTask::tls_handshake] > 0; });
      socket.send(https_get("/"));
      EXPECT_EQ(body_of(socket.read_reply()), "trusted");
    }
    post_and_wait(loop, [] {});
    ++posted;
    loop.stop();
    thread.join();
  }
  EXPECT_GT(tasks[LoopTask::tls_handshake], 0);
  EXPECT_GT(tasks[LoopTask::request], 0);
  EXPECT_EQ(tasks[LoopTask::posted], posted);
}

TEST_F(TlsServer, AnswersPipelinedRequestsOfOneRecord) {
  RunningServer running(echo, options());
  TlsSocket socket(running.port(), wish());
  std::string all;
  for (int i = 0; i < 50; ++i) all += https_get("/" + std::to_string(i));
  socket.send(all);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(body_of(socket.read_reply()), "GET /" + std::to_string(i) + "? ");
}

TEST_F(TlsServer, ReadsABodyInTinyRecords) {
  RunningServer running(echo, options());
  TlsSocket socket(running.port(), wish());
  const std::string body(700, 'b');
  for (const char c : https_post("/tiny", body)) socket.send({&c, 1});
  EXPECT_EQ(body_of(socket.read_reply()), "POST /tiny? " + body);
}

TEST_F(TlsServer, ReadsABodyOfManyFullRecords) {
  RunningServer running(
      [](const Request& request) {
        Response response;
        response.body = std::to_string(request.body.size());
        return response;
      },
      options());
  TlsSocket socket(running.port(), wish());
  for (const std::size_t size : {std::size_t{16384}, std::size_t{131072}, std::size_t{5U << 20U}}) {
    socket.send(https_post("/", std::string(size, 'x')));
    EXPECT_EQ(body_of(socket.read_reply()), std::to_string(size));
  }
}

TEST_F(TlsServer, SendsALargeReplyToASlowReader) {
  std::string large;
  for (int i = 0; i < 900'000; ++i) large += std::to_string(i);
  RunningServer running(
      [&](const Request&) {
        Response response;
        response.body = large;
        return response;
      },
      options());
  TlsWish small = wish();
  small.receive_buffer = 4096;
  TlsSocket socket(running.port(), small);
  socket.send(https_get("/"));
  while (running.stats().requests == 0) {
  }
  EXPECT_EQ(body_of(socket.read_reply()), large);
  socket.send(https_get("/"));
  EXPECT_EQ(body_of(socket.read_reply()), large);
}

TEST_F(TlsServer, SaysContinueBeforeTheBody) {
  RunningServer running(echo, options());
  TlsSocket socket(running.port(), wish());
  socket.send("POST /e HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  EXPECT_EQ(status_of(socket.read_reply()), "HTTP/1.1 100");
  socket.send("body");
  EXPECT_EQ(body_of(socket.read_reply()), "POST /e? body");
}

TEST_F(TlsServer, SaysGoodbyeWhenItCloses) {
  RunningServer running(echo, options());
  TlsSocket asked(running.port(), wish());
  asked.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(status_of(asked.read_to_close()), "HTTP/1.1 200");
  EXPECT_TRUE(asked.got_close_notify());

  TlsSocket refused(running.port(), wish());
  refused.send("nonsense\r\n\r\n");
  EXPECT_EQ(status_of(refused.read_to_close()), "HTTP/1.1 400");
  EXPECT_TRUE(refused.got_close_notify());
  EXPECT_EQ(running.stats().bad_requests, 1U);
}

TEST_F(TlsServer, AnswersAClientThatSaysGoodbyeRightAfterItsRequest) {
  RunningServer running(echo, options());
  {
    TlsSocket socket(running.port(), wish());
    socket.send(https_get("/last"));
    socket.send_close_notify();
    EXPECT_EQ(body_of(socket.read_reply()), "GET /last? ");
    socket.read_to_close();  // and the server closes, although this side stays open
  }
  // cut without close_notify, with what was sent and after the server has read it
  std::make_unique<TlsSocket>(running.port(), wish())->send("GET /half");
  {
    TlsSocket socket(running.port(), wish());
    socket.send(https_get("/whole") + "GET /half");
    EXPECT_EQ(body_of(socket.read_reply()), "GET /whole? ");
  }
  while (running.stats().connections_open > 0) {
  }
  EXPECT_EQ(running.stats().bad_requests, 0U);
}

TEST_F(TlsServer, RepliesThatComeLaterComeOverTlsToo) {
  std::deque<std::shared_ptr<PendingReply>> waiting;
  RunningServer running(
      [&](const Request&) -> Answer {
        return Later([&](std::shared_ptr<PendingReply> r) { waiting.push_back(std::move(r)); });
      },
      options());
  TlsSocket socket(running.port(), wish());
  for (int i = 0; i < 2; ++i) {
    socket.send(https_get("/later") + (i == 0 ? https_get("/pipelined") : ""));
    for (int replies = i == 0 ? 2 : 1; replies > 0; --replies) {
      for (bool there = false; !there;) {
        post_and_wait(running.loop(), [&] {
          there = !waiting.empty();
          if (!there) return;
          Response response;
          response.body = "now";
          waiting.front()->send(std::move(response));
          waiting.pop_front();
        });
      }
      EXPECT_EQ(body_of(socket.read_reply()), "now");
    }
  }
}

TEST_F(TlsServer, TellsPlainHttpWhatThisPortSpeaks) {
  RunningServer running(echo, options());
  for (const std::string& request : {https_get("/"), https_post("/kube/filter", "{}"),
                                     "DELETE /x HTTP/1.1\r\nHost: x\r\n\r\n" + std::string()}) {
    RawSocket socket(running.port());
    socket.send(request);
    socket.finish_sending();
    const std::string reply = socket.read_to_close();
    EXPECT_EQ(status_of(reply), "HTTP/1.1 400");
    EXPECT_NE(body_of(reply).find("this port speaks HTTPS"), std::string::npos) << reply;
  }
  EXPECT_EQ(running.stats().bad_requests, 3U);
  EXPECT_EQ(running.stats().requests, 0U);
}

TEST_F(TlsServer, DropsGarbage) {
  RunningServer running(echo, options());
  for (const std::string& garbage :
       {std::string("\x16\x03\x01\xff\xff garbage", 13), std::string(300, '\0'),
        std::string("\x16\x03\x01\x00\x05hello", 10)}) {
    RawSocket socket(running.port());
    socket.send(garbage);
    socket.finish_sending();
    socket.read_to_close();
  }
  TlsSocket works(running.port(), wish());
  works.send(https_get("/"));
  EXPECT_EQ(status_of(works.read_reply()), "HTTP/1.1 200");
  EXPECT_EQ(running.stats().requests, 1U);
  EXPECT_GE(running.stats().bad_requests, 2U);  // one of them only stops in the middle
  EXPECT_EQ(running.stats().connections_open, 1U);
}

TEST_F(TlsServer, DropsGarbageInTheMiddleOfAConnection) {
  RunningServer running(echo, options());
  TlsSocket socket(running.port(), wish());
  socket.send(https_get("/"));
  EXPECT_EQ(status_of(socket.read_reply()), "HTTP/1.1 200");
  socket.send_raw(std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'x'));
  EXPECT_EQ(socket.read_to_close(), "");
  EXPECT_EQ(running.stats().bad_requests, 1U);
}

TEST_F(TlsServer, AHandshakeThatStopsIsDroppedInTime) {
  ServerOptions short_header = options();
  short_header.header_timeout = milliseconds(50);
  RunningServer running(echo, short_header);
  RawSocket silent(running.port());
  EXPECT_EQ(silent.read_to_close(), "");
  RawSocket half(running.port());
  half.send(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 9));
  EXPECT_EQ(half.read_to_close(), "");
  TlsSocket idle_socket(running.port(), wish());
  EXPECT_EQ(idle_socket.read_to_close(), "");
}

TEST_F(TlsServer, SilentHandshakesNeverLockOthersOut) {
  ServerOptions few = options();
  few.max_connections = 4;
  RunningServer running(echo, few);
  std::deque<RawSocket> silent;
  for (int i = 0; i < 20; ++i) silent.emplace_back(running.port());
  TlsSocket works(running.port(), wish());
  works.send(https_get("/"));
  EXPECT_EQ(status_of(works.read_reply()), "HTTP/1.1 200");
}

TEST_F(TlsServer, SpeaksTls12AtLeast) {
  RunningServer running(echo, options());
  for (const int old : {TLS1_VERSION, TLS1_1_VERSION}) {
    TlsWish outdated = wish();
    outdated.version = old;
    EXPECT_FALSE(TlsSocket(running.port(), outdated).connected());
  }
  TlsWish just = wish();
  just.version = TLS1_2_VERSION;
  TlsSocket socket(running.port(), just);
  ASSERT_TRUE(socket.connected());
  EXPECT_EQ(socket.version(), TLS1_2_VERSION);
  socket.send(https_get("/"));
  EXPECT_EQ(status_of(socket.read_reply()), "HTTP/1.1 200");
}

TEST_F(TlsServer, OffersHttp11AndNothingElse) {
  RunningServer running(echo, options());
  TlsWish go = wish();
  go.alpn = "\x02h2\x08http/1.1";
  EXPECT_EQ(TlsSocket(running.port(), go).protocol(), "http/1.1");
  TlsWish only2 = wish();
  only2.alpn = "\x02h2";
  EXPECT_FALSE(TlsSocket(running.port(), only2).connected());
  EXPECT_EQ(TlsSocket(running.port(), wish()).protocol(), "");
}

TEST_F(TlsServer, KnowsWhoHasShownACertificate) {
  RunningServer running(show_trust, options(ca.certificate));
  for (const int version : {TLS1_2_VERSION, 0}) {
    TlsWish known = wish();
    known.version = version;
    known.own = make_certificate(ca, "DNS:client");
    TlsSocket friendly(running.port(), known);
    friendly.send(https_get("/"));
    EXPECT_EQ(body_of(friendly.read_reply()), "trusted");

    TlsWish none = wish();
    none.version = version;
    TlsSocket client(running.port(), none);
    client.send(https_get("/"));
    EXPECT_EQ(body_of(client.read_reply()), "untrusted");

    TlsWish wrong = wish();
    wrong.version = version;
    wrong.own = make_certificate(make_authority("another CA"), "DNS:client");
    TlsSocket refused(running.port(), wrong);
    refused.send(https_get("/"));
    EXPECT_EQ(refused.read_to_close(), "");

    TlsWish expired = wish();
    expired.version = version;
    expired.own = make_certificate(ca, "DNS:client", -60);
    TlsSocket late(running.port(), expired);
    late.send(https_get("/"));
    EXPECT_EQ(late.read_to_close(), "");
  }
  EXPECT_EQ(running.stats().requests, 4U);
}

TEST_F(TlsServer, KnowsTheNamesInACertificate) {
  RunningServer running(
      [](const Request& request) {
        Response response;
        response.body = request.peer->address();
        for (const std::string& name : request.peer->names()) response.body += " " + name;
        return response;
      },
      options(ca.certificate));
  TlsWish known = wish();
  known.own = make_certificate(
      ca, "DNS:kube-scheduler.example,URI:spiffe://a/b,IP:10.0.0.1,email:me@example.com");
  TlsSocket friendly(running.port(), known);
  for (int i = 0; i < 2; ++i) {
    friendly.send(https_get("/"));
    EXPECT_EQ(body_of(friendly.read_reply()),
              "127.0.0.1 kube-scheduler.example spiffe://a/b kube-apiserver");
  }
  TlsSocket without(running.port(), wish());
  without.send(https_get("/"));
  EXPECT_EQ(body_of(without.read_reply()), "127.0.0.1");
}

TEST_F(TlsServer, TrustsEverybodyIfNoCertificateIsAskedFor) {
  RunningServer running(show_trust, options());
  TlsSocket socket(running.port(), wish());
  socket.send(https_get("/"));
  EXPECT_EQ(body_of(socket.read_reply()), "trusted");
}

TEST_F(TlsServer, ANewCertificateIsForNewConnections) {
  RunningServer running(echo, options());
  TlsSocket before(running.port(), wish());
  EXPECT_EQ(before.certificate(), own.certificate);
  const Pem next = make_certificate(ca, kLocal, 7200);
  post_and_wait(running.loop(), [&] { context->replace(*make({next.certificate, next.key, {}})); });
  TlsSocket after(running.port(), wish());
  EXPECT_EQ(after.certificate(), next.certificate);
  for (TlsSocket* each : {&before, &after}) {
    each->send(https_get("/"));
    EXPECT_EQ(status_of(each->read_reply()), "HTTP/1.1 200");
  }
}

TEST_F(TlsServer, DrainsConnectionsInEveryPhase) {
  RunningServer running(echo, options());
  RawSocket silent(running.port());
  TlsSocket idle(running.port(), wish());
  idle.send(https_get("/"));
  idle.read_reply();
  TlsSocket half(running.port(), wish());
  half.send("POST /late HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  ASSERT_EQ(status_of(half.read_reply()), "HTTP/1.1 100");
  std::future<void> done = running.drain(std::chrono::seconds(60));
  EXPECT_EQ(idle.read_to_close(), "");
  EXPECT_TRUE(idle.got_close_notify());
  EXPECT_EQ(silent.read_to_close(), "");
  half.send("body");
  EXPECT_EQ(body_of(half.read_to_close()), "POST /late? body");
  done.wait();
}

TEST(TlsContext, SaysWhichPartIsOfNoUse) {
  const Pem ca = make_authority("CA");
  const Pem own = make_certificate(ca, kLocal);
  const Pem other = make_certificate(ca, kLocal);
  const PemNames names{"tls.crt", "tls.key", "ca.crt"};
  const auto error = [&](const ServerPem& pem) {
    const auto made = TlsContext::make(pem, names);
    return made.ok() ? std::string("fine") : made.error().text();
  };
  EXPECT_EQ(error({own.certificate + ca.certificate, own.key, ca.certificate}), "fine");
  EXPECT_EQ(error({"", own.key, ""}).rfind("tls.crt contains no PEM certificate", 0), 0U);
  EXPECT_EQ(error({own.certificate.substr(0, 200), own.key, ""}).rfind("tls.crt contains no", 0),
            0U);
  const std::string cut = own.certificate + ca.certificate.substr(0, 200);
  EXPECT_EQ(error({cut, own.key, ""}).rfind("tls.crt has a chain that is cut short", 0), 0U);
  EXPECT_EQ(error({own.certificate, "", ""}).rfind("tls.key contains no PEM key", 0), 0U);
  EXPECT_EQ(error({own.certificate, other.key, ""}).rfind("tls.key is not the key of tls.crt", 0),
            0U);
  EXPECT_EQ(error({own.certificate, own.key, "nonsense"}).rfind("ca.crt contains no PEM", 0), 0U);
  EXPECT_EQ(error({own.certificate, own.key, cut}).rfind("ca.crt contains no PEM", 0), 0U);
}

}  // namespace
}  // namespace chipweave::http

// Limits in bytes, time and connections, and draining. Time limits are shortened by ServerOptions;
// a test waits for the server to close, never for a clock.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "common/http/client.hpp"
#include "tests/unit/http/running_server.hpp"

namespace chipweave::http {
namespace {

using std::chrono::milliseconds;

const std::string kShortGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

void expect_refused(const ServerOptions& options, const std::string& bytes,
                    const std::string& status, const std::string& code) {
  RunningServer running(echo, options);
  RawSocket socket(running.port());
  socket.send(bytes);
  socket.finish_sending();
  const std::string reply = socket.read_to_close();
  EXPECT_EQ(status_of(reply), "HTTP/1.1 " + status);
  EXPECT_NE(reply.find("Connection: close\r\n"), std::string::npos) << reply;
  const std::string body = body_of(reply);
  EXPECT_EQ(body.rfind(R"({"error":{"code":")" + code + R"(","message":")", 0), 0U) << body;
  EXPECT_EQ(body.find('\n'), body.size() - 1);
  EXPECT_EQ(running.stats().bad_requests, 1U);
  EXPECT_EQ(running.stats().requests, 0U);
}

TEST(ServerLimits, RefusesWhatIsNotHttp) {
  expect_refused({}, "hello there\r\n\r\n", "400", "bad_request");
  expect_refused({}, std::string("\x16\x03\x01\x02\x00", 5), "400", "bad_request");
  expect_refused({}, "GET / HTTP/2.0\r\n\r\n", "400", "bad_version");
  expect_refused({}, "GET a HTTP/1.1\r\nHost: x\r\n\r\n", "400", "bad_target");
  expect_refused({}, "GET / HTTP/1.1\r\n\r\n", "400", "bad_host");
}

TEST(ServerLimits, RefusesALargeHeader) {
  ServerOptions options;
  options.max_header_bytes = 1000;
  expect_refused(options, "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(2000, 'a') + "\r\n\r\n",
                 "431", "header_too_large");
}

TEST(ServerLimits, RefusesALargeBodyBeforeItArrives) {
  ServerOptions options;
  options.max_body_bytes = 1000;
  expect_refused(options, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n", "413",
                 "body_too_large");
  expect_refused(
      options, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n",
      "413", "body_too_large");
  expect_refused(options, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n",
                 "413", "body_too_large");
}

TEST(ServerLimits, AClientThatSendsItsLargeBodyAnywayGetsToSeeTheAnswer) {
  ServerOptions options;
  options.max_body_bytes = 1000;
  RunningServer running(echo, options);
  auto client = Client::connect_to(running.url());
  ASSERT_TRUE(client.ok());
  const auto reply = client->call("POST", "/", std::string(20U << 20U, 'x'));
  ASSERT_TRUE(reply.ok()) << reply.error().text();
  EXPECT_EQ(reply->status, 413);
  // and the client reconnects
  const auto next = client->call("POST", "/", "small");
  ASSERT_TRUE(next.ok()) << next.error().text();
  EXPECT_EQ(next->status, 200);
}

TEST(ServerLimits, DropsAClientThatSaysNothing) {
  ServerOptions options;
  options.header_timeout = milliseconds(50);
  RunningServer running(echo, options);
  RawSocket silent(running.port());
  EXPECT_EQ(silent.read_to_close(), "");
}

TEST(ServerLimits, DropsASlowHeaderHoweverItTrickles) {
  ServerOptions options;
  options.header_timeout = milliseconds(80);
  RunningServer running(echo, options);
  RawSocket slow(running.port());
  slow.send("GET / HTTP/1.1\r\nHost: x\r\n");
  // one more byte per answer of a healthy client: the slow client's time limit is not extended
  RawSocket healthy(running.port());
  while (slow.send("a")) {
    healthy.send(kShortGet);
    ASSERT_EQ(status_of(healthy.read_reply()), "HTTP/1.1 200");
    if (running.stats().bad_requests > 0) break;
  }
  EXPECT_EQ(running.stats().bad_requests, 1U);
  EXPECT_EQ(running.stats().connections_open, 1U);
}

TEST(ServerLimits, TellsASlowBodyThatItIsLate) {
  ServerOptions options;
  options.body_timeout = milliseconds(50);
  RunningServer running(echo, options);
  RawSocket slow(running.port());
  slow.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf");
  EXPECT_EQ(status_of(slow.read_to_close()), "HTTP/1.1 408");
}

TEST(ServerLimits, ClosesIdleConnectionsQuietly) {
  ServerOptions options;
  options.idle_timeout = milliseconds(50);
  RunningServer running(echo, options);
  RawSocket idle(running.port());
  idle.send(kShortGet);
  EXPECT_EQ(status_of(idle.read_reply()), "HTTP/1.1 200");
  EXPECT_EQ(idle.read_to_close(), "");
  EXPECT_EQ(running.stats().bad_requests, 0U);
}

TEST(ServerLimits, DropsAReaderThatDoesNotRead) {
  ServerOptions options;
  options.write_timeout = milliseconds(50);
  RunningServer running(
      [](const Request&) {
        Response response;
        response.body.assign(24U << 20U, 'x');
        return response;
      },
      options);
  RawSocket stuck(running.port(), 4096);
  stuck.send(kShortGet);
  while (running.stats().requests == 0 || running.stats().connections_open != 0) {
  }
  EXPECT_LT(stuck.read_to_close().size(), 24U << 20U);
}

TEST(ServerLimits, SilentClientsNeverLockOthersOut) {
  ServerOptions options;
  options.max_connections = 8;
  RunningServer running(echo, options);
  std::vector<std::unique_ptr<RawSocket>> silent;
  for (int i = 0; i < 50; ++i) silent.push_back(std::make_unique<RawSocket>(running.port()));
  RawSocket works(running.port());
  works.send(kShortGet);
  EXPECT_EQ(status_of(works.read_reply()), "HTTP/1.1 200");
  EXPECT_EQ(running.stats().connections_open, 8U);
  EXPECT_EQ(running.stats().connections_refused, 43U);
}

TEST(ServerLimits, DropsTheOldestIncompleteOne) {
  ServerOptions options;
  options.max_connections = 2;
  RunningServer running(echo, options);
  RawSocket first(running.port());
  first.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
  while (running.stats().connections_open < 1) {
  }
  RawSocket second(running.port());
  second.send("GET / HTTP");
  while (running.stats().connections_open < 2) {
  }
  RawSocket third(running.port());
  third.send(kShortGet);
  EXPECT_EQ(status_of(third.read_reply()), "HTTP/1.1 200");
  EXPECT_EQ(first.read_to_close(), "");
  second.send("/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(status_of(second.read_reply()), "HTTP/1.1 200");
}

TEST(ServerLimits, DropsIdleConnectionsBeforeIncompleteOnes) {
  ServerOptions options;
  options.max_connections = 2;
  RunningServer running(echo, options);
  RawSocket incomplete(running.port());
  incomplete.send("GET / HTTP");
  RawSocket idle(running.port());
  idle.send(kShortGet);
  EXPECT_EQ(status_of(idle.read_reply()), "HTTP/1.1 200");
  RawSocket third(running.port());
  third.send(kShortGet);
  EXPECT_EQ(status_of(third.read_reply()), "HTTP/1.1 200");
  EXPECT_EQ(idle.read_to_close(), "");
  incomplete.send("/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(status_of(incomplete.read_reply()), "HTTP/1.1 200");
}

TEST(ServerLimits, SaysSoWhenEveryConnectionIsBusy) {
  ServerOptions options;
  options.max_connections = 1;
  const std::string large(24U << 20U, 'x');
  RunningServer running(
      [&](const Request&) {
        Response response;
        response.body = large;
        return response;
      },
      options);
  RawSocket busy(running.port(), 4096);
  busy.send(kShortGet);
  while (running.stats().requests == 0) {
  }
  RawSocket turned_away(running.port());
  EXPECT_EQ(status_of(turned_away.read_to_close()), "HTTP/1.1 503");
  EXPECT_EQ(running.stats().connections_refused, 1U);
  EXPECT_EQ(body_of(busy.read_reply()).size(), large.size());
}

TEST(ServerDrain, FinishesWhatIsInFlightAndClosesTheRest) {
  RunningServer running(echo);
  RawSocket silent(running.port());
  RawSocket idle(running.port());
  idle.send(kShortGet);
  idle.read_reply();
  RawSocket half(running.port());
  half.send("POST /late HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  ASSERT_EQ(status_of(half.read_reply()), "HTTP/1.1 100");
  std::future<void> done = running.drain(std::chrono::seconds(60));
  EXPECT_EQ(idle.read_to_close(), "");
  EXPECT_EQ(silent.read_to_close(), "");
  EXPECT_THROW(RawSocket(running.port()), std::runtime_error);
  half.send("body");
  const std::string reply = half.read_to_close();
  EXPECT_EQ(body_of(reply), "POST /late? body");
  EXPECT_NE(reply.find("Connection: close\r\n"), std::string::npos);
  done.wait();
}

TEST(ServerDrain, GivesUpWhenTheGraceIsOver) {
  RunningServer running(echo);
  RawSocket half(running.port());
  half.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  half.read_reply();
  std::future<void> done = running.drain(milliseconds(50));
  EXPECT_EQ(half.read_to_close(), "");
  done.wait();
  EXPECT_EQ(running.stats().connections_open, 0U);
}

TEST(ServerDrain, IsDoneAtOnceWithoutConnections) {
  RunningServer running(echo);
  std::future<void> done = running.drain(std::chrono::seconds(60));
  done.wait();
}

}  // namespace
}  // namespace chipweave::http

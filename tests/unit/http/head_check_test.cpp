// The check of a request's head: it refuses or limits the body before a byte of it is read.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "tests/unit/http/running_server.hpp"

namespace chipweave::http {
namespace {

const std::string kRefused = "GET /no HTTP/1.1\r\nHost: x\r\n\r\n";
const std::string kGood = "GET /yes HTTP/1.1\r\nHost: x\r\n\r\n";

// Refuses /no, throws at /throw, and allows bodies of 10 bytes elsewhere.
HeadVerdict check(const RequestHead& head) {
  if (head.path == "/throw") throw std::runtime_error("broken check");
  if (head.path != "/no") return std::size_t{10};
  Response refused;
  refused.status = 401;
  refused.body = std::string(head.method) + " refused?" + std::string(head.query);
  return refused;
}

class HeadChecks : public ::testing::Test {
 protected:
  std::atomic<int> handled_{0};
  RunningServer running_{[this](const Request& request) {
                           ++handled_;
                           return echo(request);
                         },
                         {},
                         check};
};

TEST_F(HeadChecks, RefusesBeforeTheBodyIsSentAndCloses) {
  for (const char* framing : {"Content-Length: 1000", "Transfer-Encoding: chunked",
                              "Expect: 100-continue\r\nContent-Length: 5"}) {
    RawSocket socket(running_.port());
    socket.send(std::string("POST /no?q HTTP/1.1\r\nHost: x\r\n") + framing + "\r\n\r\n");
    const std::string reply = socket.read_to_close();
    EXPECT_EQ(status_of(reply), "HTTP/1.1 401") << framing;
    EXPECT_EQ(body_of(reply), "POST refused?q") << framing;
    EXPECT_NE(reply.find("Connection: close\r\n"), std::string::npos) << framing;
  }
  EXPECT_EQ(handled_, 0);
  EXPECT_EQ(running_.stats().requests, 3U);
  EXPECT_EQ(running_.stats().bad_requests, 0U);
}

TEST_F(HeadChecks, ARefusalWithoutABodyKeepsTheConnection) {
  RawSocket socket(running_.port());
  socket.send(kRefused + kGood + "POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n" +
              "HEAD /no HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(body_of(socket.read_reply()), "GET refused?");
  EXPECT_EQ(body_of(socket.read_reply()), "GET /yes? ");
  EXPECT_EQ(body_of(socket.read_reply()), "POST refused?");
  const std::string last = socket.read_to_close();
  EXPECT_EQ(status_of(last), "HTTP/1.1 401");
  EXPECT_EQ(body_of(last), "");
  EXPECT_EQ(handled_, 1);
}

TEST_F(HeadChecks, LimitsTheBodyOfOneRequest) {
  RawSocket fits(running_.port());
  fits.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789");
  EXPECT_EQ(body_of(fits.read_reply()), "POST /? 0123456789");
  for (const char* framing :
       {"Content-Length: 11\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nb\r\n",
        "Expect: 100-continue\r\nContent-Length: 11\r\n\r\n"}) {
    RawSocket larger(running_.port());
    larger.send(std::string("POST / HTTP/1.1\r\nHost: x\r\n") + framing);
    EXPECT_EQ(status_of(larger.read_to_close()), "HTTP/1.1 413") << framing;
  }
}

TEST_F(HeadChecks, ACheckThatThrowsRefuses) {
  RawSocket socket(running_.port());
  socket.send("GET /throw HTTP/1.1\r\nHost: x\r\n\r\n" + kGood);
  EXPECT_EQ(status_of(socket.read_reply()), "HTTP/1.1 500");
  EXPECT_EQ(status_of(socket.read_reply()), "HTTP/1.1 200");
  EXPECT_EQ(handled_, 1);
}

// Each kind of refusal of a request that was accepted has the shape that the check gave.
Response shaped(std::string_view message) {
  Response out;
  out.body = "shaped: " + std::string(message);
  return out;
}

HeadVerdict check_with_shape(const RequestHead& head) {
  if (head.path == "/plain") return std::size_t{10};
  return AcceptedHead(10, shaped);
}

void expect_shaped(const std::string& reply, const std::string& message) {
  EXPECT_EQ(status_of(reply), "HTTP/1.1 200") << reply;
  EXPECT_EQ(body_of(reply).rfind("shaped: " + message, 0), 0U) << reply;
}

TEST(HeadCheck, MayShapeTheServersRefusals) {
  ServerOptions options;
  options.body_timeout = std::chrono::milliseconds(50);
  options.answer_timeout = std::chrono::milliseconds(50);
  std::shared_ptr<PendingReply> kept;  // of the loop thread
  RunningServer running(
      [&](const Request& request) -> Answer {
        if (request.path == "/unsent") return Later([](const std::shared_ptr<PendingReply>&) {});
        return Later([&](std::shared_ptr<PendingReply> reply) { kept = std::move(reply); });
      },
      options, check_with_shape);
  const auto ask = [&](const std::string& path, const std::string& rest) {
    RawSocket socket(running.port());
    socket.send("POST " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + rest);
    return socket.read_to_close();
  };
  expect_shaped(ask("/", "Content-Length: 11\r\n\r\n"), "the request body is larger");
  expect_shaped(ask("/", "Transfer-Encoding: chunked\r\n\r\nx\r\n"), "the chunked body");
  expect_shaped(ask("/", "Content-Length: 10\r\n\r\nhalf"), "the request did not arrive");
  expect_shaped(ask("/later", "\r\n"), "no reply in time");
  expect_shaped(ask("/unsent", "\r\n"), "the request failed inside");
  EXPECT_EQ(status_of(ask("/plain", "Content-Length: 11\r\n\r\n")), "HTTP/1.1 413");
  post_and_wait(running.loop(), [&] { kept.reset(); });
}

TEST(HeadCheck, ShapesWhatDoesNotFitTheMemory) {
  ServerOptions options;
  options.max_held_bytes = 8;
  RunningServer running(echo, options, check_with_shape);
  RawSocket socket(running.port());
  socket.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
  expect_shaped(socket.read_to_close(), "the requests that the server is reading");
}

// A request whose head is not known yet is not shaped like the one before it.
TEST(HeadCheck, ShapesNothingOfTheNextRequest) {
  RunningServer running(echo, {}, check_with_shape);
  for (const char* next : {"<", "GET / HTTP/9\r\n\r\n"}) {
    RawSocket socket(running.port());
    socket.send(kGood + next);
    EXPECT_EQ(status_of(socket.read_reply()), "HTTP/1.1 200");
    EXPECT_EQ(status_of(socket.read_to_close()), "HTTP/1.1 400") << next;
  }
}

TEST(HeadCheck, CannotRaiseTheServersLimit) {
  ServerOptions options;
  options.max_body_bytes = 5;
  RunningServer running(echo, options, check);
  RawSocket socket(running.port());
  socket.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n");
  EXPECT_EQ(status_of(socket.read_to_close()), "HTTP/1.1 413");
}

}  // namespace
}  // namespace chipweave::http

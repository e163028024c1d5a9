// The bytes that all connections of a server hold together: what counts, who is refused, and who
// makes room.
#include "common/http/byte_budget.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/http/running_server.hpp"

namespace chipweave::http {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;

// No request is slow, or all are.
constexpr std::chrono::milliseconds kNoneIsSlow = std::chrono::hours(1);
constexpr std::chrono::milliseconds kAllAreSlow{0};

ServerOptions with_budget(std::size_t bytes, std::chrono::milliseconds grace) {
  ServerOptions options;
  options.max_held_bytes = bytes;
  options.body_grace = grace;
  options.body_timeout = std::chrono::hours(1);
  options.write_timeout = std::chrono::hours(1);
  return options;
}

std::string post(std::size_t length, std::size_t sent) {
  return "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n" +
         std::string(sent, 'x');
}

Answer size_of_body(const Request& request) {
  Response response;
  response.body = std::to_string(request.body.size());
  return response;
}

void expect_busy(const std::string& reply) {
  EXPECT_EQ(status_of(reply), "HTTP/1.1 503");
  EXPECT_NE(reply.find("Retry-After: 1\r\n"), std::string::npos) << reply;
  EXPECT_NE(reply.find("Connection: close\r\n"), std::string::npos) << reply;
  EXPECT_NE(body_of(reply).find(R"("code":"busy")"), std::string::npos) << reply;
}

// Waits until the server has read that much.
void wait_until_held(RunningServer& running, std::size_t bytes) {
  while (running.stats().bytes_held < bytes) {
  }
}

TEST(ByteBudget, AnAnnouncedLengthTakesNoMemory) {
  RunningServer running(size_of_body, with_budget(2 * kMiB, kNoneIsSlow));
  std::vector<std::unique_ptr<RawSocket>> announcing;
  for (int i = 0; i < 50; ++i) {
    announcing.push_back(std::make_unique<RawSocket>(running.port()));
    announcing.back()->send(
        "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
        "Content-Length: 1048576\r\n\r\n");
    ASSERT_EQ(status_of(announcing.back()->read_reply()), "HTTP/1.1 100");
  }
  EXPECT_LT(running.stats().bytes_held, 50U * 1024);
  EXPECT_EQ(running.stats().over_budget, 0U);
}

TEST(ByteBudget, RefusesABodyThatDoesNotFitBeforeItIsSent) {
  RunningServer running(size_of_body, with_budget(kMiB, kNoneIsSlow));
  RawSocket first(running.port());
  first.send(post(900000, 800000));
  wait_until_held(running, 800000);
  RawSocket second(running.port());
  second.send(post(500000, 0));
  expect_busy(second.read_to_close());
  EXPECT_EQ(running.stats().over_budget, 1U);
  EXPECT_EQ(running.stats().bad_requests, 0U);
  // the first one is served, and then there is room
  first.send(std::string(100000, 'x'));
  EXPECT_EQ(body_of(first.read_reply()), "900000");
  RawSocket again(running.port());
  again.send(post(500000, 500000));
  EXPECT_EQ(body_of(again.read_reply()), "500000");
}

TEST(ByteBudget, RefusesAChunkedBodyWhenItNoLongerFits) {
  RunningServer running(size_of_body, with_budget(kMiB, kNoneIsSlow));
  RawSocket chunked(running.port());
  chunked.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
  for (int i = 0; i < 40; ++i) chunked.send(chunk);
  expect_busy(chunked.read_to_close());
  EXPECT_EQ(running.stats().over_budget, 1U);
}

TEST(ByteBudget, WhoeverIsSlowMakesRoom) {
  RunningServer running(size_of_body, with_budget(kMiB, kAllAreSlow));
  RawSocket slow(running.port());
  slow.send(post(900000, 800000));
  wait_until_held(running, 800000);
  RawSocket quick(running.port());
  quick.send(post(500000, 500000));
  EXPECT_EQ(body_of(quick.read_reply()), "500000");
  expect_busy(slow.read_to_close());
  EXPECT_EQ(running.stats().over_budget, 1U);
}

TEST(ByteBudget, RepliesThatNobodyReadsCount) {
  const auto large = [](const Request&) {
    Response response;
    response.body.assign(24 * kMiB, 'x');
    return response;
  };
  RunningServer running(large, with_budget(32 * kMiB, kNoneIsSlow));
  auto stuck = std::make_unique<RawSocket>(running.port(), 4096);
  stuck->send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  wait_until_held(running, 24 * kMiB);
  RawSocket next(running.port());
  next.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  expect_busy(next.read_to_close());
  stuck.reset();
  while (running.stats().connections_open > 0) {
  }
  EXPECT_EQ(running.stats().bytes_held, 0U);
}

TEST(ByteBudget, AReplyThatIsReadTooSlowlyMakesRoom) {
  const auto large = [](const Request&) {
    Response response;
    response.body.assign(24 * kMiB, 'x');
    return response;
  };
  RunningServer running(large, with_budget(32 * kMiB, kAllAreSlow));
  RawSocket stuck(running.port(), 4096);
  stuck.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  wait_until_held(running, 24 * kMiB);
  RawSocket next(running.port());
  next.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(body_of(next.read_reply()).size(), 24 * kMiB);
  EXPECT_LT(stuck.read_to_close().size(), 24 * kMiB);
}

TEST(ByteBudget, IdleConnectionsHoldNextToNothing) {
  RunningServer running(size_of_body, with_budget(8 * kMiB, kNoneIsSlow));
  std::vector<std::unique_ptr<RawSocket>> idle;
  for (int i = 0; i < 20; ++i) {
    idle.push_back(std::make_unique<RawSocket>(running.port()));
    idle.back()->send("POST /" + std::string(10000, 'p') +
                      " HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n" +
                      std::string(300000, 'x'));
    ASSERT_EQ(body_of(idle.back()->read_reply()), "300000");
  }
  EXPECT_LT(running.stats().bytes_held, 20U * 4096);
  EXPECT_EQ(running.stats().over_budget, 0U);
}

TEST(ByteBudget, KeepsAFewBuffersOfModestSize) {
  ByteBudget budget(kMiB);
  std::string modest;
  modest.reserve(1000);
  const char* memory = modest.data();
  budget.give_back(std::move(modest));
  std::string huge;
  huge.reserve(kMiB);
  budget.give_back(std::move(huge));
  EXPECT_EQ(budget.take_buffer().data(), memory);
  EXPECT_LT(budget.take_buffer().capacity(), 100U);
}

}  // namespace
}  // namespace chipweave::http

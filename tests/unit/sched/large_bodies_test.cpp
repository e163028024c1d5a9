// Large request bodies: who reads them, in which order, how many, and what of failures.
#include "scheduler-plugin/server/large_bodies.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/limits.hpp"
#include "tests/unit/sched/busy_clock.hpp"

namespace chipweave::sched {
namespace {

http::Response text(std::string_view words) {
  http::Response response;
  response.body = words;
  return response;
}

struct Bodies : ::testing::Test {
  void ask(std::size_t bytes, std::function<void()> read, std::function<http::Answer()> then) {
    http::Answer answer = large->answer(bytes, std::move(read), std::move(then), text);
    if (auto* now = std::get_if<http::Response>(&answer)) return replies.push_back(*now);
    std::get<http::Later>(answer)(std::make_shared<test::KeptReply>(replies));
  }
  // Runs the loop until it has that many replies.
  void run_until(std::size_t count) {
    loop.every(std::chrono::milliseconds(1), [this, count] {
      if (replies.size() >= count) loop.stop();
    });
    loop.run();
  }

  http::Loop loop;
  std::optional<LargeBodies> large{std::in_place, loop};
  std::vector<http::Response> replies;
};

TEST_F(Bodies, AreReadOnAnotherThreadAndAnsweredOnTheLoop) {
  std::thread::id reader;
  std::thread::id answerer;
  ask(
      1, [&] { reader = std::this_thread::get_id(); },
      [&] {
        answerer = std::this_thread::get_id();
        return text("read");
      });
  EXPECT_TRUE(replies.empty());
  run_until(1);
  EXPECT_EQ(replies[0].body, "read");
  EXPECT_NE(reader, std::this_thread::get_id());
  EXPECT_EQ(answerer, std::this_thread::get_id());
}

TEST_F(Bodies, AnAnswerMayBeALaterOne) {
  ask(
      1, [] {},
      []() -> http::Answer {
        return http::Later(
            [](const std::shared_ptr<http::PendingReply>& to) { to->send(text("later")); });
      });
  run_until(1);
  EXPECT_EQ(replies[0].body, "later");
}

TEST_F(Bodies, AreReadInTheOrderOfRequestsAndAsManyAsTheLimitAllows) {
  std::promise<void> go_on;
  std::string order;
  const auto note = [&order](char c) { return [&order, c] { order += c; }; };
  ask(
      limits::kMaxHttpHeldBytes - 1, [&] { go_on.get_future().wait(); }, [] { return text("a"); });
  ask(2, note('b'), [] { return text("b"); });
  ASSERT_EQ(replies.size(), 1U) << "two bytes are too many";
  EXPECT_EQ(replies[0].body, "too many large requests at the same time; try again");
  ask(1, note('c'), [] { return text("c"); });
  EXPECT_EQ(order, "");
  go_on.set_value();
  loop.every(std::chrono::milliseconds(1), [this, asked = false]() mutable {
    if (replies.size() < 3 || std::exchange(asked, true)) return;
    ask(
        limits::kMaxHttpHeldBytes, [] {}, [] { return text("all of it"); });
  });
  run_until(4);
  EXPECT_EQ(order, "c");
  EXPECT_EQ(replies[1].body, "a");
  EXPECT_EQ(replies[2].body, "c");
  EXPECT_EQ(replies[3].body, "all of it") << "what was answered is not held";
}

TEST_F(Bodies, AFailureToReadIsARefusal) {
  ask(
      1, [] { throw std::runtime_error("no memory"); },
      [] {
        ADD_FAILURE() << "it was not read";
        return text("read");
      });
  run_until(1);
  EXPECT_EQ(replies[0].body, "cannot read the request: no memory");
}

TEST_F(Bodies, AFailureToAnswerLeavesTheLoop) {
  std::vector<std::string> escaped;
  loop.on_escape([&](const std::string& what) { escaped.push_back(what); });
  ask(
      1, [] {}, []() -> http::Answer { throw std::logic_error("half done"); });
  ask(
      1, [] {}, [] { return text("next"); });
  run_until(1);
  EXPECT_EQ(escaped, std::vector<std::string>{"half done"});
  EXPECT_EQ(replies[0].body, "next");
}

TEST_F(Bodies, NothingIsAnsweredAfterItsEnd) {
  std::promise<void> begun;
  std::promise<void> go_on;
  bool answered = false;
  const auto then = [&] {
    answered = true;
    return text("");
  };
  ask(
      1,
      [&] {
        begun.set_value();
        go_on.get_future().wait();
      },
      then);
  ask(
      1, [] {}, then);
  begun.get_future().wait();
  std::thread end([&] { large.reset(); });
  go_on.set_value();
  end.join();
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_FALSE(answered);
}

}  // namespace
}  // namespace chipweave::sched

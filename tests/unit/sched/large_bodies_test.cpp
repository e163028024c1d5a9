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
#include "scheduler-plugin/server/kube_extender_handler.hpp"
#include "tests/unit/sched/busy_clock.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched {
namespace {

http::Response text(std::string_view words) {
  http::Response response;
  response.body = words;
  return response;
}

struct Bodies : ::testing::Test {
  void ask(std::function<void()> read, std::function<http::Answer()> then) {
    http::Answer answer = large->answer(std::move(read), std::move(then), text);
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
  ask([&] { reader = std::this_thread::get_id(); },
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
  ask([] {},
      []() -> http::Answer {
        return http::Later(
            [](const std::shared_ptr<http::PendingReply>& to) { to->send(text("later")); });
      });
  run_until(1);
  EXPECT_EQ(replies[0].body, "later");
}

TEST_F(Bodies, AreReadInTheOrderOfRequests) {
  std::promise<void> go_on;
  std::string order;
  ask([&] { go_on.get_future().wait(); }, [] { return text("a"); });
  ask([&] { order += 'b'; }, [] { return text("b"); });
  ask([&] { order += 'c'; }, [] { return text("c"); });
  EXPECT_EQ(order, "");
  go_on.set_value();
  run_until(3);
  EXPECT_EQ(order, "bc");
  EXPECT_EQ(replies[0].body + replies[1].body + replies[2].body, "abc");
}

TEST_F(Bodies, AreHeldUpToALimit) {
  LargeBodies::Share most = large->take(limits::kMaxHttpHeldBytes - 1);
  ASSERT_NE(most, nullptr);
  EXPECT_EQ(large->take(2), nullptr);
  const LargeBodies::Share one = large->take(1);
  EXPECT_NE(one, nullptr) << "what was not taken does not count";
  LargeBodies::Share copy = most;
  most.reset();
  EXPECT_EQ(large->take(1), nullptr);
  copy.reset();
  EXPECT_NE(large->take(limits::kMaxHttpHeldBytes - 1), nullptr);
  large.reset();  // the share ends later
}

TEST_F(Bodies, AFailureToReadIsARefusal) {
  ask([] { throw std::runtime_error("no memory"); },
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
  ask([] {}, []() -> http::Answer { throw std::logic_error("half done"); });
  ask([] {}, [] { return text("next"); });
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
      [&] {
        begun.set_value();
        go_on.get_future().wait();
      },
      then);
  ask([] {}, then);
  begun.get_future().wait();
  std::thread end([&] { large.reset(); });
  go_on.set_value();
  end.join();
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_FALSE(answered);
}

// The handler's part: what is refused, and in which form.
TEST(LargeBodiesOfKubeScheduler, AreRefusedAboveTheLimitUntilOneIsAnswered) {
  test::World world;
  http::Loop loop;
  test::BusyClock clock;
  SlicedReplies sliced(loop, clock);
  const ResourceTable resources;
  KubeExtenderHandler handler(loop, world.scheduler, resources, sliced);
  constexpr std::size_t kBytes = limits::kMaxHttpHeldBytes / 2 + 1;
  const auto filter = [&] {
    std::string body(kBytes, ' ');
    return handler.filter(body, "kube-scheduler");
  };
  {
    const http::Answer first = filter();
    ASSERT_TRUE(std::holds_alternative<http::Later>(first));
    const http::Answer second = filter();
    ASSERT_TRUE(std::holds_alternative<http::Response>(second));
    EXPECT_NE(std::get<http::Response>(second).body.find(
                  R"("Error":"too many large requests at the same time; try again")"),
              std::string::npos);
  }
  EXPECT_TRUE(std::holds_alternative<http::Later>(filter()));
}

}  // namespace
}  // namespace chipweave::sched

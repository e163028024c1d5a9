#include "common/http/loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/loop_thread.hpp"

namespace chipweave::http {
namespace {

using std::chrono::milliseconds;

TEST(Loop, RunsPostedTasksInOrderOnItsThread) {
  LoopThread running;
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) running.loop.post([&, i] { order.push_back(i); });
  bool inside = false;
  post_and_wait(running.loop, [&] { inside = running.loop.in_loop_thread(); });
  EXPECT_TRUE(inside);
  EXPECT_FALSE(running.loop.in_loop_thread());
  ASSERT_EQ(order.size(), 100U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(Loop, TasksOfManyThreadsAllRun) {
  LoopThread running;
  int sum = 0;  // loop-owned: no lock
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) post_and_wait(running.loop, [&] { ++sum; });
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(sum, 1600);
}

TEST(Loop, PostRunsAfterTheCallerReturns) {
  Loop loop;
  std::vector<int> order;
  loop.post([&] {
    loop.post([&] {
      order.push_back(2);
      loop.stop();
    });
    order.push_back(1);
  });
  loop.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Loop, ATaskThatThrowsDoesNotEndTheLoop) {
  LoopThread running;
  running.loop.post([] { throw std::runtime_error("task"); });
  running.loop.post([] { throw 1; });
  bool alive = false;
  post_and_wait(running.loop, [&] { alive = true; });
  EXPECT_TRUE(alive);
}

TEST(Loop, WhatEscapesATaskIsHandedOn) {
  LoopThread running;
  std::vector<std::string> escaped;
  post_and_wait(running.loop, [&] {
    running.loop.on_escape([&](const std::string& what) { escaped.push_back(what); });
  });
  running.loop.post([] { throw std::logic_error("half done"); });
  running.loop.post([] { throw 1; });
  post_and_wait(running.loop, [] {});
  EXPECT_EQ(escaped, (std::vector<std::string>{"half done", "unknown exception"}));
}

TEST(Loop, AfterRunsOnceAndEveryAgainAndAgain) {
  std::promise<void> once;
  std::promise<void> thrice;
  int ticks = 0;
  LoopThread running;  // ends before what its timers use
  post_and_wait(running.loop, [&] {
    running.loop.after(milliseconds(1), [&] { once.set_value(); });
    running.loop.every(milliseconds(1), [&] {
      if (++ticks == 3) thrice.set_value();
      if (ticks == 2) throw std::runtime_error("a tick that fails does not end the ticking");
    });
  });
  once.get_future().wait();
  thrice.get_future().wait();
}

TEST(Loop, TellsOnceOfASignal) {
  Loop loop;
  int calls = 0;
  loop.on_terminate([&] {
    ++calls;
    loop.after(milliseconds(5), [&] { loop.stop(); });
  });
  std::raise(SIGTERM);
  std::raise(SIGTERM);  // an impatient second one neither kills nor calls again
  loop.run();
  EXPECT_EQ(calls, 1);
}

struct Held {
  LoopTask task;
  std::chrono::nanoseconds took;
};

void spin(milliseconds duration) {
  const auto until = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < until) continue;
}

TEST(Loop, ReportsHowLongEachTaskHeldIt) {
  Loop loop;
  std::vector<Held> held;
  loop.on_held([&](LoopTask task, std::chrono::nanoseconds took) { held.push_back({task, took}); });
  loop.post([] { spin(milliseconds(20)); });
  loop.after(milliseconds(1), [&] {
    spin(milliseconds(10));
    loop.post([&] { loop.stop(); });
  });
  loop.run();
  ASSERT_EQ(held.size(), 3U);
  EXPECT_EQ(held[0].task, LoopTask::posted);
  EXPECT_GE(held[0].took, milliseconds(20));
  EXPECT_EQ(held[1].task, LoopTask::timer);
  EXPECT_GE(held[1].took, milliseconds(10));
  EXPECT_EQ(held[2].task, LoopTask::posted);
}

TEST(Loop, WaitingForATaskIsNoHold) {
  constexpr milliseconds kWait{200};
  Loop loop;
  std::chrono::nanoseconds longest{0};
  loop.on_held([&](LoopTask, std::chrono::nanoseconds took) { longest = std::max(longest, took); });
  loop.after(kWait, [&] { loop.stop(); });
  loop.run();
  EXPECT_LT(longest, kWait);
}

TEST(Loop, ATaskThatThrowsIsReportedToo) {
  Loop loop;
  std::vector<Held> held;
  loop.on_held([&](LoopTask task, std::chrono::nanoseconds took) { held.push_back({task, took}); });
  loop.post([] { throw std::runtime_error("task"); });
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(held.size(), 2U);
}

TEST(Loop, PendingTimersAndTasksDieWithTheLoop) {
  auto alive = std::make_shared<int>(1);
  {
    Loop loop;
    loop.every(milliseconds(1000), [alive] {});
    loop.after(milliseconds(1000), [alive] {});
    loop.post([alive] {});
  }
  EXPECT_EQ(alive.use_count(), 1);
}

}  // namespace
}  // namespace chipweave::http

// Loop::Impl — the Asio side of Loop, for the .cpp files of this folder only.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "common/http/loop.hpp"

namespace chipweave::http {

// The message of the exception that is being handled.
std::string exception_text();

struct Loop::Impl {
  using Steady = std::chrono::steady_clock::time_point;

  // Runs `task`; an exception that escapes it goes to on_escape.
  void guarded(const std::function<void()>& task);
  // Completion handlers call it first: names the task that holds the loop now. The last name
  // counts.
  void begin_task(LoopTask task) {
    current = task;
    if (began == Steady{} && on_held) began = std::chrono::steady_clock::now();
  }
  // As context.run(), and reports each task to on_held.
  void run_measured();

  boost::asio::io_context context{1};  // one thread runs it
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
  std::optional<boost::asio::signal_set> signals;
  std::atomic<std::thread::id> runner{};
  std::function<void(const std::string& what)> on_escape;
  std::function<void(LoopTask task, std::chrono::nanoseconds took)> on_held;
  LoopTask current = LoopTask::other;
  Steady began{};  // when the current task began; zero: unknown
};

}  // namespace chipweave::http

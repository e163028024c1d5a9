// Loop::Impl — the Asio side of Loop, for the .cpp files of this folder only.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include "common/http/loop.hpp"

namespace chipweave::http {

// What the exception that is being handled says.
std::string exception_text();

struct Loop::Impl {
  // Runs `task`; an exception that escapes it goes to on_escape.
  void guarded(const std::function<void()>& task);

  boost::asio::io_context context{1};  // one thread runs it
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
  std::optional<boost::asio::signal_set> signals;
  std::atomic<std::thread::id> runner{};
  std::function<void(const std::string& what)> on_escape;
};

}  // namespace chipweave::http

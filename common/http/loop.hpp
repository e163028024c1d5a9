// Loop — the one thread that owns sockets, timers and all live state of a program (single writer).
//
// Wraps the Asio io_context so that Asio stays an implementation detail of common/http. post() may
// be called from any thread; everything else from the loop thread, or before run().
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace chipweave::http {

class Loop {
 public:
  // Ignores SIGPIPE from now on.
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs until stop(). An exception that escapes a task is a bug: it goes to on_escape().
  void run();
  void stop();
  // Runs `task` on the loop thread, after the caller returns. Any thread.
  void post(std::function<void()> task);
  // Calls `task` every `period` until the loop stops.
  void every(std::chrono::milliseconds period, std::function<void()> task);
  void after(std::chrono::milliseconds delay, std::function<void()> task);
  // Calls `task` once on SIGTERM or SIGINT.
  void on_terminate(std::function<void()> task);
  bool in_loop_thread() const;
  // What happens with the text of an escaped exception. By default it is logged and the loop goes
  // on. A program whose state may be half changed by then ends here instead. Before run().
  void on_escape(std::function<void(const std::string& what)> act);

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::http

// Loop — the one thread that owns sockets, timers and all live state of a program (single writer).
//
// Wraps the Asio io_context so that Asio stays an implementation detail of common/http. post() may
// be called from any thread; everything else from the loop thread, or before run().
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace chipweave::http {

// What holds the loop: a request of a client, a step of its TLS handshake, bytes of a server that
// this program is a client of, a timer, a task of post(), or anything else.
enum class LoopTask { request, tls_handshake, reply, timer, posted, other };
inline constexpr std::array kLoopTasks = {LoopTask::request, LoopTask::tls_handshake,
                                          LoopTask::reply,   LoopTask::timer,
                                          LoopTask::posted,  LoopTask::other};
std::string_view to_string(LoopTask task);

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
  // Calls `act` after each task with the time that the task held the loop. Costs two readings of a
  // clock a task. Before run().
  void on_held(std::function<void(LoopTask task, std::chrono::nanoseconds took)> act);

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace chipweave::http

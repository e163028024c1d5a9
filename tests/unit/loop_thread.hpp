// A loop on its own thread, and a journal of events that a test can wait for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "common/http/loop.hpp"

namespace chipweave {

// How long a test waits for an event that must happen; events normally come much sooner.
inline constexpr std::chrono::seconds kPatience{30};

class LoopThread {
 public:
  LoopThread() : thread_([this] { loop.run(); }) {}
  ~LoopThread() {
    loop.post([this] { loop.stop(); });
    thread_.join();
  }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;
  http::Loop loop;

 private:
  std::thread thread_;
};

// Runs `task` on the loop's thread and waits for its end, on any other thread.
template <class Task>
void post_and_wait(http::Loop& loop, Task task) {
  const auto done = std::make_shared<std::packaged_task<void()>>(std::move(task));
  auto result = done->get_future();
  loop.post([done] { (*done)(); });
  if (result.wait_for(kPatience) != std::future_status::ready)
    throw std::runtime_error("the loop has ended");
  result.get();
}

// A list of events; any thread can wait for them.
template <class T>
class Journal {
 public:
  void add(T entry) {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
    changed_.notify_all();
  }
  // The n-th entry (from 0) as soon as it exists; nullopt after kPatience.
  std::optional<T> at(std::size_t n) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kPatience, [&] { return entries_.size() > n; }))
      return std::nullopt;
    return entries_[n];
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<T> entries_;
};

}  // namespace chipweave

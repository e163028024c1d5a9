// Turns — how many operations run at once; the others wait in their order. An API server that gets
// more writes than it can take answers all of them late, and late answers are given up.
//
// Owner: the loop thread.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <utility>

namespace chipweave::sched {

class Turns {
 public:
  explicit Turns(std::size_t at_once) : free_(at_once) {}

  // Calls begin once it is its turn, which may be at once. False from it: the turn is not needed
  // any more. Otherwise end() must follow.
  void ask(std::function<bool()> begin) {
    waiting_.push_back(std::move(begin));
    go_on();
  }
  void end() {
    ++free_;
    go_on();
  }
  // Nothing begins any more.
  void close() {
    waiting_.clear();
    closed_ = true;
  }

 private:
  void go_on() {
    while (free_ > 0 && !waiting_.empty() && !closed_) {
      const auto begin = std::move(waiting_.front());
      waiting_.pop_front();
      --free_;
      if (!begin()) ++free_;
    }
  }

  std::size_t free_;
  std::deque<std::function<bool()>> waiting_;
  bool closed_ = false;
};

}  // namespace chipweave::sched

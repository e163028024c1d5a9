// SlicedReplies — makes answers about the whole cluster in slices, between other tasks of the loop:
// at 10,000 nodes such an answer has tens of megabytes, or takes tens of milliseconds to find, and
// no task may hold the loop for long.
//
// A small answer is complete in the first slice and sent at once. Larger ones are made one after
// the other, so that the memory of unsent text is bounded; each part shows the state at its time.
// Owner: the loop thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "common/base/clock.hpp"
#include "common/http/loop.hpp"
#include "common/http/mailbox.hpp"
#include "common/http/server.hpp"

namespace chipweave::sched {

class SlicedReplies {
 public:
  // Appends the next part of the body, some 100 µs of work; false: that was the last one.
  using Parts = std::function<bool(std::string& out)>;

  SlicedReplies(http::Loop& loop, const Clock& clock);
  ~SlicedReplies();
  SlicedReplies(const SlicedReplies&) = delete;
  SlicedReplies& operator=(const SlicedReplies&) = delete;

  // Whether the parts only look at the scheduler's state.
  enum class Effect { reads_state, changes_state };

  // frame: the reply without its body. An exception of `parts` leaves this call. In a later slice
  // it is logged and answered 500 if `parts` only read; else the state may be half changed, and it
  // goes to Loop::on_escape().
  http::Answer answer(http::Response frame, Parts parts, Effect effect = Effect::reads_state);

 private:
  struct Job {
    http::Response response;
    Parts parts;
    Effect effect = Effect::reads_state;
    std::shared_ptr<http::PendingReply> to;
  };
  // Works until the answer is complete (true) or the time has come.
  bool advance(Job& job, Clock::Steady until) const;
  void wake();
  void run_slice();
  void end_first();

  const Clock& clock_;
  std::deque<std::shared_ptr<Job>> waiting_;
  bool awake_ = false;  // a slice is posted
  std::shared_ptr<http::Mailbox<SlicedReplies>> mailbox_;
};

}  // namespace chipweave::sched

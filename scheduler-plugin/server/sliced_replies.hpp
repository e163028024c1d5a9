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
#include <vector>

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

  // frame: the reply without its body. An exception of `parts` leaves this call or, in a later
  // slice, is logged and answered 500: `parts` only look at the state.
  http::Answer answer(http::Response frame, Parts parts);

 private:
  struct Job {
    http::Response response;
    Parts parts;
    std::vector<std::string> pieces;  // text that is not in the body yet
    std::size_t bytes = 0;
    std::size_t gathered = 0;  // pieces that are
    bool made = false;         // `parts` has no more
    std::shared_ptr<http::PendingReply> to;
  };
  // Works until the answer is complete (true) or the time has come.
  bool advance(Job& job, Clock::Steady until) const;
  static void gather_one(Job& job);
  void wake();
  void run_slice();

  const Clock& clock_;
  std::deque<std::shared_ptr<Job>> waiting_;
  bool awake_ = false;  // a slice is posted
  std::shared_ptr<http::Mailbox<SlicedReplies>> mailbox_;
};

}  // namespace chipweave::sched

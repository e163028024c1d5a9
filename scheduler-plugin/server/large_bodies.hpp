// LargeBodies — reads large request bodies on a thread of its own. A kube-scheduler that is not
// nodeCacheCapable sends whole Node objects, 50 MB for 10,000 of them; reading takes 1 ms per
// megabyte, and no task may hold the loop for long.
//
// The thread sees only what the request owns. Owner: the loop thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "common/http/loop.hpp"
#include "common/http/mailbox.hpp"
#include "common/http/server.hpp"

namespace chipweave::sched {

class LargeBodies {
 public:
  explicit LargeBodies(http::Loop& loop);
  // Waits for the body that is being read. The others are dropped; their clients get status 500.
  ~LargeBodies();
  LargeBodies(const LargeBodies&) = delete;
  LargeBodies& operator=(const LargeBodies&) = delete;

  // Smaller ones are read faster than they are handed over.
  static bool is_large(std::string_view body) { return body.size() >= kLarge; }

  // Bytes that count toward the limit of all large bodies, until the last copy of it ends.
  using Share = std::shared_ptr<const void>;
  // Null if so many bytes are held already that these must not be.
  Share take(std::size_t bytes);

  // read: on the thread, in the order of requests. then: on the loop, afterwards. refusal: the
  // reply if `read` throws. An exception of `then` goes to Loop::on_escape().
  http::Answer answer(std::function<void()> read, std::function<http::Answer()> then,
                      http::RefusalShape refusal);

 private:
  static constexpr std::size_t kLarge = std::size_t{2} << 20U;
  struct Job {
    std::function<void()> read;
    std::function<http::Answer()> then;
    http::RefusalShape refusal = nullptr;
    std::optional<std::string> failure;  // of `read`
    std::shared_ptr<http::PendingReply> to;
  };
  void read_all();

  // Shares may end later than this, and on the thread.
  std::shared_ptr<std::atomic<std::size_t>> held_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::shared_ptr<http::Mailbox<LargeBodies>> mailbox_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> waiting_;  // under mutex_
  bool over_ = false;                         // under mutex_
  std::thread reader_;
};

}  // namespace chipweave::sched

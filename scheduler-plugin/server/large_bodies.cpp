#include "scheduler-plugin/server/large_bodies.hpp"

#include <exception>
#include <utility>
#include <variant>

#include "common/base/limits.hpp"

namespace chipweave::sched {
namespace {

void deliver(http::Answer answer, const std::shared_ptr<http::PendingReply>& to) {
  if (auto* now = std::get_if<http::Response>(&answer)) return to->send(std::move(*now));
  std::get<http::Later>(answer)(to);
}

}  // namespace

LargeBodies::LargeBodies(http::Loop& loop)
    : mailbox_(std::make_shared<http::Mailbox<LargeBodies>>(loop, *this)),
      reader_([this] { read_all(); }) {}

LargeBodies::~LargeBodies() {
  mailbox_->cut();
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  reader_.join();
}

LargeBodies::Share LargeBodies::take(std::size_t bytes) {
  if (held_->fetch_add(bytes) + bytes <= limits::kMaxHttpHeldBytes)
    return {held_.get(), [held = held_, bytes](const void*) { *held -= bytes; }};
  *held_ -= bytes;
  return nullptr;
}

http::Answer LargeBodies::answer(std::function<void()> read, std::function<http::Answer()> then,
                                 http::RefusalShape refusal) {
  const auto job = std::make_shared<Job>();
  job->read = std::move(read);
  job->then = std::move(then);
  job->refusal = refusal;
  return http::Later([this, job](std::shared_ptr<http::PendingReply> to) {
    job->to = std::move(to);
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(job);
    }
    changed_.notify_one();
  });
}

void LargeBodies::read_all() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return over_ || !waiting_.empty(); });
    if (over_) return;
    std::shared_ptr<Job> job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    try {
      job->read();
    } catch (const std::exception& e) {
      job->failure = e.what();
    }
    mailbox_->post([job = std::move(job)](LargeBodies&) {
      deliver(
          job->failure ? job->refusal("cannot read the request: " + *job->failure) : job->then(),
          job->to);
    });
    lock.lock();
  }
}

}  // namespace chipweave::sched

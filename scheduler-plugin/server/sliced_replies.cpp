#include "scheduler-plugin/server/sliced_replies.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "common/obs/log.hpp"
#include "scheduler-plugin/server/http_errors.hpp"

namespace chipweave::sched {
namespace {

constexpr std::chrono::milliseconds kSlice{2};
constexpr std::size_t kPiece = 128U << 10U;  // bytes that one gathering step copies

}  // namespace

SlicedReplies::SlicedReplies(http::Loop& loop, const Clock& clock)
    : clock_(clock), mailbox_(std::make_shared<http::Mailbox<SlicedReplies>>(loop, *this)) {}

SlicedReplies::~SlicedReplies() { mailbox_->cut(); }

http::Answer SlicedReplies::answer(http::Response frame, Parts parts) {
  const auto job = std::make_shared<Job>();
  job->response = std::move(frame);
  job->parts = std::move(parts);
  if (waiting_.empty() && advance(*job, clock_.now() + kSlice)) return std::move(job->response);
  return http::Later([this, job](std::shared_ptr<http::PendingReply> to) {
    job->to = std::move(to);
    waiting_.push_back(job);
    wake();
  });
}

// Growing one string would copy all of it again and again, each time in one go.
bool SlicedReplies::advance(Job& job, Clock::Steady until) const {
  do {
    if (!job.made) {
      if (job.pieces.empty() || job.pieces.back().size() >= kPiece) job.pieces.emplace_back();
      std::string& piece = job.pieces.back();
      const std::size_t before = piece.size();
      job.made = !job.parts(piece);
      job.bytes += piece.size() - before;
    } else {
      gather_one(job);
    }
    if (job.made && job.gathered == job.pieces.size()) return true;
  } while (clock_.now() < until);
  return false;
}

void SlicedReplies::gather_one(Job& job) {
  std::string& piece = job.pieces[job.gathered++];
  if (job.pieces.size() == 1) {
    job.response.body = std::move(piece);
    return;
  }
  job.response.body.reserve(job.bytes);
  job.response.body += piece;
  std::string().swap(piece);
}

void SlicedReplies::wake() {
  if (std::exchange(awake_, true)) return;
  mailbox_->post([](SlicedReplies& self) {
    self.awake_ = false;
    self.run_slice();
  });
}

void SlicedReplies::run_slice() {
  if (waiting_.empty()) return;
  const auto job = waiting_.front();
  try {
    if (!advance(*job, clock_.now() + kSlice)) return wake();
  } catch (const std::exception& e) {
    obs::log(obs::Level::error, "request failed", {{"error", e.what()}});
    job->response = error_response(500, "internal", "internal error; see the scheduler's log");
  }
  waiting_.pop_front();
  if (!waiting_.empty()) wake();
  job->to->send(std::move(job->response));
}

}  // namespace chipweave::sched

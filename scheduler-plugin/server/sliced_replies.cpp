#include "scheduler-plugin/server/sliced_replies.hpp"

#include <chrono>
#include <exception>
#include <utility>
#include <vector>

#include "common/obs/log.hpp"
#include "scheduler-plugin/server/http_errors.hpp"

namespace chipweave::sched {
namespace {

constexpr std::chrono::milliseconds kSlice{2};
constexpr std::size_t kPiece = 128U << 10U;  // bytes
constexpr std::size_t kPart = 16U << 10U;    // what one part usually adds at most

}  // namespace

SlicedReplies::SlicedReplies(http::Loop& loop, const Clock& clock)
    : clock_(clock), mailbox_(std::make_shared<http::Mailbox<SlicedReplies>>(loop, *this)) {}

SlicedReplies::~SlicedReplies() { mailbox_->cut(); }

http::Answer SlicedReplies::answer(http::Response frame, Parts parts, Effect effect) {
  const auto job = std::make_shared<Job>();
  job->response = std::move(frame);
  job->parts = std::move(parts);
  job->effect = effect;
  if (waiting_.empty() && advance(*job, clock_.now() + kSlice)) return std::move(job->response);
  return http::Later([this, job](std::shared_ptr<http::PendingReply> to) {
    job->to = std::move(to);
    waiting_.push_back(job);
    wake();
  });
}

// Growing one string would copy all of it again and again, each time in one go.
bool SlicedReplies::advance(Job& job, Clock::Steady until) const {
  std::string& body = job.response.body;
  std::vector<std::string>& more = job.response.more;
  do {
    if ((more.empty() ? body : more.back()).size() >= kPiece)
      more.emplace_back().reserve(kPiece + kPart);
    if (!job.parts(more.empty() ? body : more.back())) return true;
  } while (clock_.now() < until);
  return false;
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
    if (job->effect == Effect::changes_state) {
      end_first();
      throw;
    }
    obs::log(obs::Level::error, "request failed", {{"error", e.what()}});
    job->response = error_response(500, "internal", "internal error; see the scheduler's log");
  }
  end_first();
  job->to->send(std::move(job->response));
}

void SlicedReplies::end_first() {
  waiting_.pop_front();
  if (!waiting_.empty()) wake();
}

}  // namespace chipweave::sched

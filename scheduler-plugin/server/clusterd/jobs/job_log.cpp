#include "scheduler-plugin/server/clusterd/jobs/job_log.hpp"

namespace chipweave::sched::clusterd {

void JobLog::take_out(std::uint64_t change) {
  const auto at = signals_.find(change);
  change_of_.erase(at->second.job);
  gone_.erase(change);
  signals_.erase(at);
}

void JobLog::put(const std::string& job, const std::string& signal, bool gone) {
  grpc::Slice bytes(signal);
  const std::lock_guard lock(mutex_);
  if (const auto before = change_of_.find(job); before != change_of_.end())
    take_out(before->second);
  const std::uint64_t change = ++changes_;
  signals_.emplace(change, Signal{job, std::move(bytes), gone});
  change_of_.emplace(job, change);
  if (!gone) return;
  gone_.insert(change);
  if (gone_.size() <= kMaxGone) return;
  forgotten_ = *gone_.begin();
  take_out(forgotten_);
}

void JobLog::clear() {
  const std::lock_guard lock(mutex_);
  signals_.clear();
  change_of_.clear();
  gone_.clear();
}

JobLog::Place JobLog::begin() const {
  const std::lock_guard lock(mutex_);
  return {0, changes_};
}

bool JobLog::is_lost(const Place& place) const {
  return place.read < forgotten_ && place.begin < forgotten_;
}

JobLog::Signals::const_iterator JobLog::find_next(const Place& place) const {
  auto at = signals_.upper_bound(place.read);
  while (at != signals_.end() && at->second.gone && at->first <= place.begin) ++at;
  return at;
}

JobLog::Found JobLog::next(Place& place, grpc::Slice& signal) const {
  const std::lock_guard lock(mutex_);
  if (is_lost(place)) return Found::lost;
  const auto at = find_next(place);
  if (at == signals_.end()) return Found::none;
  place.read = at->first;
  signal = at->second.bytes;
  return Found::some;
}

JobLog::Found JobLog::next(Place& place, std::size_t max_bytes,
                           std::vector<grpc::Slice>& signals) const {
  const std::lock_guard lock(mutex_);
  if (is_lost(place)) return Found::lost;
  std::size_t bytes = 0;
  for (auto at = find_next(place); at != signals_.end(); at = find_next(place)) {
    bytes += at->second.bytes.size();
    const bool first = signals.empty();
    if (!first && (bytes > max_bytes || (at->first > place.begin && place.read <= place.begin)))
      break;
    place.read = at->first;
    signals.push_back(at->second.bytes);
  }
  return signals.empty() ? Found::none : Found::some;
}

std::size_t JobLog::jobs() const {
  const std::lock_guard lock(mutex_);
  return signals_.size() - gone_.size();
}

}  // namespace chipweave::sched::clusterd

#include "scheduler-plugin/app/authority.hpp"

#include "common/base/limits.hpp"

namespace chipweave::sched {

std::string Authority::cannot_decide() const {
  if (!waiting_for_.empty()) return waiting_for_;
  return leadership_ == nullptr ? std::string() : leadership_->standby();
}

std::uint64_t Authority::term() const { return leadership_ == nullptr ? 0 : leadership_->term(); }

bool Authority::is_certain(const std::string& node) {
  if (leadership_ == nullptr)
    return true;  // the first list was current, and no other replica decides
  if (std::exchange(certain_term_, term()) != term()) certain_nodes_.clear();
  return certain_nodes_.contains(node);
}

void Authority::when_certain(const std::string& node, Done then) {
  if (is_certain(node)) return then({});
  const auto asked = std::pair(term(), node);
  std::vector<Done>& waiting = awaiting_[asked];
  waiting.push_back(std::move(then));
  if (waiting.size() > 1) return;
  cluster_.refresh_node(node, [this, asked](const Result<void>& result) {
    const auto over = awaiting_.extract(asked);
    Result<void> outcome = result;
    if (outcome && (asked.first != term() || !cannot_decide().empty())) {
      outcome = make_error(Errc::unavailable, "the leader has changed; try again");
    } else if (outcome && !is_certain(asked.second)) {
      // most are names of nodes that are gone; for the others the pods are listed again
      if (certain_nodes_.size() >= limits::kMaxNodes) certain_nodes_.clear();
      certain_nodes_.insert(asked.second);
    }
    for (const Done& done : over.mapped()) done(outcome);
  });
}

bool Authority::is_earlier(std::uint64_t than) const {
  return than != term() || (leadership_ != nullptr && !leadership_->standby().empty());
}

}  // namespace chipweave::sched

#include "scheduler-plugin/app/gangs/preemption/gang_victims.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace chipweave::sched {

GangVictims::GangVictims(std::vector<VictimUnit> units, std::vector<int> allowed)
    : units_(std::move(units)), allowed_(std::move(allowed)), in_set_(units_.size()) {
  for (const VictimUnit& unit : units_) levels_.push_back(unit.priority);
  std::sort(levels_.begin(), levels_.end());
  levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
}

GangVictims::Set GangVictims::up_to(std::size_t level) const {
  Set out;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (units_[i].priority <= levels_[level]) out.push_back(i);
  }
  return out;
}

VictimCost GangVictims::cost_of(const Set& set) const {
  VictimCost out;
  for (const std::size_t i : set) {
    const VictimUnit& unit = units_[i];
    out.priority = std::max(out.priority, unit.priority);
    out.gangs += unit.breaks_gang ? 1 : 0;
    out.pods += unit.pods.size();
    out.sum += unit.sum;
  }
  return out;
}

void GangVictims::answer(const std::optional<std::vector<NodeId>>& nodes) {
  const bool fits = nodes.has_value();
  switch (stage_) {
    case Stage::nothing:
      if (fits) best_ = Set{};
      over_ = fits || units_.empty();
      if (over_) return;
      stage_ = Stage::everything;
      asked_ = up_to(levels_.size() - 1);
      return;
    case Stage::everything:
      over_ = !fits;
      stage_ = Stage::level;
      high_ = levels_.size() - 1;
      break;
    case Stage::level:
      if (fits) {
        high_ = low_ + (high_ - low_) / 2;
      } else {
        low_ += (high_ - low_) / 2 + 1;
      }
      break;
    case Stage::within_budgets:
    case Stage::leave_out:
      return left_out(fits, nodes.value_or(std::vector<NodeId>()));
  }
  if (over_) return;
  if (low_ == high_) return begin_order();
  asked_ = up_to(low_ + (high_ - low_) / 2);
}

// The units of a level in the order in which they are left out: the most expensive first.
std::vector<std::size_t> GangVictims::order(int number) const {
  std::vector<std::size_t> out = up_to(low_);
  std::map<NodeId, std::pair<std::size_t, std::int64_t>> shared;  // single pods, by node
  for (const std::size_t i : out) {
    const VictimUnit& unit = units_[i];
    if (unit.breaks_gang) continue;
    auto& [pods, sum] = shared[unit.pods.front().node];
    pods += unit.pods.size();
    sum += unit.sum;
  }
  using Key = std::tuple<bool, std::int64_t, std::int64_t, NodeId, std::size_t, std::int64_t>;
  const auto key = [&](std::size_t i) -> Key {
    const VictimUnit& unit = units_[i];
    const auto pods = static_cast<std::int64_t>(unit.pods.size());
    const auto chips = static_cast<std::int64_t>(unit.chips);
    // few gangs with many chips, or small gangs
    if (unit.breaks_gang)
      return {false, number == 1 ? chips : -pods, -unit.sum, unit.pods.front().node, i, 0};
    const NodeId node = unit.pods.front().node;
    const auto& [on_node, sum] = shared.at(node);
    const auto many = -static_cast<std::int64_t>(on_node);
    const bool by_priority = number == 2;
    return {true,     by_priority ? -sum : many, by_priority ? many : -sum, node, unit.chips,
            -unit.sum};
  };
  std::sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return out;
}

void GangVictims::begin_order() {
  left_ = order(order_);
  if (std::find(tried_orders_.begin(), tried_orders_.end(), left_) != tried_orders_.end())
    return next_order();
  tried_orders_.push_back(left_);
  in_set_.assign(units_.size(), false);
  for (const std::size_t i : left_) in_set_[i] = true;
  step_ = 1;
  stage_ = Stage::within_budgets;
  go_on();
}

void GangVictims::next_order() {
  if (++order_ < kOrders && tried_orders_.front().size() <= kMany) return begin_order();
  over_ = best_.has_value() || low_ + 1 == levels_.size();
  if (over_) return;
  ++low_;
  order_ = 0;
  tried_orders_.clear();
  begin_order();
}

std::vector<std::int64_t> GangVictims::excess() const {
  std::vector<std::int64_t> out(allowed_.size());
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (!in_set_[i]) continue;
    for (const auto& [budget, pods] : units_[i].covered) out[budget] += pods;
  }
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = std::max<std::int64_t>(out[i] - allowed_[i], 0);
  return out;
}

void GangVictims::ask_without(std::size_t count) {
  count_ = count;
  std::vector<bool> without = in_set_;
  for (std::size_t i = 0; i < count; ++i) without[left_[i]] = false;
  asked_.clear();
  for (std::size_t i = 0; i < without.size(); ++i) {
    if (without[i]) asked_.push_back(i);
  }
}

// False: nothing that exceeds a budget can be left out any more.
bool GangVictims::ask_within_budgets() {
  const std::vector<std::int64_t> over = excess();
  const auto covered = std::stable_partition(left_.begin(), left_.end(), [&](std::size_t i) {
    return std::any_of(units_[i].covered.begin(), units_[i].covered.end(),
                       [&](const auto& one) { return over[one.first] > 0; });
  });
  if (covered == left_.begin()) return false;
  const auto most = static_cast<std::size_t>(*std::max_element(over.begin(), over.end()));
  const auto candidates = static_cast<std::size_t>(covered - left_.begin());
  ask_without(std::min({step_, most, candidates}));
  return true;
}

void GangVictims::go_on() {
  if (stage_ == Stage::within_budgets) {
    if (ask_within_budgets()) return;
    const std::vector<std::int64_t> over = excess();
    if (std::any_of(over.begin(), over.end(), [](std::int64_t pods) { return pods > 0; }))
      return next_order();
    stage_ = Stage::leave_out;
    const auto gangs = std::count_if(left_.begin(), left_.end(),
                                     [&](std::size_t i) { return units_[i].breaks_gang; });
    step_ = std::max<std::size_t>(1, static_cast<std::size_t>(gangs));
  }
  if (!left_.empty()) return ask_without(std::min(step_, left_.size()));
  Set set;
  for (std::size_t i = 0; i < in_set_.size(); ++i) {
    if (in_set_[i]) set.push_back(i);
  }
  if (!best_ || cost_of(set) < cost_of(*best_)) best_ = std::move(set);
  next_order();
}

// The first of those that may be left out can be, or the first one cannot.
void GangVictims::left_out(bool fits, const std::vector<NodeId>& nodes) {
  if (!fits && count_ > 1) {
    step_ = count_ / 2;
    return go_on();
  }
  const auto end = left_.begin() + static_cast<std::ptrdiff_t>(count_);
  if (fits) {
    for (auto it = left_.begin(); it != end; ++it) in_set_[*it] = false;
    step_ = 2 * count_;
  }
  left_.erase(left_.begin(), end);
  if (fits) keep_to(nodes);
  go_on();
}

// Single pods elsewhere are not needed: the plan does without them.
void GangVictims::keep_to(const std::vector<NodeId>& nodes) {
  if (stage_ != Stage::leave_out || left_.size() <= kMany || units_[left_.front()].breaks_gang)
    return;
  std::erase_if(left_, [&](std::size_t i) {
    const auto& pods = units_[i].pods;
    const bool used = std::any_of(pods.begin(), pods.end(), [&](const VictimPod& pod) {
      return std::binary_search(nodes.begin(), nodes.end(), pod.node);
    });
    if (!used) in_set_[i] = false;
    return !used;
  });
}

}  // namespace chipweave::sched

#include "scheduler-plugin/app/gangs/planning/nodes/eligible_nodes.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace chipweave::sched {

bool EligibleNodes::may_run(const domain::NodeWishes* wishes, NodeId node) const {
  static const domain::NodeWishes kNone;
  const std::string& name = nodes_.node(node).name;
  const domain::NodeStanding* there = standings_.find(name);
  if (there == nullptr) return true;
  return standings_.is_ready(name) &&
         domain::why_not_on(wishes == nullptr ? kNone : *wishes, name, *there).empty();
}

const NodeSet& EligibleNodes::of(const SharedWishes& wishes) {
  if (standings_version_ != standings_.version() || names_version_ != nodes_.names_version() ||
      kept_.size() > kMaxKept) {
    kept_.clear();
    standings_version_ = standings_.version();
    names_version_ = nodes_.names_version();
  }
  const auto [at, fresh] = kept_.try_emplace(wishes.get());
  NodeSet& out = at->second.nodes;
  if (!fresh) return out;
  at->second.wishes = wishes;
  out.assign(nodes_.size(), false);
  const auto named = wishes == nullptr ? std::nullopt : domain::named_nodes(*wishes);
  if (named) {
    for (const std::string& name : *named) {
      const NodeId id = nodes_.find(name);
      if (id != kNoNode) out[id] = may_run(wishes.get(), id);
    }
    return out;
  }
  for (NodeId id = 0; id < out.size(); ++id) out[id] = may_run(wishes.get(), id);
  return out;
}

}  // namespace chipweave::sched

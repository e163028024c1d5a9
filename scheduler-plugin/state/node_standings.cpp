#include "scheduler-plugin/state/node_standings.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::sched {

void NodeStandings::set(const std::string& node, std::optional<domain::NodeStanding> standing) {
  const auto known = nodes_.find(node);
  const bool same = known == nodes_.end() ? !standing : standing && known->second == *standing;
  if (same) return;
  ++version_;
  if (!standing) {
    nodes_.erase(known);
  } else {
    nodes_.insert_or_assign(node, *std::move(standing));
  }
}

const domain::NodeStanding* NodeStandings::find(std::string_view node) const {
  const auto at = nodes_.find(node);
  return at == nodes_.end() ? nullptr : &at->second;
}

bool NodeStandings::is_ready(std::string_view node) const {
  const domain::NodeStanding* standing = find(node);
  return standing == nullptr || std::none_of(standing->taints.begin(), standing->taints.end(),
                                             [](const domain::NodeTaint& taint) {
                                               return taint.key == "node.kubernetes.io/not-ready" ||
                                                      taint.key == "node.kubernetes.io/unreachable";
                                             });
}

}  // namespace chipweave::sched

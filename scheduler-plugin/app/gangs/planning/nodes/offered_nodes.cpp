#include "scheduler-plugin/app/gangs/planning/nodes/offered_nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <vector>

#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched {

bool OfferedNodes::by_domain(const Gang& gang) {
  const gangs::Framework* framework = gangs::framework_called(gang.framework);
  return framework != nullptr && framework->native && !gang.spec.topology.required.empty();
}

// The finest of them.
std::optional<int> OfferedNodes::level_of(const Gang& gang) const {
  int out = -1;
  for (const std::string& name : gang.spec.topology.required) {
    const std::optional<int> level = network_.level_of(name);
    if (!level) return std::nullopt;
    out = std::max(out, *level);
  }
  return out;
}

std::string OfferedNodes::domain_of(NodeId node, int level) const {
  const std::string& name = nodes_.node(node).name;
  const std::vector<std::string> path = network_.path_of(name);
  std::string out;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(level); ++i) {
    if (i >= path.size() || path[i].empty()) return "\n" + name;
    out += path[i] + "\n";
  }
  return out;
}

NodeSet OfferedNodes::of(const Gang& gang, std::span<const std::string_view> nodes) {
  NodeSet out(nodes_.size());
  nodes_.find_all(nodes, found_);
  for (const NodeId id : found_) {
    if (id != kNoNode) out[id] = true;
  }
  if (by_domain(gang)) widen(gang, out);
  return out;
}

// All of them are in one domain, so the first that is known tells.
bool OfferedNodes::are_elsewhere(const Gang& gang, NodeId node,
                                 std::span<const std::string_view> nodes) const {
  if (!by_domain(gang)) return false;
  const int level = *level_of(gang);
  for (const std::string_view name : nodes) {
    const NodeId offered = nodes_.find(name);
    if (offered != kNoNode) return domain_of(offered, level) != domain_of(node, level);
  }
  return false;
}

bool OfferedNodes::is_sample(const NodeSet& offered) const {
  constexpr std::ptrdiff_t kFewest = 100;
  const auto count = std::count(offered.begin(), offered.end(), true);
  return count >= kFewest && count < static_cast<std::ptrdiff_t>(nodes_.size() * 19 / 20);
}

void OfferedNodes::widen(const Gang& gang, NodeSet& offered) const {
  const int level = *level_of(gang);
  std::unordered_set<std::string> tried;
  for (NodeId id = 0; id < offered.size(); ++id) {
    if (offered[id]) tried.insert(domain_of(id, level));
  }
  for (NodeId id = 0; id < offered.size(); ++id) {
    if (!offered[id] && !tried.contains(domain_of(id, level))) offered[id] = true;
  }
}

}  // namespace chipweave::sched

#include "scheduler-plugin/state/network/sources/inventory_places.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/natural_order.hpp"
#include "common/domain/network/leaf_units.hpp"

namespace chipweave::sched {
namespace {

// Their numbers do not depend on which node was reported first.
std::vector<std::string> all_leaves(const std::set<std::string_view>& seen) {
  std::vector<std::string> out(seen.begin(), seen.end());
  std::sort(out.begin(), out.end(),
            [](const std::string& a, const std::string& b) { return natural_less(a, b); });
  return out;
}

}  // namespace

bool InventoryPlaces::set(const std::string& node, domain::NodeNetwork network) {
  const auto known = nodes_.find(node);
  if (known == nodes_.end() ? network == domain::NodeNetwork() : known->second == network)
    return false;
  if (known == nodes_.end() && nodes_.size() >= kMaxNodes) return false;
  if (known != nodes_.end()) {
    leave(node, known->second);
    nodes_.erase(known);
  }
  if (!network.leaves.empty()) {
    groups_[network.leaves].nodes.insert(node);
    settled_ = false;
  }
  if (!network.interconnect.empty()) ++interconnected_;
  if (network != domain::NodeNetwork()) nodes_.emplace(node, std::move(network));
  return true;
}

void InventoryPlaces::leave(const std::string& node, const domain::NodeNetwork& network) {
  if (!network.interconnect.empty()) --interconnected_;
  if (network.leaves.empty()) return;
  settled_ = false;
  const auto group = groups_.find(network.leaves);
  group->second.nodes.erase(node);
  if (group->second.nodes.empty()) groups_.erase(group);
}

std::vector<std::string> InventoryPlaces::settle() {
  std::vector<std::string> changed;
  if (settled_) return changed;
  settled_ = true;
  std::set<std::string_view> seen;
  for (const auto& [leaves, group] : groups_) seen.insert(leaves.begin(), leaves.end());
  const std::vector<std::string> names = all_leaves(seen);
  std::map<std::string_view, std::size_t> numbers;
  for (std::size_t i = 0; i < names.size(); ++i) numbers.emplace(names[i], i);
  const auto set_of = [&](const Leaves& leaves) {
    domain::LeafSet out;
    out.reserve(leaves.size());
    for (const std::string& leaf : leaves) out.push_back(numbers.at(leaf));
    std::sort(out.begin(), out.end());
    return out;
  };
  std::map<domain::LeafSet, std::size_t> hosts;
  for (const auto& [leaves, group] : groups_) hosts.emplace(set_of(leaves), group.nodes.size());
  const domain::LeafUnits units(std::move(hosts));
  in_units_ = 0;
  for (auto& [leaves, group] : groups_) {
    const auto of = units.of(set_of(leaves));
    std::string unit = of ? domain::unit_name(*of, names) : std::string();
    if (!is_network_name(unit)) unit.clear();
    if (!unit.empty()) in_units_ += group.nodes.size();
    if (unit == group.unit) continue;
    group.unit = std::move(unit);
    changed.insert(changed.end(), group.nodes.begin(), group.nodes.end());
  }
  return changed;
}

const domain::NodeNetwork* InventoryPlaces::find(const std::string& node) const {
  const auto at = nodes_.find(node);
  return at == nodes_.end() ? nullptr : &at->second;
}

SourceLevels InventoryPlaces::wanted() const {
  SourceLevels out;
  if (in_units_ > 0) out.levels.push_back({"leaf", {}});
  if (interconnected_ > 0) out.accelerators.push_back({"domain", {}});
  return out;
}

bool InventoryPlaces::levels_changed() const { return wanted() != levels_; }

SourcePlace InventoryPlaces::place(const std::string& node) const {
  SourcePlace out;
  const domain::NodeNetwork* network = find(node);
  if (network == nullptr) return out;
  const auto group = groups_.find(network->leaves);
  if (!levels_.levels.empty() && group != groups_.end()) out.path = {group->second.unit};
  if (!levels_.accelerators.empty() && is_network_name(network->interconnect))
    out.accelerator = {network->interconnect};
  out.path = known_path(std::move(out.path));
  return out;
}

}  // namespace chipweave::sched

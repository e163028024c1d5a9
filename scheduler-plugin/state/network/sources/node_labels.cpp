#include "scheduler-plugin/state/network/sources/node_labels.hpp"

#include <algorithm>
#include <set>

namespace chipweave::sched {
namespace {

using domain::LabelLevel;

constexpr std::uint32_t kTiers = 0;  // number of the family of topograph's tiers

}  // namespace

NodeLabels::NodeLabels() {
  std::uint32_t family = kTiers;
  for (const domain::LabelFamily& one : domain::network_label_families()) {
    ++family;
    for (const std::string_view label : one.labels) roles_[std::string(label)] = {family};
  }
  ++family;
  for (const std::string_view label : domain::zone_labels().labels)
    roles_[std::string(label)] = {family};
  network_nodes_.resize(family + 1);
  std::uint32_t accelerators = 0;
  for (const domain::LabelFamily& one : domain::accelerator_label_families()) {
    for (const std::string_view label : one.labels)
      roles_[std::string(label)] = {accelerators, true};
    ++accelerators;
  }
  accelerator_nodes_.resize(accelerators);
}

void NodeLabels::keep(const std::vector<std::string>& labels) {
  for (const std::string& label : labels) roles_.try_emplace(label);
}

// nullopt: the label is not kept.
std::optional<NodeLabels::Role> NodeLabels::role_of(std::string_view label) const {
  if (const auto known = roles_.find(label); known != roles_.end()) return known->second;
  if (const auto tier = domain::topograph_tier(label)) return Role{kTiers, false, tier};
  return all_ ? std::optional<Role>(Role{}) : std::nullopt;
}

std::uint32_t NodeLabels::intern(std::string_view label, const Role& role) {
  const auto [at, fresh] = ids_.try_emplace(std::string(label), 0);
  if (!fresh) return at->second;
  if (unused_.empty()) {
    unused_.push_back(static_cast<std::uint32_t>(labels_.size()));
    labels_.emplace_back();
  }
  at->second = unused_.back();
  unused_.pop_back();
  labels_[at->second] = {std::string(label), 0, 0, role.family, role.accelerators, role.tier};
  return at->second;
}

void NodeLabels::add(Kept& kept, std::string_view label, const std::string& value) {
  if (const auto role = role_of(label)) kept.emplace_back(intern(label, *role), value);
}

bool NodeLabels::set(const std::string& node, const Map& labels, const Map& annotations) {
  const auto at = nodes_.find(node);
  if (at == nodes_.end() && nodes_.size() >= kMaxNodes) {
    full_ = true;
    return false;
  }
  Kept kept;
  for (const auto& [name, value] : labels) add(kept, name, value);
  for (const auto& [name, value] : annotations) {
    const auto role = roles_.find(name);
    const bool counts = role != roles_.end() && role->second.accelerators;
    if (counts && labels.find(name) == labels.end()) add(kept, name, value);
  }
  std::sort(kept.begin(), kept.end());
  if (at != nodes_.end() && at->second == kept) return false;
  ++version_;
  count(kept, true);
  if (at == nodes_.end()) {
    nodes_.emplace(node, std::move(kept));
    return true;
  }
  std::swap(at->second, kept);
  count(kept, false);
  free_unused(kept);
  return true;
}

bool NodeLabels::drop(const std::string& node) {
  const auto at = nodes_.find(node);
  if (at == nodes_.end()) return false;
  ++version_;
  full_ = false;
  const Kept kept = std::move(at->second);
  nodes_.erase(at);
  count(kept, false);
  free_unused(kept);
  return true;
}

// enter: these labels came; otherwise they went.
void NodeLabels::count(const Kept& kept, bool enter) {
  const auto step = [enter](std::size_t& number) { enter ? ++number : --number; };
  std::set<std::uint32_t> network;
  std::set<std::uint32_t> accelerators;
  for (const auto& [id, value] : kept) {
    Label& one = labels_[id];
    step(one.nodes);
    if (one.family == kNoFamily) continue;
    if (!one.accelerators) {
      network.insert(one.family);
    } else if (!domain::accelerator_value(one.name, value).empty()) {
      step(one.accelerated);
      accelerators.insert(one.family);
    }
  }
  for (const std::uint32_t family : network) step(network_nodes_[family]);
  for (const std::uint32_t family : accelerators) step(accelerator_nodes_[family]);
}

void NodeLabels::free_unused(const Kept& kept) {
  for (const auto& [id, value] : kept) {
    if (labels_[id].nodes > 0) continue;
    ids_.erase(labels_[id].name);
    labels_[id] = {};
    unused_.push_back(id);
  }
}

const NodeLabels::Label* NodeLabels::label(std::string_view name) const {
  const auto at = ids_.find(std::string(name));
  return at == ids_.end() ? nullptr : &labels_[at->second];
}

const std::string* NodeLabels::find(const std::string& node, std::string_view name) const {
  const auto at = nodes_.find(node);
  const auto id = ids_.find(std::string(name));
  if (at == nodes_.end() || id == ids_.end()) return nullptr;
  const auto found =
      std::lower_bound(at->second.begin(), at->second.end(), id->second,
                       [](const auto& one, std::uint32_t wanted) { return one.first < wanted; });
  return found != at->second.end() && found->first == id->second ? &found->second : nullptr;
}

NodeLabels::Map NodeLabels::all_of(const std::string& node) const {
  Map out;
  const auto at = nodes_.find(node);
  if (at == nodes_.end()) return out;
  for (const auto& [id, value] : at->second) out.emplace(labels_[id].name, value);
  return out;
}

void NodeLabels::each(const std::function<void(const std::string& node)>& visit) const {
  for (const auto& [node, kept] : nodes_) visit(node);
}

std::size_t NodeLabels::with(std::string_view name) const {
  const Label* one = label(name);
  return one == nullptr ? 0 : one->nodes;
}

std::vector<LabelLevel> NodeLabels::in_use(const std::vector<std::string_view>& labels,
                                           bool accelerators) const {
  std::vector<LabelLevel> out;
  for (const std::string_view name : labels) {
    const Label* one = label(name);
    if (one == nullptr || (accelerators && one->accelerated == 0)) continue;
    out.push_back({std::string(name), {std::string(name)}});
  }
  return out;
}

std::vector<LabelLevel> NodeLabels::tiers() const {
  std::map<unsigned, std::string_view, std::greater<>> by_tier;
  for (const Label& one : labels_) {
    if (one.nodes == 0 || !one.tier) continue;
    const auto [at, fresh] = by_tier.emplace(*one.tier, one.name);
    if (!fresh) at->second = std::min(at->second, std::string_view(one.name));  // tier-1, tier-01
  }
  std::vector<std::string_view> names;
  names.reserve(by_tier.size());
  for (const auto& [tier, name] : by_tier) names.push_back(name);
  return in_use(names, false);
}

std::vector<LabelLevel> NodeLabels::network_levels() const {
  const std::vector<domain::LabelFamily>& families = domain::network_label_families();
  const auto best = std::max_element(network_nodes_.begin(), network_nodes_.end() - 1);
  const auto family = static_cast<std::size_t>(best - network_nodes_.begin());
  if (*best == 0) return in_use(domain::zone_labels().labels, false);
  return family == kTiers ? tiers() : in_use(families[family - 1].labels, false);
}

std::vector<LabelLevel> NodeLabels::accelerator_levels() const {
  const auto best = std::max_element(accelerator_nodes_.begin(), accelerator_nodes_.end());
  if (*best == 0) return {};
  const auto family = static_cast<std::size_t>(best - accelerator_nodes_.begin());
  return in_use(domain::accelerator_label_families()[family].labels, true);
}

}  // namespace chipweave::sched

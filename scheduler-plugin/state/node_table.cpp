#include "scheduler-plugin/state/node_table.hpp"

#include <algorithm>
#include <utility>

#include "common/base/limits.hpp"
#include "common/domain/vendor.hpp"
#include "scheduler-plugin/state/relink.hpp"

namespace chipweave::sched {
namespace {

std::vector<int> indices_of(const domain::NodeTopology& topology) {
  std::vector<int> indices;
  for (const domain::Chip& chip : topology.chips()) indices.push_back(chip.index.value);
  return indices;
}

void withhold(Node& n) {
  n.unhealthy = n.reported_unhealthy;
  for (const domain::Fault& fault : n.withheld) {
    if (const auto slot = n.topology.slot_of(*fault.chip)) n.unhealthy.insert(*slot);
  }
}

// Whether that is a change.
bool set_faults(Node& n, std::vector<domain::Fault> reported) {
  reported.insert(reported.end(), n.withheld.begin(), n.withheld.end());
  if (reported == n.faults) return false;
  n.faults = std::move(reported);
  return true;
}

// Whether a request may fit now that did not before.
bool offers_more(const NodeState& before, const NodeState& now) {
  return (before.stale && !now.stale) || (before.closed && !now.closed) ||
         before.wiring != now.wiring || before.resources != now.resources ||
         !(now.free - before.free).empty() ||
         !(before.network_unhealthy - now.network_unhealthy).empty();
}

}  // namespace

std::size_t NodeTable::StateHash::operator()(const StateKey& key) const {
  std::uint64_t h = std::hash<const void*>{}(key.wiring);
  for (const std::uint64_t part :
       {key.free, key.unhealthy, key.network,
        std::uint64_t{key.resources} * 4 + (key.stale ? 1 : 0) + (key.closed ? 2 : 0),
        static_cast<std::uint64_t>(key.room.cores) << 32U |
            static_cast<std::uint32_t>(key.room.gib)}) {
    h = (h ^ part) * 0x9E3779B97F4A7C15ULL;
    h ^= h >> 29U;
  }
  return static_cast<std::size_t>(h);
}

NodeTable::StateKey NodeTable::key_of(const NodeState& s) {
  return {s.wiring.get(), s.free.bits(), s.unhealthy.bits(), s.network_unhealthy.bits(),
          s.resources,    s.stale,       s.closed,           s.room};
}

NodeId NodeTable::add(std::string name) {
  const NodeId id = names_.add(name);
  standings_.emplace_back();
  nodes_.push_back(std::make_unique<Node>());
  nodes_.back()->name = std::move(name);
  resources_of_.push_back(kNoResources);
  sorted_ = false;
  ++names_version_;
  return id;
}

// Reuses the id of a stale node without pods; kNoNode if there is none.
NodeId NodeTable::make_room(std::string name) {
  const auto stale = std::find_if(nodes_.begin(), nodes_.end(), [](const auto& node) {
    return node->stale && node->holders == 0;
  });
  if (stale == nodes_.end()) return kNoNode;
  const auto id = static_cast<NodeId>(stale - nodes_.begin());
  names_.rename(id, name);
  reset(id, std::move(name));
  sorted_ = false;
  ++names_version_;
  return id;
}

// Clears everything that was reported about the node.
void NodeTable::reset(NodeId id, std::string name) {
  leave_state(standings_[id].state);
  standings_[id].state = kNoState;
  leave_resources(id);
  const std::uint64_t life = nodes_[id]->life + 1;
  const bool noted = nodes_[id]->changed;
  *nodes_[id] = Node{};
  nodes_[id]->life = life;
  nodes_[id]->name = std::move(name);
  nodes_[id]->changed = noted;
  note_changed(id);
}

void NodeTable::note_changed(NodeId id) {
  if (std::exchange(nodes_[id]->changed, true)) return;
  changed_.push_back(id);
}

std::vector<NodeId> NodeTable::take_changed() {
  for (const NodeId id : changed_) nodes_[id]->changed = false;
  return std::exchange(changed_, {});
}

NodeId NodeTable::declare(const std::string& name) {
  const NodeId known = find(name);
  if (known != kNoNode || name.empty() || name.size() > limits::kMaxNameBytes) return known;
  return nodes_.size() < limits::kMaxNodes ? add(name) : make_room(name);
}

void NodeTable::withdraw_inventory(NodeId id) {
  Node& n = *nodes_[id];
  n.boot_id.clear();
  n.previous_boot_id.clear();
  n.sequence = 0;
  set_stale(id, true);
}

void NodeTable::remove(NodeId id) { reset(id, nodes_[id]->name); }

void NodeTable::sort_names() const {
  if (sorted_) return;
  const std::vector<NodeId> sorted = names_.sorted();
  for (std::uint32_t i = 0; i < sorted.size(); ++i) standings_[sorted[i]].order = i;
  sorted_ = true;
}

std::vector<NodeId> NodeTable::by_name() const {
  sort_names();
  std::vector<NodeId> ids(nodes_.size());
  for (NodeId id = 0; id < nodes_.size(); ++id) ids[standings_[id].order] = id;
  return ids;
}

void NodeTable::set_resources(NodeId id, const std::vector<std::string>& resources) {
  std::vector<std::string> names = resources;
  std::sort(names.begin(), names.end());
  const auto [it, fresh] = resource_ids_.try_emplace(names, kNoResources);
  if (fresh) {
    if (unused_resources_.empty()) {
      unused_resources_.push_back(static_cast<std::uint32_t>(resource_sets_.size()));
      resource_sets_.emplace_back();
    }
    it->second = unused_resources_.back();
    unused_resources_.pop_back();
    resource_sets_[it->second].names = std::move(names);
  }
  const std::uint32_t to = it->second;
  ++resource_sets_[to].nodes;  // before leaving: the set may be the same
  leave_resources(id);
  resources_of_[id] = to;
}

void NodeTable::leave_resources(NodeId id) {
  const std::uint32_t from = std::exchange(resources_of_[id], kNoResources);
  if (from == kNoResources || --resource_sets_[from].nodes != 0) return;
  resource_ids_.erase(resource_sets_[from].names);
  resource_sets_[from] = ResourceSet{};
  unused_resources_.push_back(from);
}

void NodeTable::leave_state(StateId id) {
  if (id == kNoState || --states_[id].nodes != 0) return;
  state_ids_.erase(key_of(states_[id]));
  states_[id] = NodeState{};
  unused_states_.push_back(id);
}

void NodeTable::restate(NodeId id, bool reported) {
  const Node& n = *nodes_[id];
  if (!n.has_inventory()) return;
  note_changed(id);
  NodeState next{
      n.wiring, n.free(), n.unhealthy, n.network_unhealthy, resources_of_[id], n.stale, n.closed(),
      n.room,   0};
  const auto [it, fresh] = state_ids_.try_emplace(key_of(next), kNoState);
  if (fresh) {
    if (unused_states_.empty()) {
      unused_states_.push_back(static_cast<StateId>(states_.size()));
      states_.emplace_back();
      serials_.push_back(0);
    }
    it->second = unused_states_.back();
    unused_states_.pop_back();
    states_[it->second] = std::move(next);
    serials_[it->second] = ++last_serial_;
  }
  const StateId to = it->second;
  const StateId from = standings_[id].state;
  if (reported && (from == kNoState || offers_more(states_[from], states_[to]))) ++gains_;
  ++states_[to].nodes;  // before leaving: the node may stay where it is
  leave_state(standings_[id].state);
  standings_[id].state = to;
}

void NodeTable::set_taken(NodeId id, ChipSet taken, std::size_t holders) {
  nodes_[id]->holders = holders;
  if (nodes_[id]->taken == taken) return;
  nodes_[id]->taken = taken;
  restate(id);
}

void NodeTable::set_withheld(NodeId id, std::vector<domain::Fault> withheld) {
  Node& n = *nodes_[id];
  if (n.withheld == withheld) return;
  n.faults.resize(n.faults.size() - n.withheld.size());
  n.withheld = std::move(withheld);
  n.faults.insert(n.faults.end(), n.withheld.begin(), n.withheld.end());
  withhold(n);
  restate(id, true);
}

void NodeTable::set_room(NodeId id, const solver::Room& whole, const solver::Room& free) {
  nodes_[id]->whole_room = whole;
  if (nodes_[id]->room == free) return;
  nodes_[id]->room = free;
  restate(id);
}

void NodeTable::set_stale(NodeId id, bool stale) {
  if (nodes_[id]->stale == stale) return;
  nodes_[id]->stale = stale;
  restate(id, !stale);
}

void NodeTable::seen(NodeId id, std::string_view boot_id, Clock::Steady now) {
  Node& n = *nodes_[id];
  if (n.boot_id.empty() || n.boot_id != boot_id || !n.has_inventory()) return;
  n.last_seen = now;
  set_stale(id, false);
}

std::size_t NodeTable::mark_stale(Clock::Steady before) {
  std::size_t count = 0;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (nodes_[id]->stale || nodes_[id]->last_seen >= before) continue;
    set_stale(id, true);
    ++count;
  }
  return count;
}

NodeTable::Reported NodeTable::report(InventoryReport report, Clock::Steady now) {
  const NodeId known = find(report.node);
  if (known != kNoNode) {
    const Node& n = *nodes_[known];
    const bool same = report.boot_id == n.boot_id && report.sequence == n.sequence;
    // only while the newer boot is alive: of two agents with one name the older may outlive the
    // newer
    if (!report.ordered && report.boot_id == n.previous_boot_id && report.boot_id != n.boot_id &&
        !n.stale) {
      return {ReportOutcome::older, known, {}, "report of an earlier boot"};
    }
    if (same || (!report.ordered && report.boot_id == n.boot_id && report.sequence < n.sequence)) {
      return {ReportOutcome::older, known, {}, "sequence number already seen"};
    }
  }
  if (!report.topology && (known == kNoNode || nodes_[known]->boot_id != report.boot_id)) {
    return {ReportOutcome::needs_full, known, {}, "delta without a full report"};
  }
  NodeId id = known;
  if (known == kNoNode) {
    if (report.node.empty() || report.node.size() > limits::kMaxNameBytes) {
      return {ReportOutcome::needs_full, kNoNode, {}, "invalid node name"};
    }
    id = declare(report.node);
    if (id == kNoNode) {
      return {ReportOutcome::no_room,
              kNoNode,
              {},
              "the table holds " + std::to_string(limits::kMaxNodes) + " live nodes, the maximum"};
    }
  }
  const std::string boot_id = report.boot_id;
  const std::uint64_t sequence = report.sequence;
  Reported result =
      report.topology ? take_full(id, std::move(report)) : take_delta(id, std::move(report));
  if (result.outcome != ReportOutcome::taken) return result;
  Node& n = *nodes_[id];
  if (n.boot_id != boot_id) n.previous_boot_id = std::exchange(n.boot_id, boot_id);
  n.sequence = sequence;
  n.last_seen = now;
  n.stale = false;
  restate(id, true);
  return result;
}

void NodeTable::take_wiring(Node& node) {
  node.wiring = machines_.get(node.topology);
  node.layout = layouts_.get(node.topology);
}

NodeTable::Reported NodeTable::take_full(NodeId id, InventoryReport&& report) {
  Node& n = *nodes_[id];
  Reported result{ReportOutcome::taken, id, {}, {}};
  if (n.has_inventory() || n.holders > 0) {
    std::vector<int> before = indices_of(n.topology);
    if (before != indices_of(*report.topology)) result.old_indices = std::move(before);
  }
  n.topology = std::move(*report.topology);
  take_wiring(n);
  n.reported_unhealthy = n.topology.unhealthy();
  withhold(n);
  n.network_unhealthy = n.topology.network_unhealthy();
  n.machine = report.machine.empty() ? n.topology.model() : report.machine;
  n.resources =
      report.resources.empty() ? domain::usual_resources(n.topology) : std::move(report.resources);
  set_resources(id, n.resources);
  result.faults_changed =
      set_faults(n, std::move(report.faults).value_or(std::vector<domain::Fault>()));
  n.carried = std::move(report.carried).value_or(domain::CarriedPeaks());
  result.given_changed = report.given != n.given;
  n.given = std::move(report.given);
  n.enforcement = report.enforcement.value_or(domain::Enforcement::none);
  n.gate_open = report.gate_open.value_or(false);
  if (result.old_indices) n.taken = {};
  return result;
}

// All of it or nothing.
NodeTable::Reported NodeTable::take_delta(NodeId id, InventoryReport&& report) {
  Node& n = *nodes_[id];
  for (const ChipChange& change : report.chips) {
    if (n.topology.slot_of(change.chip)) continue;
    return {ReportOutcome::needs_full, id, {}, "delta for a chip that the machine does not have"};
  }
  if (!report.links.empty()) {
    auto changed = relink(n.topology, report.links);
    if (!changed) return {ReportOutcome::needs_full, id, {}, changed.error().text()};
    n.topology = std::move(*changed);
    take_wiring(n);
  }
  for (const ChipChange& change : report.chips) {
    const ChipSet chip{n.topology.slot_of(change.chip).value()};
    n.reported_unhealthy -= chip;
    n.network_unhealthy -= chip;
    if (change.health == domain::Health::unhealthy) n.reported_unhealthy |= chip;
    if (change.health == domain::Health::network_unhealthy) n.network_unhealthy |= chip;
  }
  withhold(n);
  Reported result{ReportOutcome::taken, id, {}, {}};
  if (report.faults) result.faults_changed = set_faults(n, *std::move(report.faults));
  if (report.carried) n.carried = *std::move(report.carried);
  if (report.given) {
    result.given_changed = report.given != n.given;
    n.given = std::move(report.given);
  }
  if (report.enforcement) n.enforcement = *report.enforcement;
  if (report.gate_open) n.gate_open = *report.gate_open;
  return result;
}

std::vector<std::string_view> NodeTable::reported_names() const {
  std::vector<std::string_view> names;
  names.reserve(size());
  for (const NodeId id : by_name()) {
    if (node(id).has_inventory()) names.push_back(node(id).name);
  }
  return names;
}

}  // namespace chipweave::sched

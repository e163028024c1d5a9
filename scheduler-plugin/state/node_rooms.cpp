#include "scheduler-plugin/state/node_rooms.hpp"

#include <map>
#include <utility>

namespace chipweave::sched {
namespace {

constexpr std::int64_t kMib = std::int64_t{1} << 20U;

solver::Room room_of(const NodeUse& amounts) {
  return solver::Room::offered(amounts.milli_cpu, amounts.memory / kMib);
}

}  // namespace

NodeRooms::Entry& NodeRooms::entry(const std::string& node) {
  Entry* known = entries_.find(node);
  return known != nullptr ? *known : entries_.add(node, {});
}

void NodeRooms::set_allocatable(const std::string& node,
                                const std::optional<NodeUse>& allocatable) {
  if (!allocatable && !entries_.contains(node)) return;
  Entry& known = entry(node);
  if (known.allocatable == allocatable) return;
  known.allocatable = allocatable;
  changed(node, known);
}

void NodeRooms::add_use(const std::string& node, const NodeUse& change) {
  if (change == NodeUse{}) return;
  Entry& known = entry(node);
  known.used += change;
  changed(node, known);
}

void NodeRooms::changed(const std::string& node, const Entry& entry) {
  if (const NodeId id = nodes_.find(node); id != kNoNode) apply(id, entry);
  if (!entry.allocatable && entry.used == NodeUse{}) entries_.erase(node);
}

void NodeRooms::appeared(NodeId id) {
  const Entry* known = entries_.find(nodes_.node(id).name);
  if (known != nullptr && known->allocatable) apply(id, *known);
}

void NodeRooms::apply(NodeId id, const Entry& entry) {
  solver::Room whole;
  solver::Room free;
  if (entry.allocatable) {
    whole = room_of(*entry.allocatable);
    free = room_of({entry.allocatable->milli_cpu - entry.used.milli_cpu,
                    entry.allocatable->memory - entry.used.memory});
  }
  if (nodes_.node(id).whole_room != whole) ++version_;
  nodes_.set_room(id, whole, free);
}

solver::Room NodeRooms::room_without(NodeId id, const NodeUse& gone) const {
  const Entry* known = entries_.find(nodes_.node(id).name);
  if (known == nullptr || !known->allocatable) return {};
  return room_of({known->allocatable->milli_cpu - known->used.milli_cpu + gone.milli_cpu,
                  known->allocatable->memory - known->used.memory + gone.memory});
}

std::vector<solver::EmptyNodes> NodeRooms::empty_nodes() const {
  std::map<std::pair<const solver::Machine*, solver::Room>, std::size_t> numbers;
  std::vector<solver::EmptyNodes> kinds;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    const Node& node = nodes_.node(id);
    if (!node.has_inventory()) continue;
    solver::Machine& machine = *node.wiring;
    const auto [it, fresh] = numbers.try_emplace({&machine, node.whole_room}, kinds.size());
    if (fresh) {
      const ChipSet all = machine.topology().all();
      kinds.push_back(
          {all.size(), machine.open_sizes(all), machine.whole_gbps(), node.whole_room, 0});
    }
    ++kinds[it->second].nodes;
  }
  return kinds;
}

}  // namespace chipweave::sched

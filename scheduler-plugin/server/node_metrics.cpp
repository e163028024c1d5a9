#include "scheduler-plugin/server/node_metrics.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include "common/obs/exposition.hpp"

namespace chipweave::sched {
namespace {

// The chips that a node's holders take, by kind.
struct Shares {
  ChipSet reserved;
  int unattributed = 0;
};

Shares shares_of(const Scheduler& scheduler, NodeId id) {
  Shares shares;
  for (const Holding* h : scheduler.ledger().on(id)) {
    if (!h->bound) shares.reserved |= h->chips;
    shares.unattributed += h->unattributed();
  }
  return shares;
}

enum class Kind { chips, links, age, stale, closed, largest, sizes, unattributed };
struct Family {
  Kind kind;
  std::string_view name;
  std::string_view help;
};
constexpr std::array<Family, NodeMetrics::kFamilies> kFamiliesShown{
    {{Kind::chips, "chipweave_chips", "Chips by node and state: free, used, reserved or unhealthy"},
     {Kind::links, "chipweave_links",
      "Direct chip-to-chip links by node and state: up, degraded, down"},
     {Kind::age, "chipweave_inventory_age_seconds",
      "Time since the last heartbeat of a node's agent"},
     {Kind::stale, "chipweave_inventory_stale",
      "1 if nothing is placed on the node because its agent is not reporting"},
     {Kind::closed, "chipweave_node_closed",
      "1 if nothing is placed on the node because its device plugin is not ready"},
     {Kind::largest, "chipweave_largest_placeable_chips",
      "Largest request that still fits on the node"},
     {Kind::sizes, "chipweave_placeable_sizes", "How many of the node's legal sizes still fit"},
     {Kind::unattributed, "chipweave_unattributed_chips",
      "Chips of bound pods whose indices are unknown, by node: bound by another "
      "scheduler without annotation"}}};

void write_chips(obs::Exposition& text, const Node& node, ChipSet reserved) {
  text.sample({{"node", node.name}, {"state", "free"}}, node.free().size());
  text.sample({{"node", node.name}, {"state", "used"}}, (node.taken - reserved).size());
  text.sample({{"node", node.name}, {"state", "reserved"}}, reserved.size());
  text.sample({{"node", node.name}, {"state", "unhealthy"}}, (node.unhealthy - node.taken).size());
}

void write_links(obs::Exposition& text, const Node& node) {
  std::array<int, 3> links{};
  for (const domain::DirectLink& link : node.topology.links())
    ++links[static_cast<std::size_t>(link.state())];
  text.sample({{"node", node.name}, {"state", "up"}}, links[0]);
  text.sample({{"node", node.name}, {"state", "degraded"}}, links[1]);
  text.sample({{"node", node.name}, {"state", "down"}}, links[2]);
}

}  // namespace

// Depends only on the node's state, which thousands of nodes can share.
const NodeMetrics::Placeable& NodeMetrics::placeable(const NodeTable& nodes, NodeId id) {
  static const Placeable nothing;
  const StateId at = nodes.state_of(id);
  if (at == kNoState) return nothing;
  if (at >= placeable_of_.size()) placeable_of_.resize(nodes.states());
  Placeable& known = placeable_of_[at];
  if (known.serial == nodes.serial(at)) return known;
  known = {nodes.serial(at), 0, 0};
  const NodeState& state = nodes.state(at);
  if (state.stale || state.closed) return known;
  for (const int size : state.wiring->legal_sizes(false)) {
    if (!state.wiring->fits({state.free, {}, {}, size, false})) continue;
    known.largest = std::max(known.largest, size);
    ++known.sizes;
  }
  return known;
}

std::string NodeMetrics::expose(const Scheduler& scheduler, int family, NodeId first, NodeId most) {
  const NodeTable& nodes = scheduler.nodes();
  const Family& shown = kFamiliesShown[static_cast<std::size_t>(family)];
  obs::Exposition text;
  if (first == 0) {
    text.gauges(shown.name, shown.help);
  } else {
    text.resume(shown.name);
  }
  const Clock::Steady now = scheduler.clock().now();
  const auto end = static_cast<NodeId>(std::min<std::size_t>(nodes.size(), first + most));
  for (NodeId id = first; id < end; ++id) {
    const Node& node = nodes.node(id);
    if (!node.has_inventory() && node.holders == 0) continue;
    switch (shown.kind) {
      case Kind::chips:
        write_chips(text, node, shares_of(scheduler, id).reserved);
        break;
      case Kind::links:
        write_links(text, node);
        break;
      case Kind::age:
        if (node.has_inventory())  // otherwise no agent has ever reported it
          text.sample({{"node", node.name}},
                      std::chrono::duration<double>(now - node.last_seen).count());
        break;
      case Kind::stale:
        text.sample({{"node", node.name}}, node.stale ? 1 : 0);
        break;
      case Kind::closed:
        text.sample({{"node", node.name}}, node.closed() ? 1 : 0);
        break;
      case Kind::largest:
        text.sample({{"node", node.name}}, placeable(nodes, id).largest);
        break;
      case Kind::sizes:
        text.sample({{"node", node.name}}, placeable(nodes, id).sizes);
        break;
      case Kind::unattributed:
        text.sample({{"node", node.name}}, shares_of(scheduler, id).unattributed);
        break;
    }
  }
  return text.take();
}

}  // namespace chipweave::sched

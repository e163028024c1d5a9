#include "scheduler-plugin/server/node_metrics.hpp"

#include <algorithm>
#include <array>
#include <chrono>

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
  for (const int size : state.wiring->legal_sizes(false)) {
    if (!state.wiring->fits({state.free, {}, {}, size, false})) continue;
    known.largest = std::max(known.largest, size);
    ++known.sizes;
  }
  return known;
}

std::string NodeMetrics::expose(const Scheduler& scheduler) {
  const NodeTable& nodes = scheduler.nodes();
  obs::Exposition text;
  const auto each = [&](const auto& act) {
    for (NodeId id = 0; id < nodes.size(); ++id) {
      const Node& node = nodes.node(id);
      if (node.has_inventory() || node.holders > 0) act(id, node);
    }
  };
  text.gauges("chipweave_chips", "Chips by node and state: free, used, reserved or unhealthy");
  each([&](NodeId id, const Node& node) {
    const ChipSet reserved = shares_of(scheduler, id).reserved;
    text.sample({{"node", node.name}, {"state", "free"}}, node.free().size());
    text.sample({{"node", node.name}, {"state", "used"}}, (node.taken - reserved).size());
    text.sample({{"node", node.name}, {"state", "reserved"}}, reserved.size());
    text.sample({{"node", node.name}, {"state", "unhealthy"}},
                (node.unhealthy - node.taken).size());
  });
  text.gauges("chipweave_links", "Direct chip-to-chip links by node and state: up, degraded, down");
  each([&](NodeId, const Node& node) {
    std::array<int, 3> links{};
    for (const domain::DirectLink& link : node.topology.links())
      ++links[static_cast<std::size_t>(link.state())];
    text.sample({{"node", node.name}, {"state", "up"}}, links[0]);
    text.sample({{"node", node.name}, {"state", "degraded"}}, links[1]);
    text.sample({{"node", node.name}, {"state", "down"}}, links[2]);
  });
  text.gauges("chipweave_inventory_age_seconds", "Time since the last heartbeat of a node's agent");
  const Clock::Steady now = scheduler.clock().now();
  each([&](NodeId, const Node& node) {
    if (!node.has_inventory()) return;  // no agent has ever reported it
    text.sample({{"node", node.name}}, std::chrono::duration<double>(now - node.last_seen).count());
  });
  text.gauges("chipweave_inventory_stale",
              "1 if nothing is placed on the node because its agent is not reporting");
  each([&](NodeId, const Node& node) { text.sample({{"node", node.name}}, node.stale ? 1 : 0); });
  text.gauges("chipweave_largest_placeable_chips", "Largest request that still fits on the node");
  each([&](NodeId id, const Node& node) {
    text.sample({{"node", node.name}}, placeable(nodes, id).largest);
  });
  text.gauges("chipweave_placeable_sizes", "How many of the node's legal sizes still fit");
  each([&](NodeId id, const Node& node) {
    text.sample({{"node", node.name}}, placeable(nodes, id).sizes);
  });
  text.gauges("chipweave_unattributed_chips",
              "Chips of bound pods whose indices are unknown, by node: bound by another "
              "scheduler without annotation");
  each([&](NodeId id, const Node& node) {
    text.sample({{"node", node.name}}, shares_of(scheduler, id).unattributed);
  });
  return text.take();
}

}  // namespace chipweave::sched

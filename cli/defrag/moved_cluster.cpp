#include "cli/defrag/moved_cluster.hpp"

#include <algorithm>
#include <iterator>

namespace chipweave::cli {
namespace {

using Chips = std::vector<int>;

void add(const Chips& chips, Chips& to) {
  to.insert(to.end(), chips.begin(), chips.end());
  std::sort(to.begin(), to.end());
}

void remove(const Chips& chips, Chips& from) {
  std::erase_if(
      from, [&](int chip) { return std::find(chips.begin(), chips.end(), chip) != chips.end(); });
}

bool any_of_them(const Chips& chips, const Chips& in) {
  return std::any_of(chips.begin(), chips.end(),
                     [&](int chip) { return std::find(in.begin(), in.end(), chip) != in.end(); });
}

// Whether the pod communicates over the network; where that is not given, all do.
bool loads_network(const codec::RunningPodEntry& pod, const codec::PlanNode& node) {
  return !pod.indices || !node.loaded_chips || any_of_them(*pod.indices, *node.loaded_chips);
}

void leave(const codec::RunningPodEntry& pod, codec::PlanNode& node) {
  if (node.max_pods >= 0) ++node.max_pods;
  if (node.free_chips) add(*pod.indices, *node.free_chips);
  if (node.loaded_chips && pod.indices) remove(*pod.indices, *node.loaded_chips);
  if (!node.free_chips) node.free += pod.chips;
}

void arrive(const codec::RunningPodEntry& pod, const codec::MoveEntry& move, bool loads,
            codec::PlanNode& node) {
  if (node.max_pods >= 0) --node.max_pods;
  if (node.free_chips && move.chips) remove(*move.chips, *node.free_chips);
  if (node.loaded_chips && move.chips && loads) add(*move.chips, *node.loaded_chips);
  if (!node.free_chips) node.free -= pod.chips;
}

}  // namespace

codec::PlanRequest cluster_before(const codec::DefragLineRequest& request,
                                  const DefragEngine::Prepared& prepared) {
  codec::PlanRequest out = request.network;
  for (const auto& [id, machine] : prepared.machines)
    out.nodes[id].free_chips = machine.topology->indices(machine.free);
  return out;
}

codec::PlanRequest cluster_after(const codec::DefragLineRequest& request,
                                 const DefragEngine::Prepared& prepared,
                                 const codec::DefragAnswer& answer) {
  const codec::PlanRequest before = cluster_before(request, prepared);
  codec::PlanRequest out = before;
  for (const codec::MoveEntry& move : answer.moves)
    leave(request.pods[move.pod], out.nodes[move.from]);
  for (const codec::MoveEntry& move : answer.moves) {
    const codec::RunningPodEntry& pod = request.pods[move.pod];
    arrive(pod, move, loads_network(pod, before.nodes[move.from]), out.nodes[move.to]);
  }
  return out;
}

}  // namespace chipweave::cli

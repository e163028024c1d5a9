#include "common/solver/gang/defrag/move_order.hpp"

#include <cstddef>

namespace chipweave::solver {
namespace {

// What nodes have free while moves are carried out.
class FreeMeanwhile {
 public:
  FreeMeanwhile(const Fabric& fabric,
                const std::unordered_map<FabricNodeId, domain::ChipSet>& free_chips)
      : fabric_(fabric), free_chips_(free_chips) {}

  bool start(const MoveToOrder& move) {
    Node& node = at(move.to);
    if (node.chips < move.chips || node.slots < 1 || !node.set.contains(move.to_chips))
      return false;
    node.chips -= move.chips;
    --node.slots;
    node.set -= move.to_chips;
    return true;
  }
  void stop(const MoveToOrder& move) {
    Node& node = at(move.from);
    node.chips += move.released;
    ++node.slots;
    node.set |= move.from_chips;
  }

 private:
  struct Node {
    std::int64_t chips = 0;
    std::int64_t slots = 0;
    domain::ChipSet set{};
  };
  Node& at(FabricNodeId id) {
    const auto [node, fresh] = nodes_.try_emplace(id);
    if (fresh) {
      node->second.chips = fabric_.node(id).free;
      node->second.slots = fabric_.node(id).max_pods;
      if (const auto known = free_chips_.find(id); known != free_chips_.end())
        node->second.set = known->second;
    }
    return node->second;
  }

  const Fabric& fabric_;
  const std::unordered_map<FabricNodeId, domain::ChipSet>& free_chips_;
  std::unordered_map<FabricNodeId, Node> nodes_;
};

}  // namespace

std::vector<MoveStep> order_moves(
    const Fabric& fabric, const std::vector<MoveToOrder>& moves,
    const std::unordered_map<FabricNodeId, domain::ChipSet>& free_chips) {
  std::vector<MoveStep> out(moves.size());
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; i < moves.size(); ++i) waiting.push_back(i);
  FreeMeanwhile free(fabric, free_chips);
  for (int step = 1; !waiting.empty();) {
    std::vector<std::size_t> started;
    std::vector<std::size_t> rest;
    for (const std::size_t i : waiting) {
      if (free.start(moves[i])) {
        out[i].step = step;
        started.push_back(i);
      } else {
        rest.push_back(i);
      }
    }
    for (const std::size_t i : started)
      if (!out[i].stop_first) free.stop(moves[i]);
    waiting = std::move(rest);
    if (!started.empty()) {
      ++step;
      continue;
    }
    // All wait for each other.
    std::size_t first = 0;
    while (first < waiting.size() && out[waiting[first]].stop_first) ++first;
    if (first == waiting.size()) break;
    out[waiting[first]].stop_first = true;
    free.stop(moves[waiting[first]]);
  }
  return out;
}

}  // namespace chipweave::solver

// DefragChips — the chips of moved pods on nodes whose machines are known: whether pods can have
// legal chips on a node together, and which ones they get.
//
// Pods of one gang that arrive on a node get the best joint set, close to the chips that the gang
// keeps there; other pods get theirs one after the other, as a scheduler would place them, the
// largest first. That does not try every split, so a "no" for several pods is not certain.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/solver/gang/chips/node_machine.hpp"
#include "common/solver/gang/defrag/move_fit.hpp"

namespace chipweave::solver {

// What a pod holds, by its position in the request.
struct PodChips {
  FabricNodeId node = kNowhere;
  int size = 0;
  ChipSet held{};      // empty where the node's machine is not known
  std::string gang{};  // pods of one are one job of several pods; empty: a job alone
};

class DefragChips : public MoveFit {
 public:
  // machines: NodeMachine::free is what is healthy and free beside the pods.
  DefragChips(NodeMachines machines, std::vector<PodChips> pods);

  bool restricts(std::uint32_t node) const override;
  bool fits(std::uint32_t node, const std::vector<std::size_t>& leaving,
            const std::vector<std::size_t>& arriving) override;
  bool uncertain() const override { return uncertain_; }

  // The chips of each arriving pod; nullopt: they cannot be dealt.
  std::optional<std::vector<ChipSet>> deal(std::uint32_t node,
                                           const std::vector<std::size_t>& leaving,
                                           const std::vector<std::size_t>& arriving);
  // From now on such pods do not fit on nodes in the same state.
  void forbid(std::uint32_t node, const std::vector<std::size_t>& leaving,
              const std::vector<std::size_t>& arriving);

  const NodeMachine* machine(std::uint32_t node) const;
  // Chips of the pod that its node can use again.
  int released(std::size_t pod) const;

 private:
  // Questions that are answered by dealing chips. Beyond them the answer is an uncertain "no".
  static constexpr int kMaxDealt = 20'000;
  static constexpr std::uint64_t kMaxFitSteps = 100'000;

  using Sizes = std::vector<std::pair<bool, int>>;  // distributed, chips; descending
  using Key = std::tuple<const Machine*, std::uint64_t, Sizes>;

  ChipSet usable(const NodeMachine& node, const std::vector<std::size_t>& leaving) const;
  Key key_of(const NodeMachine& node, const std::vector<std::size_t>& leaving,
             const std::vector<std::size_t>& arriving) const;
  bool fit_together(const NodeMachine& node, ChipSet usable, const Sizes& sizes);
  std::vector<std::size_t> in_turn(const std::vector<std::size_t>& arriving) const;
  std::vector<std::vector<std::size_t>> groups(const std::vector<std::size_t>& turns,
                                               const std::vector<std::size_t>& arriving,
                                               bool by_gang) const;
  ChipSet held_by(const std::string& gang, std::uint32_t node,
                  const std::vector<std::size_t>& leaving) const;

  NodeMachines machines_;
  std::vector<PodChips> pods_;
  std::unordered_map<FabricNodeId, std::vector<std::size_t>> pods_on_;
  std::map<Key, bool> known_;
  int dealt_ = 0;
  bool uncertain_ = false;
};

}  // namespace chipweave::solver

// MachineFit — ChipFit by the vendors' rules of the nodes' machines (legal_split.hpp). Answers are
// memoised by machine and free chips, since most nodes are equal.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "common/solver/gang/chip_fit.hpp"
#include "common/solver/gang/chips/legal_split.hpp"
#include "common/solver/gang/fabric.hpp"

namespace chipweave::solver {

class MachineFit : public ChipFit {
 public:
  // distributed: the gang has several pods.
  explicit MachineFit(bool distributed) : distributed_(distributed) {}
  // Ignores machines without rules.
  void add(FabricNodeId node, std::shared_ptr<Machine> machine, ChipSet free);
  bool empty() const { return nodes_.empty(); }

  bool restricts(FabricNodeId node) const override { return nodes_.contains(node); }
  bool fits(FabricNodeId node, std::vector<int> sizes) override;
  void forbid(FabricNodeId node, std::vector<int> sizes) override;

 private:
  // The budgets of one question and of all. Beyond them pods count as fitting, and dealing the
  // chips finds out.
  static constexpr std::uint64_t kMaxSteps = 100'000;
  static constexpr std::uint64_t kMaxAllSteps = 5'000'000;
  static constexpr std::size_t kMaxKnown = 200'000;

  struct Node {
    std::shared_ptr<Machine> machine;
    ChipSet free;
  };
  using Key = std::tuple<const Machine*, std::uint64_t, std::vector<int>>;
  Key key_of(FabricNodeId node, std::vector<int> sizes) const;

  bool distributed_;
  std::unordered_map<FabricNodeId, Node> nodes_;
  std::map<Key, bool> known_;
  std::set<Key> forbidden_;
  std::uint64_t steps_left_ = kMaxAllSteps;
};

}  // namespace chipweave::solver

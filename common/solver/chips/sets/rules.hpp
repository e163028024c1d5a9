// Rules — which chip sets a vendor's runtime accepts, and which of them its stock scheduler
// prefers.
//
// Each domain::RuleKind follows MindCluster's public scheduler (ascend-for-volcano, read at commit
// 22bb3d98): legality and order of preference are theirs, so that jobs that run on the stock
// components run here. All functions are pure and O(groups) unless noted otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/solver/bandwidth/wiring.hpp"

namespace chipweave::solver {

class Rules {
 public:
  explicit Rules(const Wiring& wiring);

  bool legal_size(int size, bool distributed) const;
  std::vector<int> legal_sizes(bool distributed) const;  // ascending
  // Whether the set may be allocated out of `usable` (some rules depend on the rest).
  bool legal(ChipSet set, ChipSet usable, bool distributed) const;
  // The stock order among legal sets of one size; lower is better. 0 if the vendor has no
  // preference.
  std::int64_t preference(ChipSet set, ChipSet usable) const;

  // How to enumerate the legal sets of `size` out of `usable`, so that few are tried in vain: each
  // lies inside one arena and consists of whole units, and of one lone chip where some are named.
  struct Recipe {
    std::vector<ChipSet> arenas;
    int unit = 1;                 // chips per unit
    std::vector<ChipSet> units;   // if unit > 1: the usable whole units
    bool interchangeable = true;  // false: the rule distinguishes chips by position
    ChipSet lone;                 // if unit > 1: exactly one of these, without the rest of its unit
    std::vector<ChipSet> whole_sets = {};  // sets that are legal as they are, if usable
  };
  Recipe recipe(int size, ChipSet usable, bool distributed) const;

  // "3 chips asked, legal sizes are 1, 2, 4": why the size is not legal.
  std::string size_refusal(int size, bool distributed) const;
  // "no HCCS ring has 2 free chips": why no set is legal although enough chips are free.
  std::string shortage(int size, bool distributed) const;

 private:
  Recipe recipe_of_pairs(int size, ChipSet usable, bool distributed) const;
  int free_in_group(int group, ChipSet usable) const;
  ChipSet group_set(int group) const { return groups_[static_cast<std::size_t>(group)]; }
  ChipSet whole_groups(ChipSet usable) const;
  ChipSet position_pairs(ChipSet usable) const;
  bool one_group(ChipSet set) const;

  const Wiring& wiring_;
  domain::RuleKind kind_;
  int n_;
  std::vector<ChipSet> groups_;  // by group number in ascending order
  std::vector<int> group_of_;    // by slot, index into groups_
};

}  // namespace chipweave::solver

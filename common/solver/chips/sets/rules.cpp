#include "common/solver/chips/sets/rules.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace chipweave::solver {
namespace {

using domain::RuleKind;

// Place of a group with `free` chips in the stock order for a request of `size`: 910A rings and 310
// cards.
std::int64_t place(const std::vector<int>& order, int free) {
  const auto it = std::find(order.begin(), order.end(), free);
  return it - order.begin();  // groups that the order does not name come last
}

const std::vector<int>& stock_ring_order(int size) {
  static const std::array<std::vector<int>, 3> kOrders = {{{1, 3, 2, 4}, {2, 4, 3}, {4}}};
  return kOrders[size <= 1 ? 0 : (size == 2 ? 1 : 2)];
}

const std::vector<int>& stock_card_order(int size) {
  static const std::array<std::vector<int>, 4> kOrders = {{{1, 3, 2, 4}, {2, 3, 4}, {3, 4}, {4}}};
  return kOrders[static_cast<std::size_t>(std::clamp(size, 1, 4) - 1)];
}

}  // namespace

Rules::Rules(const Wiring& wiring)
    : wiring_(wiring),
      kind_(wiring.rule().kind),
      n_(wiring.chip_count()),
      group_of_(static_cast<std::size_t>(n_), 0) {
  std::map<int, ChipSet> by_number;
  for (int s = 0; s < n_; ++s) by_number[wiring.rule_group(s)].insert(s);
  for (const auto& [number, set] : by_number) {
    for (const int s : set)
      group_of_[static_cast<std::size_t>(s)] = static_cast<int>(groups_.size());
    groups_.push_back(set);
  }
}

int Rules::free_in_group(int group, ChipSet usable) const {
  return (group_set(group) & usable).size();
}

ChipSet Rules::whole_groups(ChipSet usable) const {
  ChipSet out;
  for (const ChipSet g : groups_) {
    if (g.size() == wiring_.rule().group_size && usable.contains(g)) out |= g;
  }
  return out;
}

// Chips whose partner at the same position of the other mesh is usable too.
ChipSet Rules::position_pairs(ChipSet usable) const {
  ChipSet out;
  for (const int a : usable) {
    for (const int b : usable) {
      if (a != b && wiring_.rule_position(a) == wiring_.rule_position(b)) out.insert(a);
    }
  }
  return out;
}

bool Rules::one_group(ChipSet set) const {
  return set.empty() || group_set(group_of_[static_cast<std::size_t>(set.lowest())]).contains(set);
}

bool Rules::legal_size(int size, bool distributed) const {
  if (size < 1 || size > n_) return false;
  const int group = wiring_.rule().group_size;
  switch (kind_) {
    case RuleKind::any:
      return wiring_.partitions().empty() ||
             std::any_of(wiring_.partitions().begin(), wiring_.partitions().end(),
                         [size](ChipSet p) { return p.size() == size; });
    case RuleKind::ascend_910a_module:
      return size == 1 || size == 2 || size == 4 || size == 8;
    case RuleKind::ascend_910a_half:
      return size == 1 || size == 2 || size == 4;
    case RuleKind::ascend_910b_16:
      return size <= group || size % 2 == 0;
    case RuleKind::ascend_a3:
      return size % 2 == 0 || (size == 1 && !distributed);
    case RuleKind::ascend_310_card:
    case RuleKind::ascend_310p_card:
      return size <= group;
    case RuleKind::ascend_310_chip:
    case RuleKind::ascend_310p_chip:
    case RuleKind::ascend_a5_mesh4:
      return true;
  }
  return false;
}

std::vector<int> Rules::legal_sizes(bool distributed) const {
  std::vector<int> out;
  for (int size = 1; size <= n_; ++size)
    if (legal_size(size, distributed)) out.push_back(size);
  return out;
}

bool Rules::legal(ChipSet set, ChipSet usable, bool distributed) const {
  const int size = set.size();
  if (!legal_size(size, distributed)) return false;
  const int group = wiring_.rule().group_size;
  switch (kind_) {
    case RuleKind::any:
      return wiring_.partitions().empty() ||
             std::binary_search(wiring_.partitions().begin(), wiring_.partitions().end(), set,
                                [](ChipSet a, ChipSet b) { return a.bits() < b.bits(); });
    case RuleKind::ascend_910a_module:
      return size == 8 || one_group(set);
    case RuleKind::ascend_910a_half:
    case RuleKind::ascend_310_card:
    case RuleKind::ascend_310p_card:
      return one_group(set);
    case RuleKind::ascend_910b_16:
      if (size <= group) return one_group(set);
      if (size == n_) return true;
      if (!distributed) return position_pairs(set) == set;
      return groups_.size() == 2 && (set & groups_[0]).size() == size / 2;
    case RuleKind::ascend_a3:
      // The stock scheduler skips the check if exactly all free chips are requested.
      return size == 1 || whole_groups(set) == set || set == usable;
    case RuleKind::ascend_310p_chip: {
      if (!distributed) return true;
      const ChipSet lone = set - whole_groups(set);
      return lone.size() == size % 2;
    }
    case RuleKind::ascend_a5_mesh4:
      if (size < group) return one_group(set);
      return size % group != 0 || whole_groups(set) == set;
    case RuleKind::ascend_310_chip:
      return true;
  }
  return false;
}

std::int64_t Rules::preference(ChipSet set, ChipSet usable) const {
  const int size = set.size();
  const int group = wiring_.rule().group_size;
  if (set.empty()) return 0;
  const int first_group = group_of_[static_cast<std::size_t>(set.lowest())];
  const int free = free_in_group(first_group, usable);
  switch (kind_) {
    case RuleKind::ascend_910a_module:
    case RuleKind::ascend_910a_half:
      return size <= 4 ? place(stock_ring_order(size), free) : 0;
    case RuleKind::ascend_910b_16:
      return size <= group ? free - size : 0;
    case RuleKind::ascend_a3:
      return size == 1 ? free - 1 : 0;  // a lone die before breaking a module
    case RuleKind::ascend_310_card:
      return place(stock_card_order(size), free);
    case RuleKind::ascend_310p_card:
      return size == 1 ? free - 1 : 0;
    case RuleKind::ascend_310_chip:
    case RuleKind::ascend_310p_chip: {
      // Chips from the cards with the fewest free ones first: most from cards with one, then two, …
      std::int64_t out = 0;
      for (int f = 1; f <= group; ++f) {
        int taken = 0;
        for (const int s : set)
          taken += free_in_group(group_of_[static_cast<std::size_t>(s)], usable) == f ? 1 : 0;
        out = out * (limits::kMaxChips + 1) - taken;
      }
      return out;
    }
    case RuleKind::ascend_a5_mesh4:
      return size < group ? free - size : 0;
    case RuleKind::any:
      return 0;
  }
  return 0;
}

// Above one mesh of 910B x16: the same positions of both meshes, so wiring alone does not tell
// chips apart.
Rules::Recipe Rules::recipe_of_pairs(int size, ChipSet usable, bool distributed) const {
  Recipe out;
  out.interchangeable = false;
  if (size == n_ || distributed) {
    if (groups_.size() == 2 || size == n_) out.arenas.push_back(usable);
    return out;
  }
  out.unit = 2;
  const ChipSet pairs = position_pairs(usable);
  for (const int a : pairs) {
    for (const int b : usable) {
      if (a < b && wiring_.rule_position(a) == wiring_.rule_position(b))
        out.units.push_back(ChipSet{a, b});
    }
  }
  out.arenas.push_back(pairs);
  return out;
}

Rules::Recipe Rules::recipe(int size, ChipSet usable, bool distributed) const {
  Recipe out;
  const int group = wiring_.rule().group_size;
  const auto inside_groups = [&] {
    for (const ChipSet g : groups_) {
      if ((g & usable).size() >= size) out.arenas.push_back(g & usable);
    }
  };
  const auto from_whole_groups = [&] {
    out.unit = group;
    for (const ChipSet g : groups_) {
      if (g.size() == group && usable.contains(g)) out.units.push_back(g);
    }
    out.arenas.push_back(whole_groups(usable));
  };
  switch (kind_) {
    case RuleKind::ascend_910a_module:
    case RuleKind::ascend_910a_half:
      if (size <= group) {
        inside_groups();
      } else {
        out.arenas.push_back(usable);
      }
      return out;
    case RuleKind::ascend_310_card:
    case RuleKind::ascend_310p_card:
      inside_groups();
      return out;
    case RuleKind::ascend_910b_16:
      if (size > group) return recipe_of_pairs(size, usable, distributed);
      inside_groups();
      return out;
    case RuleKind::ascend_a3:
      if (size == 1 || size == usable.size()) {
        out.arenas.push_back(usable);
      } else {
        from_whole_groups();
      }
      return out;
    case RuleKind::ascend_310p_chip:
      if (!distributed || size == 1) {
        out.arenas.push_back(usable);
        return out;
      }
      from_whole_groups();
      if (size % 2 != 0) {
        out.arenas = {usable};
        out.lone = usable;
      }
      return out;
    case RuleKind::ascend_a5_mesh4:
      if (size < group) {
        inside_groups();
      } else if (size % group == 0) {
        from_whole_groups();
      } else {
        out.arenas.push_back(usable);
      }
      return out;
    case RuleKind::any:
      if (!wiring_.partitions().empty()) {
        for (const ChipSet partition : wiring_.partitions()) {
          if (partition.size() == size) out.whole_sets.push_back(partition);
        }
        out.interchangeable = false;  // which partitions a chip is in, the wiring does not tell
        return out;
      }
      out.arenas.push_back(usable);
      return out;
    case RuleKind::ascend_310_chip:
      out.arenas.push_back(usable);
      return out;
  }
  return out;
}

std::string Rules::size_refusal(int size, bool distributed) const {
  std::string sizes;
  for (const int legal : legal_sizes(distributed))
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(legal);
  return std::to_string(size) + (size == 1 ? " chip" : " chips") + " asked, legal sizes" +
         (distributed ? " of a distributed job" : "") + " are " + sizes;
}

std::string Rules::shortage(int size, bool distributed) const {
  const std::string n = std::to_string(size);
  switch (kind_) {
    case RuleKind::any:
      return "no legal partition of " + n + " chips is free";
    case RuleKind::ascend_910a_module:
    case RuleKind::ascend_910a_half:
      return "no HCCS ring has " + n + " free chips";
    case RuleKind::ascend_910b_16:
      if (size <= wiring_.rule().group_size) return "no HCCS mesh of 8 has " + n + " free chips";
      return distributed
                 ? "the two meshes do not have " + std::to_string(size / 2) + " free chips each"
                 : "fewer than " + std::to_string(size / 2) + " pairs (i, i+8) are free";
    case RuleKind::ascend_a3:
      return "fewer than " + std::to_string(size / 2) + " modules are free with both dies";
    case RuleKind::ascend_310_card:
    case RuleKind::ascend_310p_card:
      return "no card has " + n + " free chips";
    case RuleKind::ascend_310p_chip:
      return "fewer than " + std::to_string(size / 2) + " cards are free with both chips";
    case RuleKind::ascend_a5_mesh4:
      return size < 4
                 ? "no UB mesh of 4 has " + n + " free chips"
                 : "fewer than " + std::to_string(size / 4) + " UB meshes of 4 are wholly free";
    case RuleKind::ascend_310_chip:
      return "not enough free chips";
  }
  return "not enough free chips";
}

}  // namespace chipweave::solver

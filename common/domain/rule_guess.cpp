#include "common/domain/rule_guess.hpp"
#include "common/domain/vendor.hpp"

#include <algorithm>

namespace chipweave::domain {
namespace {

bool has(const NodeTopology& t, LinkKind kind) {
  return std::any_of(t.links().begin(), t.links().end(),
                     [kind](const DirectLink& l) { return l.kind == kind; });
}

int group_of(const NodeTopology& t, int slot, int size) { return t.chip(slot).index.value / size; }

// Whether the links of `kind` stay inside groups of `size` consecutive indices and join the chips
// of each, directly or over others.
bool grouped(const NodeTopology& t, LinkKind kind, int size) {
  std::vector<ChipSet> near(static_cast<std::size_t>(t.chip_count()));
  for (const DirectLink& l : t.links()) {
    if (l.kind != kind) continue;
    if (group_of(t, l.a, size) != group_of(t, l.b, size)) return false;
    near[static_cast<std::size_t>(l.a)].insert(l.b);
    near[static_cast<std::size_t>(l.b)].insert(l.a);
  }
  for (int first = 0; first < t.chip_count(); ++first) {
    ChipSet members;
    for (int s = 0; s < t.chip_count(); ++s) {
      if (group_of(t, s, size) == group_of(t, first, size)) members.insert(s);
    }
    ChipSet reached{first};
    for (int before = 0; before != reached.size();) {
      before = reached.size();
      for (const int s : reached) reached |= near[static_cast<std::size_t>(s)];
    }
    if (reached != members) return false;
  }
  return true;
}

// Whether every group of `size` consecutive indices has all its chips, and `kind` between all of
// them.
bool whole(const NodeTopology& t, LinkKind kind, int size) {
  const auto pairs = std::count_if(t.links().begin(), t.links().end(),
                                   [kind](const DirectLink& l) { return l.kind == kind; });
  return t.chip_count() % size == 0 && pairs == t.chip_count() * (size - 1) / 2;
}

}  // namespace

RuleGuess guess_rule(const NodeTopology& t) {
  if (vendor_of(t).id != VendorId::ascend) return {};
  const int places = t.chip(t.chip_count() - 1).index.value + 1;
  if (has(t, LinkKind::sio)) return {{RuleKind::ascend_a3, 2}, true};
  const auto guess = [&t](RuleKind rule, LinkKind kind, int size) {
    return RuleGuess{{rule, size}, whole(t, kind, size)};
  };
  if (has(t, LinkKind::hccs)) {
    if (places > 8 && places <= 16 && grouped(t, LinkKind::hccs, 8)) {
      return guess(RuleKind::ascend_910b_16, LinkKind::hccs, 8);
    }
    if (places > 4 && places <= 8 && grouped(t, LinkKind::hccs, 4)) {
      return guess(RuleKind::ascend_910a_module, LinkKind::hccs, 4);
    }
    return {{}, places == 8 && whole(t, LinkKind::hccs, 8)};  // one mesh of 8
  }
  if (has(t, LinkKind::ub) && grouped(t, LinkKind::ub, 4)) {
    return guess(RuleKind::ascend_a5_mesh4, LinkKind::ub, 4);
  }
  return {{}, false};
}

}  // namespace chipweave::domain

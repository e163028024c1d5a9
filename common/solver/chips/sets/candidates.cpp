#include "common/solver/chips/sets/candidates.hpp"

#include <algorithm>

namespace chipweave::solver {
namespace {

// Chips, or whole units, of which only the k lowest are ever taken.
struct Stack {
  std::vector<ChipSet> items;  // ascending
  int family = 0;
  bool linked = false;  // takes no more than the stack before it, an equal one of its family
};

class Enumerator {
 public:
  Enumerator(const Rules& rules, const CandidateQuery& query, CandidateList& out,
             const CandidateLimits& limits)
      : rules_(rules), query_(query), out_(out), limits_(limits) {}

  void run(const std::vector<Stack>& stacks, int chips_wanted) {
    stacks_ = &stacks;
    left_after_.assign(stacks.size() + 1, 0);
    for (std::size_t k = stacks.size(); k-- > 0;) {
      left_after_[k] = left_after_[k + 1];
      for (const ChipSet item : stacks[k].items) left_after_[k] += item.size();
    }
    step(0, chips_wanted, query_.required, static_cast<int>(limits::kMaxChips));
  }

 private:
  void step(std::size_t k, int wanted, ChipSet chosen, int taken_before) {
    if (!out_.complete) return;
    if (++out_.steps > limits_.steps) {
      out_.complete = false;
      return;
    }
    if (wanted == 0) {
      if (query_.ignore_rule || rules_.legal(chosen, query_.usable, query_.distributed)) {
        if (out_.sets.size() >= limits_.sets) {
          out_.complete = false;
          return;
        }
        out_.sets.push_back(chosen);
      }
      return;
    }
    if (k == stacks_->size() || wanted > left_after_[k]) return;
    const Stack& stack = (*stacks_)[k];
    const int most = stack.linked
                         ? std::min<int>(taken_before, static_cast<int>(stack.items.size()))
                         : static_cast<int>(stack.items.size());
    // Take many first: the first set found is the one with the lowest indices.
    std::vector<ChipSet> sets{chosen};
    std::vector<int> wants{wanted};
    for (int c = 1; c <= most; ++c) {
      const ChipSet item = stack.items[static_cast<std::size_t>(c - 1)];
      if (wants.back() < item.size()) break;
      sets.push_back(sets.back() | item);
      wants.push_back(wants.back() - item.size());
    }
    for (int c = static_cast<int>(sets.size()) - 1; c >= 0; --c) {
      step(k + 1, wants[static_cast<std::size_t>(c)], sets[static_cast<std::size_t>(c)], c);
    }
  }

  const Rules& rules_;
  const CandidateQuery& query_;
  CandidateList& out_;
  const CandidateLimits& limits_;
  const std::vector<Stack>* stacks_ = nullptr;
  std::vector<int> left_after_;
};

std::vector<Stack> single_stacks(ChipSet pool) {
  std::vector<Stack> out;
  for (const int s : pool) out.push_back({{ChipSet{s}}, -1, false});
  return out;
}

std::vector<Stack> twin_stacks(const Symmetry& symmetry, ChipSet pool, ChipSet marked) {
  std::vector<Stack> out;
  int highest_before = -1;
  bool mirrored_before = false;
  for (const Symmetry::TwinClass& c : symmetry.classes()) {
    Stack stack;
    stack.family = c.family;
    int highest = -1;
    for (const int s : c.members& pool) {
      stack.items.push_back(ChipSet{s});
      highest = s;
    }
    if (stack.items.empty()) continue;
    // Swapping whole classes is a symmetry of the request only if neither holds a required or
    // already held chip nor one of another job, both have as many chips to give, and the lower one
    // lies wholly before the other.
    const bool mirrored = !c.members.intersects(marked);
    if (!out.empty()) {
      const Stack& before = out.back();
      stack.linked = mirrored && mirrored_before && before.family == stack.family &&
                     before.items.size() == stack.items.size() &&
                     highest_before < stack.items.front().lowest();
    }
    highest_before = highest;
    mirrored_before = mirrored;
    out.push_back(std::move(stack));
  }
  return out;
}

}  // namespace

CandidateList list_candidates(const Rules& rules, const Symmetry& symmetry,
                              const CandidateQuery& query, const CandidateLimits& limits) {
  CandidateList out;
  Rules::Recipe recipe = rules.recipe(query.size, query.usable, query.distributed);
  if (query.ignore_rule) recipe = {{query.usable}, 1, {}, recipe.interchangeable, {}};
  Enumerator enumerator(rules, query, out, limits);
  for (const ChipSet whole : recipe.whole_sets) {
    if (query.usable.contains(whole) && whole.contains(query.required)) {
      enumerator.run({{{whole - query.required}, -1, false}}, query.size - query.required.size());
    }
  }
  // Units that hold a required chip come whole; the others are chosen.
  const auto from_units = [&](ChipSet arena, ChipSet lone) {
    std::vector<Stack> stacks;
    ChipSet fixed = lone;
    for (const ChipSet unit : recipe.units) {
      if (unit.intersects(lone)) continue;
      if (unit.intersects(query.required)) {
        fixed |= unit;
      } else if (arena.contains(unit)) {
        stacks.push_back({{unit}, -1, false});
      }
    }
    if (fixed.size() > query.size || !fixed.contains(query.required)) return;
    CandidateQuery inner = query;
    inner.required = fixed;
    Enumerator(rules, inner, out, limits).run(stacks, query.size - fixed.size());
  };
  for (const ChipSet arena : recipe.arenas) {
    if (!arena.contains(query.required)) continue;
    const int wanted = query.size - query.required.size();
    if (recipe.unit == 1) {
      const ChipSet pool = arena - query.required;
      enumerator.run(
          recipe.interchangeable
              ? twin_stacks(symmetry, pool, query.required | query.already_held | query.loaded)
              : single_stacks(pool),
          wanted);
    } else if (recipe.lone.empty()) {
      from_units(arena, {});
    } else {
      for (const int chip : recipe.lone) from_units(arena, ChipSet{chip});
    }
  }
  return out;
}

}  // namespace chipweave::solver

// Chip division — which chips of one node each of several requests gets, where devices of some
// requests must have the same value of an attribute. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/solver/chips/machine.hpp"

namespace chipweave::sched {

using domain::ChipSet;

// "domain/name" to a value.
using Attributes = std::map<std::string, std::string, std::less<>>;

// The devices of these requests have the attribute, with one value.
struct EqualAttribute {
  std::vector<std::size_t> requests;
  std::string attribute;
};

struct DivisionRequest {
  ChipSet usable;
  std::vector<int> counts;  // at least one, each above 0
  std::vector<EqualAttribute> equal;
  std::map<int, Attributes> attributes;  // by slot
};

struct Division {
  std::vector<ChipSet> chips;  // by request, disjoint
  double gbps = 0;             // of all together
};

// How much divisions with rules may cost; shared by those for one pod, whose rules may have more
// combinations of values than can be tried.
struct DivisionWork {
  int left = 8'192;
  bool is_over() const { return left <= 0; }
};

// The fastest division that keeps the rules, if there is any. Of several requests with different
// rules it need not be the very fastest one. Cost: without rules a choice by the solver; with rules
// one for each combination of values, at most one for each 16 of `work`, and one more. Once the
// work is over there is no division that has rules.
std::optional<Division> divide(solver::Machine& machine, const DivisionRequest& request,
                               DivisionWork& work);

}  // namespace chipweave::sched

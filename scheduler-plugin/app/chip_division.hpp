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

// The fastest division that keeps the rules, if there is any. Of several requests with different
// rules it need not be the very fastest one. Cost: a choice by the solver for each combination of
// values; of more than kMaxCombinations, only so many are tried.
inline constexpr int kMaxCombinations = 256;
std::optional<Division> divide(solver::Machine& machine, const DivisionRequest& request);

}  // namespace chipweave::sched

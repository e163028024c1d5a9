// RankDomains — the domains of pods as numbers, for ordering ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/solver/ranks/rank_order.hpp"

namespace chipweave::solver {

struct RankDomains {
  // By pod and level; equal if and only if the whole paths are. From an unknown element on, the pod
  // is in the one domain of such pods below its parent.
  std::vector<std::vector<std::uint32_t>> of_pod;
  std::vector<std::string> names;  // by number; empty: unknown
};

RankDomains rank_domains(std::size_t levels, const std::vector<RankPath>& pods);

}  // namespace chipweave::solver

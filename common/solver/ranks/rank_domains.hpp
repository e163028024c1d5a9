// The domains that pods lie in, as numbers: what orders of ranks are made of and judged by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/solver/ranks/rank_order.hpp"

namespace chipweave::solver {

struct RankDomains {
  // By pod and level, equal for equal whole paths and for those alone. Once an element is not
  // known, the pod stays in the one domain of such pods that its parent has.
  std::vector<std::vector<std::uint32_t>> of_pod;
  std::vector<std::string> names;  // by number; empty: not known
};

RankDomains rank_domains(std::size_t levels, const std::vector<RankPath>& pods);

}  // namespace chipweave::solver

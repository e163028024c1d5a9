// NodeId — a node of the scheduler: 0, 1, 2 … in the order in which they became known.
#pragma once

#include <cstdint>

namespace chipweave::sched {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = ~NodeId{0};

}  // namespace chipweave::sched

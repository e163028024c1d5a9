// What a placed pod's chips really carry, beside what was predicted for it. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "common/base/clock.hpp"
#include "common/domain/carried.hpp"
#include "scheduler-plugin/model/decision.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

// In GB/s, the most that one of its chips carried within ten minutes: in a ring, which collective
// libraries build, each chip sends what the whole set was predicted to reach. nullopt: it has one
// chip; its chips, or one of them, are not measured; its agent does not report; or the pod has run
// for less than kSettled, so that the peak may be of the pod before it.
std::optional<double> measured_gbps(const Decision& decision, const Node& node, Clock::Wall now);

inline constexpr std::chrono::seconds kSettled{domain::kCarriedWindowSeconds +
                                               domain::kCarriedEverySeconds};

}  // namespace chipweave::sched

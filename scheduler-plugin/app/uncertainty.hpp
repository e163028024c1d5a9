// The uncertainty window: how long the outcome of a binding without an answer stays unknown.
#pragma once

#include <chrono>

namespace chipweave::sched {

// The API server has given up on any request by then (its default timeout is one minute).
inline constexpr std::chrono::seconds kUncertaintyWindow{75};
// For how long admissions of one pod may follow each other while no outcome is known. Then the pod
// is read before another one, so that repeated admissions cannot hold it for good.
inline constexpr std::chrono::seconds kAdmissionWindow{4 * kUncertaintyWindow};
// Between checks, if a check goes unanswered too.
inline constexpr std::chrono::seconds kRecheckInterval{5};

}  // namespace chipweave::sched

// How long it is open what became of a binding whose answer did not come.
#pragma once

#include <chrono>

namespace chipweave::sched {

// After so long the API server no longer works on a request (it gives one a minute by default).
inline constexpr std::chrono::seconds kUncertaintyWindow{75};
// Until it is looked after once more, if that went unanswered too.
inline constexpr std::chrono::seconds kRecheckInterval{5};

}  // namespace chipweave::sched

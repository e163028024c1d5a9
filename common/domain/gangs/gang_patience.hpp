// How long a gang that does not fit lets later ones go first, before they wait for it.
#pragma once

#include <chrono>

namespace chipweave::domain {

inline constexpr std::chrono::minutes kGangPatience{5};

}  // namespace chipweave::domain

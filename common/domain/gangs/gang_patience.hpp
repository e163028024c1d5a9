// How long a gang that does not fit lets later ones go first, before they wait for it.
#pragma once

namespace chipweave::domain {

inline constexpr int kGangPatienceSeconds = 300;

}  // namespace chipweave::domain

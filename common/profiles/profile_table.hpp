// The table that CMake generates from data/*.json; seen by profiles.cpp only.
#pragma once

#include <vector>

#include "common/profiles/profiles.hpp"

namespace chipweave::profiles {

// One entry per file, in unspecified order; the views point at string literals.
std::vector<Profile> profile_table();

}  // namespace chipweave::profiles

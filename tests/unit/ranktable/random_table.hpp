// Random rank tables of every dialect without errors for lint.
#pragma once

#include <random>
#include <string>

#include "common/domain/ranktable/table.hpp"

namespace chipweave::test {

// Servers 1..4 with 1..4 devices each; optional members of the dialect are present at random, with
// unknown members in between.
domain::ranktable::RankTable random_table(domain::ranktable::Dialect dialect, std::mt19937& random);

}  // namespace chipweave::test

// Random rank tables of every dialect, which lint finds no error in.
#pragma once

#include <random>
#include <string>

#include "common/domain/ranktable/table.hpp"

namespace chipweave::test {

// Servers 1..4, devices 1..4 each, members that the dialect allows there or not at random, unknown
// members in between.
domain::ranktable::RankTable random_table(domain::ranktable::Dialect dialect, std::mt19937& random);

}  // namespace chipweave::test

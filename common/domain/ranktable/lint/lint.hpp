// lint — checks the values of a rank table for a consumer.
//
// Text, file and machines are checked where they are read. Findings refer to objects of the table
// by their source. Cost: O(ranks log ranks), one pass for each rule.
#pragma once

#include "common/domain/ranktable/lint/finding.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::domain::ranktable {

Findings lint(const RankTable& table, Profile profile);

// RT070: differences between a local ModelArts table and the global one. None if the global table
// contains this instance.
Findings lint_local_against_global(const RankTable& local, const RankTable& global);

}  // namespace chipweave::domain::ranktable

// lint — the rules that the values of a rank table must obey, for a consumer.
//
// Pure: what the text, the file or the machine say is checked where they are read. Findings name
// the objects of the table by their source. Cost: O(ranks log ranks), one pass a rule.
#pragma once

#include "common/domain/ranktable/lint/finding.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::domain::ranktable {

Findings lint(const RankTable& table, Profile profile);

// RT070: what a local ModelArts table and the global one do not say alike; nothing is found when
// one of the global table's instances is this one.
Findings lint_local_against_global(const RankTable& local, const RankTable& global);

}  // namespace chipweave::domain::ranktable

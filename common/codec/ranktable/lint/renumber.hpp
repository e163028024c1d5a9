// Renumbering and sorting of the ranks of a table in its own text: what `lint --fix` and
// `order --write` do to rank_id members and to the lists.
//
// Internal to common/codec/ranktable.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/codec/ranktable/edits.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::codec::ranktable {

// An object with a rank_id, and the one that it gets.
using NewRank = std::pair<domain::ranktable::Source, std::int64_t>;

// How many rank_ids change. Objects without the member are passed over.
std::size_t set_ranks(const JsonTree& tree, const std::vector<NewRank>& ranks,
                      domain::ranktable::Dialect dialect, Edits& edits);

// Puts the devices of each server and the servers of each group in the order of their ranks (as
// `table` has them); returns how many lists change.
std::size_t sort_lists(const JsonTree& tree, const domain::ranktable::RankTable& table,
                       Edits& edits);

}  // namespace chipweave::codec::ranktable

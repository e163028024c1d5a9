// Renumbers and sorts the ranks of a table in its own text, for `lint --fix` and `order --write`.
//
// Internal to common/codec/ranktable.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/codec/ranktable/edits.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::codec::ranktable {

// An object with a rank_id, and its new rank_id.
using NewRank = std::pair<domain::ranktable::Source, std::int64_t>;

// Returns how many rank_ids change. Objects without the member are skipped.
std::size_t set_ranks(const JsonTree& tree, const std::vector<NewRank>& ranks,
                      domain::ranktable::Dialect dialect, Edits& edits);

// Sorts the devices of each server and the servers of each group by the ranks in `table`. Returns
// how many lists change.
std::size_t sort_lists(const JsonTree& tree, const domain::ranktable::RankTable& table,
                       Edits& edits);

}  // namespace chipweave::codec::ranktable

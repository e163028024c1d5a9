// Rank tables as text: reading of every dialect and writing of those that may be written.
//
// Reading is lenient: what does not fit the dialect becomes a finding. domain::ranktable::lint()
// checks the values. No I/O.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/json/json_tree.hpp"
#include "common/domain/ranktable/lint/finding.hpp"
#include "common/domain/ranktable/table.hpp"

namespace chipweave::codec::ranktable {

// The model's names in this folder.
using domain::ranktable::Device;
using domain::ranktable::Dialect;
using domain::ranktable::Finding;
using domain::ranktable::Findings;
using domain::ranktable::Group;
using domain::ranktable::LayeredRank;
using domain::ranktable::Number;
using domain::ranktable::Place;
using domain::ranktable::RankTable;
using domain::ranktable::Server;
using domain::ranktable::Severity;
using domain::ranktable::Source;

// A rank table, or findings that tell why the object is not one.
struct ReadTable {
  std::optional<Dialect> dialect;  // nullopt: RT001 or RT002 is in findings
  RankTable table;                 // empty without dialect
  Findings findings;
};

// Reads the object at `node`. dialect: for a server_group_list whose members do not show it, which
// is an error otherwise. Cost: linear.
ReadTable read_table(const JsonTree& tree, JsonTree::Id node,
                     std::optional<Dialect> dialect = std::nullopt);

// Error: line and column of what is not JSON.
Result<JsonTree> parse_document(std::string text);

// For callers that only need the table. Error: the first wrong thing about text, dialect or types,
// with line and column; warnings are dropped.
Result<RankTable> parse_table(std::string text, std::optional<Dialect> dialect = std::nullopt);

// indent: spaces per level, 0: one line without white space; nullopt: as the dialect's main
// producer writes it.
std::string write_table(const RankTable& table, std::optional<std::size_t> indent = std::nullopt);

}  // namespace chipweave::codec::ranktable

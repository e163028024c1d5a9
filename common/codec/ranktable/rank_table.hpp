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

struct ReadOptions {
  // The dialect of a server_group_list whose members do not tell; nullopt: an error.
  std::optional<domain::ranktable::Dialect> dialect;
};

// A rank table, or findings that tell why the object is not one.
struct ReadTable {
  std::optional<domain::ranktable::Dialect> dialect;  // nullopt: RT001 or RT002 is in findings
  domain::ranktable::RankTable table;                 // empty without dialect
  domain::ranktable::Findings findings;
};

// Of the object at `node`. Cost: linear.
ReadTable read_table(const JsonTree& tree, JsonTree::Id node, const ReadOptions& options = {});

// For callers that only need the table. Error: the first wrong thing about text, dialect or types,
// with line and column; warnings are dropped.
Result<domain::ranktable::RankTable> parse_table(std::string text, const ReadOptions& options = {});

struct Layout {
  std::size_t indent = 4;  // spaces; 0: one line without white space
  bool newline = false;    // at the end
};

// The layout of the dialect's main producer.
Layout layout_of(domain::ranktable::Dialect dialect);
std::string write_table(const domain::ranktable::RankTable& table, const Layout& layout);
std::string write_table(const domain::ranktable::RankTable& table);

}  // namespace chipweave::codec::ranktable

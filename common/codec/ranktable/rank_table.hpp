// Rank tables as text: reading of every dialect and writing of those that may be written.
//
// A document is read leniently into the model, with findings for all that does not fit the dialect;
// domain::ranktable::lint() adds what the values say. No I/O.
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

struct ReadOptions {
  // What a server_group_list is when its members do not tell; nullopt: that is an error.
  std::optional<domain::ranktable::Dialect> dialect;
};

// A rank table, or why the object is none.
struct ReadTable {
  std::optional<domain::ranktable::Dialect> dialect;  // nullopt: RT001 or RT002 is in findings
  domain::ranktable::RankTable table;                 // empty without dialect
  domain::ranktable::Findings findings;
};

// Of the object at `node`. Cost: linear.
ReadTable read_table(const JsonTree& tree, JsonTree::Id node, const ReadOptions& options = {});

// For those that only want a table to work with: the first thing that is wrong with the text, the
// dialect or the types, with line and column, is the Error; warnings are passed over.
Result<domain::ranktable::RankTable> parse_table(std::string text, const ReadOptions& options = {});

struct Layout {
  std::size_t indent = 4;  // spaces; 0: one line without blanks
  bool newline = false;    // at the end
};

// As the main producer of the dialect lays it out.
Layout layout_of(domain::ranktable::Dialect dialect);
std::string write_table(const domain::ranktable::RankTable& table, const Layout& layout);
std::string write_table(const domain::ranktable::RankTable& table);

}  // namespace chipweave::codec::ranktable

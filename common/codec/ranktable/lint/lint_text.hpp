// lint_text — everything that is wrong with a rank table as text, with line, column and JSON
// pointer. Callers add findings about the file, the machines or the network.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/json/json_tree.hpp"
#include "common/codec/ranktable/rank_table.hpp"
#include "common/domain/ranktable/dialect.hpp"
#include "common/domain/ranktable/lint/finding.hpp"

namespace chipweave::codec::ranktable {

// A finding with its place in the file.
struct Located {
  std::string code;
  domain::ranktable::Severity severity = domain::ranktable::Severity::error;
  std::string pointer;  // "": the whole file
  TextPosition position;
  std::optional<TextPosition> related;
  std::string fact;
  JsonTree::Id node = JsonTree::kNone;   // of the value in LintedText::tree
  JsonTree::Id owner = JsonTree::kNone;  // of the object it is a member of, if it is one
  // "fact. What breaks. Remedy."
  std::string message() const;
};

struct LintOptions {
  domain::ranktable::Profile profile = domain::ranktable::Profile::structural;
  std::string pointer;  // to the table; a string there is parsed as JSON
  std::optional<domain::ranktable::Dialect> dialect;  // if its members do not tell
};

// The parsed document and its findings, in the order of the text.
struct LintedText {
  std::optional<domain::ranktable::Dialect> dialect;
  domain::ranktable::RankTable table;  // empty without dialect
  std::vector<Located> findings;
  // nullopt if the text is not JSON, or the pointer leads nowhere.
  std::optional<JsonTree> tree;
  JsonTree::Id root = 0;  // of the table in `tree`
};

// Cost: linear in the text, plus sorting the findings.
LintedText lint_text(std::string text, const LintOptions& options);

// "1 rank", "3 ranks"
std::string counted(std::size_t count, const char* what);

// Adds places to findings about `linted.table`, and keeps all in order.
void add_findings(LintedText& linted, const domain::ranktable::Findings& findings);

}  // namespace chipweave::codec::ranktable

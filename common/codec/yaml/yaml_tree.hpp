// YAML text → JSON trees, with kubectl's rules.
//
// Plain scalars get their YAML type (8 → number, 0640 → octal, yes/on → true, ~ → null), quoted
// ones stay strings. Anchors, aliases and merge keys (<<) are resolved. Limits: bytes, depth,
// values (counted before anything is built), and the values and bytes that aliases expand to.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/json/json_tree.hpp"

namespace chipweave::codec {

struct YamlDocument {
  int line = 1;            // where it begins, 1-based
  JsonTree tree;           // its positions are not those of the YAML text
  std::vector<int> lines;  // where each of its values begins, or its key, by id
};

// All documents that are not empty, in order. Errors name the line ("line 12: key \"image\" is
// given twice"), unless the text as a whole is too large or is not text.
Result<std::vector<YamlDocument>> parse_yaml(std::string_view text);

}  // namespace chipweave::codec

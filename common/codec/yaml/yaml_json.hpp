// YAML text → JSON values, as kubectl reads manifests: used inside common/codec only (it shows
// nlohmann types).
//
// Plain scalars get their YAML type (8 → number, 0640 → octal, yes/on → true, ~ → null), quoted
// ones stay text. Anchors, aliases and merge keys (<<) are resolved. What a text may cost is
// bounded: its bytes, its depth, its values (counted before anything is built), and how many
// values and bytes its aliases unfold to.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

struct YamlDocument {
  int line = 1;  // where it begins, 1-based
  nlohmann::json value;
};

// All documents that are not empty, in order. Errors name the line ("line 12: key \"image\" is
// given twice"), unless the text as a whole is too large or none.
Result<std::vector<YamlDocument>> yaml_to_json(std::string_view text);

}  // namespace chipweave::codec

// Configuration files of the programs: one flat YAML mapping of keys to scalars or lists of
// scalars.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

struct ConfigEntry {
  std::string key;
  std::vector<std::string> values;  // one for a scalar
  bool list = false;
  int line = 0;  // 1-based
};

// In file order. Errors name the line: syntax, a key given twice, nested mappings, more than one
// document. An empty document has no entries. Anchors and aliases, which could expand without
// bound, are rejected; '&' and '*' inside a word or in quotes are text. At most
// limits::kMaxConfigBytes.
Result<std::vector<ConfigEntry>> read_flat_yaml(std::string_view text);

// The same as key → text, lists joined by commas; an unknown key is an error that names its line
// and the known keys.
Result<std::map<std::string, std::string>> parse_flat_yaml(
    std::string_view text, const std::vector<std::string>& known_keys);

}  // namespace chipweave::codec

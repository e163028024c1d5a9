// Configuration files of the programs: one flat YAML mapping of keys to scalars or lists of scalars.
#pragma once

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

// In file order. Errors name the line: syntax, a key given twice, nested mappings, more than one document.
// An empty document has no entries.
Result<std::vector<ConfigEntry>> read_flat_yaml(std::string_view text);

}  // namespace chipweave::codec

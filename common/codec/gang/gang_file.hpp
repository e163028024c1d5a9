// A gang in its own file: the object that a plan request has under `gang`; flags add keys to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

struct GangFile {
  std::vector<std::string> keys;
  std::string members;  // JSON text of the object without its braces; may be empty
};

// Errors: invalid JSON (with line and column), a key given twice, not an object. The values are
// checked later, by parse_plan_line().
Result<GangFile> read_gang_file(std::string_view text);

}  // namespace chipweave::codec

// A gang in a file of its own: the object that a plan request holds under `gang`, to which flags
// add keys.
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

// Errors: no JSON (with line and column), a key given twice, no object. What the keys hold is not
// looked at: parse_plan_line() does that.
Result<GangFile> read_gang_file(std::string_view text);

}  // namespace chipweave::codec

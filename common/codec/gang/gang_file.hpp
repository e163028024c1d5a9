// Gangs in files of their own: the object that a plan request has under `gang`, to which flags add
// keys, or the list under `gangs`.
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

// Several gangs in a file: a list, or an object that has it under `gangs`. Returns the list as JSON
// text; errors as above.
Result<std::string> read_gangs_file(std::string_view text);

}  // namespace chipweave::codec

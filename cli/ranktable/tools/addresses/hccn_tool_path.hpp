// Which hccn_tool the flag --hccn-tool means.
#pragma once

#include <string>

#include "common/base/result.hpp"

namespace chipweave::cli {

// named: the path that somebody gave; "": the installed one. "" where there is none; not_found
// where the named one may not be run.
Result<std::string> find_hccn_tool(const std::string& named);

}  // namespace chipweave::cli

// What pd_ranktable_tools.py does, from a request to files.
#pragma once

#include "cli/ranktable/tools/pd_arguments.hpp"
#include "cli/ranktable/tools/tool_log.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

// Everything is checked before the first file is written. Says each file that is saved.
Result<void> run_pd(const PdRequest& request, const ToolLog& log);

}  // namespace chipweave::cli

// What hccl_tools.py and merge_hccl.py do, from a request to a file in the current folder.
#pragma once

#include <string>
#include <vector>

#include "cli/ranktable/tools/hccl_arguments.hpp"
#include "cli/ranktable/tools/tool_log.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

// Both print what the reference prints on its way on stdout.
Result<void> run_hccl(const HcclRequest& request, const ToolLog& log);
Result<void> run_merge_hccl(const std::vector<std::string>& files, const ToolLog& log);

}  // namespace chipweave::cli

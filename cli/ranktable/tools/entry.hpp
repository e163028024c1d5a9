// The rank table generators: `chipweave ranktable gen`, `merge`, …, and chipweave under the names
// of the reference programs. Exit codes are those of the reference: 0 done, 2 wrong usage, 1
// anything else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/ranktable/tools/tool_log.hpp"

namespace chipweave::cli {

// words: the command line with the program's name. nullopt if it does not call a generator:
// `ranktable gen|merge|merge-local|merge-all|gen-hccl|merge-hccl …`, or anything if the program is
// called pd_ranktable_tools(.py) or hccl_tools(.py).
std::optional<int> run_ranktable_tool(const std::vector<std::string>& words, const Sink& out,
                                      const Sink& err);
// The same with stdout and stderr; main() calls this first.
std::optional<int> run_ranktable_tools(int argc, char** argv);

}  // namespace chipweave::cli

// The generators of rank tables as commands of chipweave, and under the name of the program that
// one of them stands in for. They read their words as Python's argparse does and have its exit
// codes: 0 done, 2 wrong usage, 1 anything else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/ranktable/tools/tool_log.hpp"

namespace chipweave::cli {

struct RanktableTool {
  std::string command;  // as the program's help lists it: "ranktable gen"
  std::string about;    // one line
};
// All of them, for the help.
std::vector<RanktableTool> ranktable_tools();

// What the words ask of a generator: `ranktable gen|merge|merge-local|merge-all|gen-hccl|merge-hccl
// …`, `pd-ranktable …`, or anything where the program was called pd_ranktable_tools(.py),
// hccl_tools(.py) or merge_hccl(.py). nullopt: something else, which has not been looked at
// further.
std::optional<int> run_ranktable_tool(const std::vector<std::string>& words, const Sink& out,
                                      const Sink& err);
// The same with stdout and stderr; what main() calls first.
std::optional<int> run_ranktable_tools(int argc, char** argv);

}  // namespace chipweave::cli

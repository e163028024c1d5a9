// Manual pages in roff, for `man`: one page a command.
#pragma once

#include <string>
#include <vector>

#include "cli/reference/command_page.hpp"

namespace chipweave::cli {

// "chipweave topo show" → "chipweave-topo-show"
std::string man_name(const std::string& words);
// pages: all of the program, for the exit codes, the environment and "see also". version: of the
// program.
std::string man_page(const CommandPage& page, const std::vector<CommandPage>& pages,
                     const std::string& version);

}  // namespace chipweave::cli

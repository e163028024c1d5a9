// Texts about all commands: exit codes and environment variables, for `chipweave help`, the man
// page and the Markdown pages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/reference/command_page.hpp"

namespace chipweave::cli {

struct ExitCode {
  Exit code;
  std::string_view meaning;
};
const std::vector<ExitCode>& exit_codes();

struct Variable {
  std::string name;
  std::string meaning;
};
// Those that replace flags, in alphabetical order, and NO_COLOR.
std::vector<Variable> environment_variables(const std::vector<CommandPage>& pages);

}  // namespace chipweave::cli

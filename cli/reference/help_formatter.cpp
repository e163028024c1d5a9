#include "cli/reference/help_formatter.hpp"

#include "cli/reference/command_page.hpp"

namespace chipweave::cli {

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const OptionEntry entry = entry_of(*option);
  std::string out = entry.value.empty() ? "" : " " + entry.value;
  if (!entry.environment.empty()) out += " (env " + entry.environment + ")";
  return out;
}

}  // namespace chipweave::cli

// The pages docs/reference/cli/: a page for each command of the program, with its subcommands, and
// an index.
#pragma once

#include <string>
#include <vector>

#include "cli/reference/command_page.hpp"

namespace chipweave::cli {

struct MarkdownFile {
  std::string name;  // "topo.md"
  std::string text;
};
std::vector<MarkdownFile> markdown_pages(const std::vector<CommandPage>& pages);

}  // namespace chipweave::cli

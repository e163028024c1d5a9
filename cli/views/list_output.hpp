// What `nodes` and `pods` have in common: JSON and YAML of what they show, and the flag -w.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

// -w, --watch; not for JSON and YAML, of which only the whole is valid.
void add_watch_option(CLI::App& command, bool& watch);

// JSON or YAML, not rows.
bool is_structured(OutputForm form);
// Why -w cannot follow this; empty: it can. name: of the one object that is shown.
std::string watch_error(bool watch, OutputForm form, const std::string& name);

// {"items":[…]} of items that are JSON texts. form: json or yaml.
Result<std::string> list_text(const std::vector<std::string>& items, OutputForm form);
// One JSON value.
Result<std::string> item_text(const std::string& item, OutputForm form);

}  // namespace chipweave::cli

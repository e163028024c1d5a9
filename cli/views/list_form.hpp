// ListForm — the forms in which `nodes` and `pods` print a list, named as kubectl names them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::cli {

enum class ListForm { text, wide, name, json, yaml };

// -o, --output text|wide|name|json|yaml
void add_list_form_option(CLI::App& command, ListForm& form);
// -w, --watch; not for JSON and YAML, of which only the whole is valid.
void add_watch_option(CLI::App& command, bool& watch);

// {"items":[…]} of items that are JSON texts. form: json or yaml.
Result<std::string> list_text(const std::vector<std::string>& items, ListForm form);
// One JSON value.
Result<std::string> item_text(const std::string& item, ListForm form);

}  // namespace chipweave::cli

#include "cli/views/list_form.hpp"

#include <array>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/yaml/yaml_writer.hpp"

namespace chipweave::cli {
namespace {

constexpr std::array<std::pair<const char*, ListForm>, 5> kForms = {{{"text", ListForm::text},
                                                                     {"wide", ListForm::wide},
                                                                     {"name", ListForm::name},
                                                                     {"json", ListForm::json},
                                                                     {"yaml", ListForm::yaml}}};

// A list of all pods of a large cluster.
constexpr codec::JsonLimits kLimits{limits::kMaxNetworkFileBytes, limits::kMaxNetworkValues};

}  // namespace

void add_list_form_option(CLI::App& command, ListForm& form) {
  const auto set = [&form](const std::string& text) {
    for (const auto& [word, known] : kForms) {
      if (text == word) {
        form = known;
        return;
      }
    }
    throw CLI::ValidationError("-o", "expected text, wide, name, json or yaml, got '" + text + "'");
  };
  command
      .add_option_function<std::string>("-o,--output", set,
                                        "text (default), wide, name, json or yaml")
      ->option_text("FORM");
}

void add_watch_option(CLI::App& command, bool& watch) {
  command.add_flag("-w,--watch", watch, "go on and print each row that changes, until interrupted");
}

Result<std::string> list_text(const std::vector<std::string>& items, ListForm form) {
  JsonWriter w;
  w.begin_object().key("items").begin_array();
  for (const std::string& item : items) w.raw(item);
  return item_text(w.end_array().end_object().take(), form);
}

Result<std::string> item_text(const std::string& item, ListForm form) {
  if (form == ListForm::json) return item + "\n";
  return codec::parse_json(item, kLimits).transform([](const codec::JsonTree& tree) {
    return codec::yaml_text(codec::JsonValue(tree));
  });
}

}  // namespace chipweave::cli

#include "cli/views/list_output.hpp"

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/yaml/yaml_writer.hpp"

namespace chipweave::cli {
namespace {

// A list of all pods of a large cluster.
constexpr codec::JsonLimits kLimits{limits::kMaxNetworkFileBytes, limits::kMaxNetworkValues};

}  // namespace

void add_watch_option(CLI::App& command, bool& watch) {
  command.add_flag("-w,--watch", watch, "go on and print each row that changes, until interrupted");
}

bool is_structured(OutputForm form) { return form == OutputForm::json || form == OutputForm::yaml; }

std::string watch_error(bool watch, OutputForm form, const std::string& name) {
  if (!watch) return {};
  if (is_structured(form)) return "-w cannot be combined with -o json and -o yaml";
  return name.empty() ? std::string() : "-w cannot be combined with the name of an object";
}

Result<std::string> list_text(const std::vector<std::string>& items, OutputForm form) {
  JsonWriter w;
  w.begin_object().key("items").begin_array();
  for (const std::string& item : items) w.raw(item);
  return item_text(w.end_array().end_object().take(), form);
}

Result<std::string> item_text(const std::string& item, OutputForm form) {
  if (form == OutputForm::json) return item + "\n";
  return codec::parse_json(item, kLimits).transform([](const codec::JsonTree& tree) {
    return codec::yaml_text(codec::JsonValue(tree));
  });
}

}  // namespace chipweave::cli

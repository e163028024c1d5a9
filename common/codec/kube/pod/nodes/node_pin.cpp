#include "common/codec/kube/pod/nodes/node_pin.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {
namespace {

using PinJson = nlohmann::json;  // terms are edited and written back

PinJson only_node(std::string_view node) {
  return {{"key", "metadata.name"}, {"operator", "In"}, {"values", {node}}};
}

bool is_empty(const PinJson& term, const char* key) {
  const auto found = term.find(key);
  return found == term.end() || found->empty();
}

}  // namespace

std::string pin_terms(std::string_view node) {
  PinJson term;
  term["matchFields"].push_back(only_node(node));
  return PinJson::array({std::move(term)}).dump();
}

Result<std::string> pin_terms(std::string_view pod_json, std::string_view node) {
  static const PinJson::json_pointer kTerms(
      "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/"
      "nodeSelectorTerms");
  if (const auto checked = parse_json(pod_json); !checked) return checked.error();
  try {
    PinJson terms = PinJson::parse(pod_json).value(kTerms, PinJson::array());
    const auto is_object = [](const PinJson& term) { return term.is_object(); };
    if (!terms.is_array() || !std::all_of(terms.begin(), terms.end(), is_object))
      return make_error(Errc::invalid_argument, "its nodeSelectorTerms are no list of objects");
    if (terms.empty()) return pin_terms(node);
    const PinJson pin = only_node(node);
    for (PinJson& term : terms) {
      if (is_empty(term, "matchExpressions") && is_empty(term, "matchFields")) continue;
      PinJson& fields = term["matchFields"];
      if (fields.is_null()) fields = PinJson::array();
      if (std::find(fields.begin(), fields.end(), pin) == fields.end()) fields.push_back(pin);
    }
    return terms.dump(-1, ' ', false, PinJson::error_handler_t::replace);
  } catch (const PinJson::exception& e) {
    return make_error(Errc::invalid_argument,
                      std::string("its node affinity cannot be read: ") + e.what());
  }
}

}  // namespace chipweave::codec

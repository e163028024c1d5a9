#include "common/codec/kube/objects/disruption_budget.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"

namespace chipweave::codec {
namespace {

constexpr std::int64_t kMaxGeneration = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMaxTokenBytes = limits::kMaxNameBytes;  // of a continuation, a label

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

// Keys and values of labels, which need no quotes in a selector.
bool is_label_text(std::string_view text) {
  return text.size() <= kMaxTokenBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_plain(c) || c == '/'; });
}

void add_part(std::string& to, const std::string& part) {
  if (!to.empty()) to += ',';
  to += part;
}

void read_expression(JsonValue value, JsonProblems& problems, std::string& to) {
  const JsonObject part = JsonObject::tolerant(value, problems);
  if (!part) return;
  const std::string key = part.require_text("key").value_or("");
  const std::string how = part.require_text("operator").value_or("");
  if (key.empty() || !is_label_text(key)) part.problem("key", "is not the key of a label");
  if (how == "Exists") return add_part(to, key);
  if (how == "DoesNotExist") return add_part(to, "!" + key);
  if (how != "In" && how != "NotIn")
    return part.problem("operator", "expected In, NotIn, Exists or DoesNotExist");
  std::string values;
  for (const std::string& one : part.texts("values", kMaxSelectorParts)) {
    if (!is_label_text(one)) part.problem("values", "expected values of labels");
    values += (values.empty() ? "" : ",") + one;
  }
  add_part(to, key + (how == "In" ? " in (" : " notin (") + values + ")");
}

std::optional<std::string> read_selector(const JsonObject& spec, JsonProblems& problems) {
  if (!spec.has("selector")) return std::nullopt;
  const JsonObject selector = JsonObject::tolerant(spec.find("selector"), problems);
  if (!selector) return std::nullopt;
  std::string out;
  for (const JsonValue label : selector.map("matchLabels", kMaxSelectorParts)) {
    const std::string value = label.string().value_or("/ /");
    if (!is_label_text(label.name()) || !is_label_text(value))
      problems.add(label, "is not a label");
    add_part(out, std::string(label.name()) + "=" + value);
  }
  for (const JsonValue part : selector.array("matchExpressions", kMaxSelectorParts))
    read_expression(part, problems, out);
  return percent_encoded(out);
}

KubeDisruptionBudget read_budget(JsonValue value, JsonProblems& problems) {
  KubeDisruptionBudget out;
  const JsonObject object = JsonObject::tolerant(value, problems);
  if (!object) return out;
  const JsonObject metadata = JsonObject::tolerant(object.require("metadata"), problems);
  out.ns = metadata.require_text("namespace").value_or("");
  out.name = metadata.require_text("name").value_or("");
  const auto generation = metadata.integer<std::int64_t>("generation", 0, kMaxGeneration);
  if (object.has("spec"))
    out.selector = read_selector(JsonObject::tolerant(object.find("spec"), problems), problems);
  if (!object.has("status")) return out;
  const JsonObject status = JsonObject::tolerant(object.find("status"), problems);
  const auto seen = status.integer<std::int64_t>("observedGeneration", 0, kMaxGeneration);
  const int allowed =
      status.integer("disruptionsAllowed", 0, std::numeric_limits<int>::max()).value_or(0);
  if (seen.value_or(0) >= generation.value_or(0)) out.allowed = allowed;
  return out;
}

}  // namespace

Result<DisruptionBudgetPage> read_disruption_budgets(std::string_view body) {
  JsonLimits most;
  most.bytes = limits::kMaxKubeReplyBytes;
  const auto tree = parse_json(body, most);
  if (!tree) return tree.error();
  JsonProblems problems;
  const JsonObject list = JsonObject::tolerant(JsonValue(*tree), problems);
  if (!list || list.text_or_empty("kind") != "PodDisruptionBudgetList")
    return make_error(Errc::invalid_argument, "not a PodDisruptionBudgetList");
  DisruptionBudgetPage out;
  if (list.has("metadata"))
    out.next = JsonObject::tolerant(list.find("metadata"), problems).text_or_empty("continue");
  for (const JsonValue item : list.array("items", kMaxBudgetsOfPage))
    out.budgets.push_back(read_budget(item, problems));
  if (problems.any()) return problems.error();
  return out;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr unsigned kHigh = 4;
  constexpr unsigned kLow = 15;
  std::string out;
  for (const char c : text) {
    if (is_plain(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte >> kHigh];
    out += kDigits[byte & kLow];
  }
  return out;
}

}  // namespace chipweave::codec

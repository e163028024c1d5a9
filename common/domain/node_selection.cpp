#include "common/domain/node_selection.hpp"

#include <algorithm>
#include <optional>

#include "common/base/text.hpp"

namespace chipweave::domain {
namespace {

constexpr const char* kUnschedulableTaint = "node.kubernetes.io/unschedulable";

bool holds(const NodeRequirement& wanted, const std::string* value) {
  const auto listed = [&] {
    return value != nullptr &&
           std::find(wanted.values.begin(), wanted.values.end(), *value) != wanted.values.end();
  };
  if (wanted.op == "In") return listed();
  if (wanted.op == "NotIn") return !listed();
  if (wanted.op == "Exists") return value != nullptr;
  if (wanted.op == "DoesNotExist") return value == nullptr;
  if ((wanted.op != "Gt" && wanted.op != "Lt") || value == nullptr || wanted.values.size() != 1)
    return false;
  const auto has = parse_number<std::int64_t>(*value);
  const auto limit = parse_number<std::int64_t>(wanted.values.front());
  if (!has || !limit) return false;
  return wanted.op == "Gt" ? *has > *limit : *has < *limit;
}

bool matches(const NodeTerm& term, const std::string& node, const NodeStanding& there) {
  if (term.labels.empty() && term.fields.empty()) return false;
  for (const NodeRequirement& one : term.labels) {
    const auto at = there.labels.find(one.key);
    if (!holds(one, at == there.labels.end() ? nullptr : &at->second)) return false;
  }
  return std::all_of(term.fields.begin(), term.fields.end(), [&](const NodeRequirement& one) {
    return one.key == "metadata.name" && holds(one, &node);
  });
}

bool tolerates(const Toleration& toleration, const NodeTaint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op == "Exists") return true;
  const bool equal = toleration.op.empty() || toleration.op == "Equal";
  return equal && !toleration.key.empty() && toleration.value == taint.value;
}

bool tolerates(const NodeWishes& pod, const NodeTaint& taint) {
  return std::any_of(pod.tolerations.begin(), pod.tolerations.end(),
                     [&](const Toleration& one) { return tolerates(one, taint); });
}

}  // namespace

WishesSize size_of(const NodeWishes& pod) {
  WishesSize out{pod.selector.size() + pod.tolerations.size(), 0};
  for (const NodeTerm& term : pod.required) {
    for (const auto* requirements : {&term.labels, &term.fields}) {
      out.parts += requirements->size();
      for (const NodeRequirement& one : *requirements) out.values += one.values.size();
    }
  }
  return out;
}

std::string why_not_on(const NodeWishes& pod, const std::string& node, const NodeStanding& there) {
  if (there.unschedulable && !tolerates(pod, {kUnschedulableTaint, "", "NoSchedule"}))
    return "the node is unschedulable";
  for (const auto& [key, value] : pod.selector) {
    const auto at = there.labels.find(key);
    if (at == there.labels.end() || at->second != value)
      return "the node does not match the pod's nodeSelector";
  }
  if (pod.has_required && std::none_of(pod.required.begin(), pod.required.end(),
                                       [&](const NodeTerm& t) { return matches(t, node, there); }))
    return "the node does not match the pod's required node affinity";
  for (const NodeTaint& taint : there.taints) {
    const bool keeps_off = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
    if (keeps_off && !tolerates(pod, taint))
      return "the node has the taint " + taint.key + ", which the pod does not tolerate";
  }
  return {};
}

std::optional<std::vector<std::string>> named_nodes(const NodeWishes& pod) {
  if (!pod.has_required) return std::nullopt;
  std::vector<std::string> out;
  for (const NodeTerm& term : pod.required) {
    if (term.labels.empty() && term.fields.empty()) continue;
    const auto named = std::find_if(term.fields.begin(), term.fields.end(),
                                    [](const NodeRequirement& one) { return one.op == "In"; });
    if (named == term.fields.end()) return std::nullopt;
    out.insert(out.end(), named->values.begin(), named->values.end());
  }
  return out;
}

NodeWishes without_pin(NodeWishes pod) {
  bool any_term = false;
  for (NodeTerm& term : pod.required) {
    std::erase_if(term.fields, [](const NodeRequirement& one) {
      return one.key == "metadata.name" && one.op == "In" && one.values.size() == 1;
    });
    // the pin was all that it required
    if (term.labels.empty() && term.fields.empty()) any_term = true;
  }
  if (any_term) {
    pod.required.clear();
    pod.has_required = false;
  }
  return pod;
}

}  // namespace chipweave::domain

#include "common/codec/network/kubernetes/hypernode_members.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/codec/network/kubernetes/go_regex.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kStepsOfInstruction = 4;  // to compile it

Error too_long() {
  return make_error(Errc::limit_exceeded,
                    "the selectors together take too long; name members by exactMatch");
}

struct Expression {
  std::string key;
  std::string op;
  std::vector<std::string> values;
};

Result<std::vector<Expression>> read_expressions(const Json& match) {
  std::vector<Expression> out;
  const Json* labels = json_at(match, {"matchLabels"});
  const Json* expressions = json_at(match, {"matchExpressions"});
  if (labels != nullptr && labels->is_object()) {
    for (const auto& [key, value] : labels->items()) {
      out.push_back({key, "In", {json_word(&value).value_or("")}});
    }
  }
  if (expressions != nullptr && expressions->is_array()) {
    for (const Json& one : *expressions) {
      Expression made;
      made.key = json_word(json_at(one, {"key"})).value_or("");
      made.op = json_word(json_at(one, {"operator"})).value_or("");
      if (const Json* values = json_at(one, {"values"}); values != nullptr && values->is_array()) {
        for (const Json& value : *values) {
          if (const auto word = json_word(&value)) made.values.push_back(*word);
        }
      }
      const bool known =
          made.op == "In" || made.op == "NotIn" || made.op == "Exists" || made.op == "DoesNotExist";
      if (!known || made.key.empty()) {
        return network_error("labelMatch: the operator " + quoted_excerpt(made.op) +
                             " is none of In, NotIn, Exists, DoesNotExist, or the key is missing");
      }
      out.push_back(std::move(made));
    }
  }
  return out;
}

bool holds(const Expression& expression, const LabelledNode& node) {
  const auto found = node.labels.find(expression.key);
  const bool has = found != node.labels.end();
  if (expression.op == "Exists") return has;
  if (expression.op == "DoesNotExist") return !has;
  const bool in = has && std::find(expression.values.begin(), expression.values.end(),
                                   found->second) != expression.values.end();
  return expression.op == "In" ? in : !in;
}

}  // namespace

HyperNodeMembers::HyperNodeMembers(const std::vector<LabelledNode>& nodes,
                                   std::vector<std::string> hypernodes, Warnings& warnings)
    : nodes_(nodes),
      hypernodes_(std::move(hypernodes)),
      warnings_(warnings),
      everyone_(nodes.size()) {
  for (const LabelledNode& node : nodes_) names_.insert(node.name);
  std::iota(everyone_.begin(), everyone_.end(), std::size_t{0});
}

bool HyperNodeMembers::spend(std::size_t tests) {
  if (tests > tests_) return false;
  tests_ -= tests;
  return true;
}

Result<std::vector<std::string>> HyperNodeMembers::select(const Json& member, bool of_nodes) {
  const Json* exact_match = json_at(member, {"selector", "exactMatch"});
  const Json* pattern = json_at(member, {"selector", "regexMatch"});
  const Json* labels = json_at(member, {"selector", "labelMatch"});
  const int given =
      (exact_match != nullptr ? 1 : 0) + (pattern != nullptr ? 1 : 0) + (labels != nullptr ? 1 : 0);
  if (given != 1) {
    return network_error("selector must have exactly one of exactMatch, regexMatch and labelMatch");
  }
  if (exact_match != nullptr) return exact(*exact_match, of_nodes);
  if (labels != nullptr && !of_nodes) {
    return network_error("labelMatch selects nodes; HyperNodes are named by exactMatch");
  }
  if (of_nodes && nodes_.empty()) {
    if (!told_) {
      warnings_.add(
          "nodes are selected by pattern or labels and the file holds no Node objects, so these "
          "HyperNodes are empty: append kubectl get nodes -o yaml");
    }
    told_ = true;
    if (pattern == nullptr) return std::vector<std::string>{};
  }
  return pattern != nullptr ? by_pattern(*pattern, of_nodes) : by_labels(*labels);
}

Result<std::vector<std::string>> HyperNodeMembers::exact(const Json& match, bool of_nodes) {
  const auto name = json_word(json_at(match, {"name"}));
  if (!name || name->empty()) return network_error("exactMatch has no name");
  if (of_nodes && !nodes_.empty() && names_.count(*name) == 0) {
    warnings_.add("node " + quoted_excerpt(*name) +
                  " is a member, but not among the Node objects; left out");
    return std::vector<std::string>{};
  }
  return std::vector<std::string>{*name};
}

Result<std::vector<std::string>> HyperNodeMembers::by_pattern(const Json& match, bool of_nodes) {
  const auto text = json_word(json_at(match, {"pattern"}));
  if (!text) return network_error("regexMatch has no pattern");
  const Result<GoRegex> pattern = GoRegex::compile(*text);
  if (!pattern) return pattern.error();
  steps_ -= std::min(steps_, kStepsOfInstruction * pattern->size());
  if (!spend(of_nodes ? nodes_.size() : hypernodes_.size())) return too_long();
  std::vector<std::string> out;
  const auto try_name = [&](const std::string& name) {
    if (pattern->matches(name, steps_)) out.push_back(name);
  };
  if (of_nodes) {
    for (const LabelledNode& node : nodes_) try_name(node.name);
  } else {
    std::for_each(hypernodes_.begin(), hypernodes_.end(), try_name);
  }
  if (steps_ == 0) return too_long();
  return out;
}

const std::vector<std::size_t>& HyperNodeMembers::nodes_with(const std::string& label,
                                                             const std::string& value) {
  static const std::vector<std::size_t> kNobody;
  auto found = index_.find(label);
  if (found == index_.end()) {
    found = index_.emplace(label, std::map<std::string, std::vector<std::size_t>>{}).first;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto has = nodes_[i].labels.find(label);
      if (has != nodes_[i].labels.end()) found->second[has->second].push_back(i);
    }
  }
  const auto nodes = found->second.find(value);
  return nodes == found->second.end() ? kNobody : nodes->second;
}

Result<std::vector<std::string>> HyperNodeMembers::by_labels(const Json& match) {
  const Result<std::vector<Expression>> expressions = read_expressions(match);
  if (!expressions) return expressions.error();
  if (expressions->empty()) return network_error("labelMatch selects nothing: it is empty");
  // The rarest of the labels that must have one value narrows the search.
  const std::vector<std::size_t>* candidates = &everyone_;
  for (const Expression& one : *expressions) {
    if (one.op != "In" || one.values.size() != 1) continue;
    if (index_.find(one.key) == index_.end() && !spend(nodes_.size())) return too_long();
    const std::vector<std::size_t>& with = nodes_with(one.key, one.values.front());
    if (with.size() < candidates->size()) candidates = &with;
  }
  if (!spend(candidates->size() * expressions->size())) return too_long();
  std::vector<std::string> out;
  for (const std::size_t i : *candidates) {
    const bool all = std::all_of(expressions->begin(), expressions->end(),
                                 [&](const Expression& one) { return holds(one, nodes_[i]); });
    if (all) out.push_back(nodes_[i].name);
  }
  return out;
}

}  // namespace chipweave::codec

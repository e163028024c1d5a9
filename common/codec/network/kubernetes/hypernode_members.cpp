#include "common/codec/network/kubernetes/hypernode_members.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMaxPatternBytes = 4096;
constexpr std::int64_t kMaxPatternMemory = 1 << 20;  // of the compiled pattern and its automaton
// The automaton of a pattern up to this size fits into that memory, so that a byte costs one step;
// a larger one may cost a step an instruction.
constexpr std::size_t kSmallProgram = 16;

Error too_long() {
  return make_error(Errc::limit_exceeded,
                    "the selectors together take too long; name members by exactMatch");
}

RE2::Options pattern_options() {
  RE2::Options out;
  out.set_log_errors(false);
  out.set_max_mem(kMaxPatternMemory);
  out.set_never_capture(true);
  return out;
}

std::string shown_pattern(std::string_view pattern, const std::string& why) {
  return "pattern " + quoted_excerpt(pattern) + ": " + why;
}

struct Expression {
  std::string key;
  std::string op;
  std::vector<std::string> values;
};

Result<std::vector<Expression>> read_expressions(JsonValue match) {
  std::vector<Expression> out;
  for (const JsonValue label : members_by_name(match["matchLabels"])) {
    out.push_back({std::string(label.name()), "In", {text_or_empty(label)}});
  }
  for (const JsonValue one : list_at(match, "matchExpressions")) {
    Expression made{text_or_empty(one["key"]), text_or_empty(one["operator"]), {}};
    for (const JsonValue value : list_at(one, "values")) {
      if (auto text = text_or_integer(value)) made.values.push_back(*std::move(text));
    }
    const bool known =
        made.op == "In" || made.op == "NotIn" || made.op == "Exists" || made.op == "DoesNotExist";
    if (!known || made.key.empty()) {
      return network_error(
          "labelMatch: operator must be In, NotIn, Exists or DoesNotExist and have a key, got " +
          quoted_excerpt(made.op));
    }
    out.push_back(std::move(made));
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
      all_nodes_(nodes.size()) {
  for (const LabelledNode& node : nodes_) names_.insert(node.name);
  std::iota(all_nodes_.begin(), all_nodes_.end(), std::size_t{0});
}

bool HyperNodeMembers::spend_tests(std::size_t tests) {
  if (tests > tests_) return false;
  tests_ -= tests;
  return true;
}

bool HyperNodeMembers::spend_on_pattern(std::size_t cost) {
  if (cost > pattern_cost_) return false;
  pattern_cost_ -= cost;
  return true;
}

Result<std::vector<std::string>> HyperNodeMembers::select(JsonValue member, bool of_nodes) {
  const JsonValue selector = member["selector"];
  const JsonValue exact_match = selector["exactMatch"];
  const JsonValue pattern = selector["regexMatch"];
  const JsonValue labels = selector["labelMatch"];
  if ((exact_match ? 1 : 0) + (pattern ? 1 : 0) + (labels ? 1 : 0) != 1) {
    return network_error("selector must have exactly one of exactMatch, regexMatch and labelMatch");
  }
  if (exact_match) return exact(exact_match, of_nodes);
  if (labels && !of_nodes) {
    return network_error("labelMatch selects nodes only; name HyperNodes by exactMatch");
  }
  if (of_nodes && nodes_.empty()) {
    if (!warned_of_no_nodes_) {
      warnings_.add(
          "HyperNodes select nodes by pattern or labels, but the file holds no Node objects; "
          "append the output of kubectl get nodes -o yaml");
    }
    warned_of_no_nodes_ = true;
    if (!pattern) return std::vector<std::string>{};
  }
  return pattern ? by_pattern(pattern, of_nodes) : by_labels(labels);
}

Result<std::vector<std::string>> HyperNodeMembers::exact(JsonValue match, bool of_nodes) {
  const auto name = text_or_integer(match["name"]);
  if (!name || name->empty()) return network_error("exactMatch has no name");
  if (of_nodes && !nodes_.empty() && names_.count(*name) == 0) {
    warnings_.add("node " + quoted_excerpt(*name) +
                  " is a member but not among the Node objects; it is left out");
    return std::vector<std::string>{};
  }
  return std::vector<std::string>{*name};
}

Result<std::vector<std::string>> HyperNodeMembers::by_pattern(JsonValue match, bool of_nodes) {
  const auto text = text_or_integer(match["pattern"]);
  if (!text) return network_error("regexMatch has no pattern");
  if (text->size() > kMaxPatternBytes) {
    return make_error(
        Errc::limit_exceeded,
        shown_pattern(*text, "must have at most " + std::to_string(kMaxPatternBytes) + " bytes"));
  }
  static const RE2::Options kOptions = pattern_options();
  const RE2 pattern(*text, kOptions);
  if (!pattern.ok()) return network_error(shown_pattern(*text, in_quotes(pattern.error())));
  if (!spend_tests(of_nodes ? nodes_.size() : hypernodes_.size())) return too_long();
  const auto size = static_cast<std::size_t>(pattern.ProgramSize());
  const std::size_t cost_of_byte = size <= kSmallProgram ? 1 : size;
  if (!spend_on_pattern(size)) return too_long();
  std::vector<std::string> out;
  const auto try_name = [&](const std::string& name) {
    if (!spend_on_pattern((name.size() + 1) * cost_of_byte)) return false;
    if (RE2::PartialMatch(name, pattern)) out.push_back(name);
    return true;
  };
  if (of_nodes) {
    for (const LabelledNode& node : nodes_) {
      if (!try_name(node.name)) return too_long();
    }
    return out;
  }
  if (!std::all_of(hypernodes_.begin(), hypernodes_.end(), try_name)) return too_long();
  return out;
}

const std::vector<std::size_t>& HyperNodeMembers::nodes_with(const std::string& label,
                                                             const std::string& value) {
  static const std::vector<std::size_t> kNone;
  auto found = index_.find(label);
  if (found == index_.end()) {
    found = index_.emplace(label, std::map<std::string, std::vector<std::size_t>>{}).first;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const auto has = nodes_[i].labels.find(label);
      if (has != nodes_[i].labels.end()) found->second[has->second].push_back(i);
    }
  }
  const auto nodes = found->second.find(value);
  return nodes == found->second.end() ? kNone : nodes->second;
}

Result<std::vector<std::string>> HyperNodeMembers::by_labels(JsonValue match) {
  const Result<std::vector<Expression>> expressions = read_expressions(match);
  if (!expressions) return expressions.error();
  if (expressions->empty()) return network_error("labelMatch is empty");
  // The rarest of the labels that must have one value narrows the search.
  const std::vector<std::size_t>* candidates = &all_nodes_;
  for (const Expression& one : *expressions) {
    if (one.op != "In" || one.values.size() != 1) continue;
    if (index_.find(one.key) == index_.end() && !spend_tests(nodes_.size())) return too_long();
    const std::vector<std::size_t>& with = nodes_with(one.key, one.values.front());
    if (with.size() < candidates->size()) candidates = &with;
  }
  if (!spend_tests(candidates->size() * expressions->size())) return too_long();
  std::vector<std::string> out;
  for (const std::size_t i : *candidates) {
    const bool all = std::all_of(expressions->begin(), expressions->end(),
                                 [&](const Expression& one) { return holds(one, nodes_[i]); });
    if (all) out.push_back(nodes_[i].name);
  }
  return out;
}

}  // namespace chipweave::codec

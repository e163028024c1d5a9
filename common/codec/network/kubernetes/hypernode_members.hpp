// HyperNodeMembers — the names that a member's selector selects: exactMatch, regexMatch (a Go
// regular expression, which is RE2's syntax), labelMatch. Internal to common/codec/network.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/network/kubernetes/labelled_nodes.hpp"

namespace chipweave::codec {

class HyperNodeMembers {
 public:
  // Keeps the references.
  HyperNodeMembers(const std::vector<LabelledNode>& nodes, std::vector<std::string> hypernodes,
                   Warnings& warnings);

  // Errors: no selector or several, a pattern that RE2 refuses, selectors that together take too
  // long (kMaxTests, kMaxPatternCost). Without Node objects in the file, patterns and labels select
  // no nodes, with a warning.
  Result<std::vector<std::string>> select(JsonValue member, bool of_nodes);

  static constexpr std::size_t kMaxTests = 50'000'000;         // of nodes against selectors
  static constexpr std::size_t kMaxPatternCost = 100'000'000;  // of names against patterns

 private:
  Result<std::vector<std::string>> exact(JsonValue match, bool of_nodes);
  Result<std::vector<std::string>> by_pattern(JsonValue match, bool of_nodes);
  Result<std::vector<std::string>> by_labels(JsonValue match);
  // Nodes that can have the labels: those of the first, or all.
  const std::vector<std::size_t>& nodes_with(const std::string& label, const std::string& value);
  bool spend_tests(std::size_t tests);
  bool spend_on_pattern(std::size_t cost);

  const std::vector<LabelledNode>& nodes_;
  std::vector<std::string> hypernodes_;
  Warnings& warnings_;
  std::set<std::string_view> names_;
  // label → value → nodes, made when a label is first used
  std::map<std::string, std::map<std::string, std::vector<std::size_t>>> index_;
  std::vector<std::size_t> all_nodes_;
  std::size_t tests_ = kMaxTests;
  std::size_t pattern_cost_ = kMaxPatternCost;
  bool warned_of_no_nodes_ = false;
};

}  // namespace chipweave::codec

// HyperNodeMembers — the names that a member's selector stands for: exactMatch, regexMatch,
// labelMatch. Internal to common/codec/network.
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
  // References are kept.
  HyperNodeMembers(const std::vector<LabelledNode>& nodes, std::vector<std::string> hypernodes,
                   Warnings& warnings);

  // Errors: no selector or several, a pattern that cannot be used, selectors that together take
  // too long (kMaxTests, kMaxSteps). A Node selector that needs Node objects where there are none
  // gets nothing, with a warning.
  Result<std::vector<std::string>> select(const Json& member, bool of_nodes);

  static constexpr std::size_t kMaxTests = 50'000'000;   // of nodes against selectors
  static constexpr std::size_t kMaxSteps = 100'000'000;  // of patterns

 private:
  Result<std::vector<std::string>> exact(const Json& match, bool of_nodes);
  Result<std::vector<std::string>> by_pattern(const Json& match, bool of_nodes);
  Result<std::vector<std::string>> by_labels(const Json& match);
  // Nodes that can have the labels: those of the first, or all.
  const std::vector<std::size_t>& nodes_with(const std::string& label, const std::string& value);
  bool spend(std::size_t tests);

  const std::vector<LabelledNode>& nodes_;
  std::vector<std::string> hypernodes_;
  Warnings& warnings_;
  std::set<std::string_view> names_;
  // label → value → nodes, made for a label when it is asked for
  std::map<std::string, std::map<std::string, std::vector<std::size_t>>> index_;
  std::vector<std::size_t> everyone_;
  std::size_t tests_ = kMaxTests;
  std::size_t steps_ = kMaxSteps;
  bool told_ = false;
};

}  // namespace chipweave::codec

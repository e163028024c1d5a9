// NetworkTableBuilder — collects the nodes of a NetworkTable and checks its invariants: unique
// names, one path element for each level, the limits. Internal to common/codec/network.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/network_table.hpp"

namespace chipweave::codec {

class NetworkTableBuilder {
 public:
  // Levels coarsest first. Errors: a name that is empty or given twice, more than
  // limits::kMaxNetworkLevels.
  static Result<NetworkTableBuilder> make(std::vector<std::string> levels,
                                          std::vector<std::string> accelerator_levels = {});

  // `where` is the node's place in the file: "line 3". An `accelerator` of only empty elements
  // counts as none.
  Result<void> add(domain::NetworkNode node, std::string_view where);
  std::size_t size() const { return table_.nodes.size(); }
  domain::NetworkTable take() && { return std::move(table_); }

 private:
  domain::NetworkTable table_;
  std::unordered_map<std::string, std::string> places_;  // node name → where
};

// Of a node, a domain or a level: not empty, at most limits::kMaxNameBytes, no control characters.
// `what` begins the message: "switch".
Result<void> check_network_name(std::string_view what, std::string_view name);

// Level names for a tree of switches without its own: leaf; spine, leaf; core, spine, leaf; tier-4,
// core, spine, leaf …
std::vector<std::string> switch_levels(std::size_t depth);

}  // namespace chipweave::codec

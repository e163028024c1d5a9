// NetworkTableBuilder — collects the nodes of a NetworkTable and checks its invariants: unique
// names, one path element for each level, the limits. After the first error it takes nothing more,
// and take() returns it. Internal to common/codec/network.
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
  // limits::kMaxNetworkLevels. `where` is the place of the levels in the file.
  explicit NetworkTableBuilder(std::vector<std::string> levels,
                               std::vector<std::string> accelerator_levels = {},
                               const std::string& where = {});

  // `where` is the node's place in the file: "line 3". An `accelerator` of only empty elements
  // counts as none. Returns ok().
  bool add(domain::NetworkNode node, std::string_view where);
  bool ok() const { return good_.ok(); }
  std::size_t size() const { return table_.nodes.size(); }
  Result<domain::NetworkTable> take() && {
    if (!good_) return std::move(good_).error();
    return std::move(table_);
  }

 private:
  Result<void> check_and_add(domain::NetworkNode node, std::string_view where);

  Result<void> good_;
  domain::NetworkTable table_;
  std::unordered_map<std::string, std::string> places_;  // node name → where
};

// The name of a node, domain or level must be: not empty, at most limits::kMaxNameBytes, no control
// characters. `what` begins the message: "switch".
Result<void> check_network_name(std::string_view what, std::string_view name);

// Level names for a tree of switches without its own: leaf; spine, leaf; core, spine, leaf; tier-4,
// core, spine, leaf …
std::vector<std::string> switch_levels(std::size_t depth);

}  // namespace chipweave::codec

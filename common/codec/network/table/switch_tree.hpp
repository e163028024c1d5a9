// SwitchTree — switches below switches and nodes below any of them, in any order of declaration;
// becomes a NetworkTable. Internal to common/codec/network.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/text/warnings.hpp"
#include "common/domain/network_table.hpp"

namespace chipweave::codec {

class SwitchTree {
 public:
  // A switch that the file declares; errors: declared twice, too many.
  Result<void> declare(const std::string& name, const std::string& where);
  // Errors: the child has another parent already.
  Result<void> connect(const std::string& parent, const std::string& child,
                       const std::string& where);
  // table() makes `node.path`; rails and accelerator are kept.
  Result<void> attach(const std::string& name, domain::NetworkNode node, const std::string& where);

  // Errors: a switch that is only named as a child.
  Result<void> require_declared() const;
  // Levels are named by depth (switch_levels). Errors: a cycle, deeper than
  // limits::kMaxNetworkLevels, a node below two switches. Warns of switches without nodes.
  Result<domain::NetworkTable> table(std::vector<std::string> accelerator_levels,
                                     Warnings& warnings) const;

 private:
  struct Switch {
    std::string name;
    std::string where;   // where it is declared; "" if it is only named
    std::string wanted;  // where it was first named
    std::size_t parent = kNone;
    std::size_t children = 0;
  };
  struct Attached {
    std::size_t to;
    domain::NetworkNode node;
    std::string where;
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  Result<std::size_t> find_or_add(const std::string& name, const std::string& where);
  // Indices from the root to `leaf`.
  Result<std::vector<std::size_t>> line_to(std::size_t leaf) const;
  void warn_of_empty(Warnings& warnings) const;

  std::vector<Switch> switches_;
  std::unordered_map<std::string, std::size_t> index_;
  std::vector<Attached> nodes_;
};

}  // namespace chipweave::codec

// Network — where the nodes are in the network; and for each accelerator resource the fabric of the
// nodes that offer it. Owner: the loop thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/solver/gang/fabric.hpp"
#include "scheduler-plugin/state/node_table.hpp"

namespace chipweave::sched {

class Network {
 public:
  explicit Network(NodeTable& nodes) : nodes_(nodes) {}
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const std::vector<std::string>& levels() const { return levels_; }
  std::optional<int> level_of(std::string_view name) const;
  solver::Fabric& fabric(const std::string& resource);
  std::vector<std::string> path_of(const std::string& node) const { return {node}; }
  std::uint64_t version() const { return 0; }

 private:
  NodeTable& nodes_;
  std::vector<std::string> levels_{"kubernetes.io/hostname"};
  std::map<std::string, solver::Fabric> fabrics_;
};

}  // namespace chipweave::sched

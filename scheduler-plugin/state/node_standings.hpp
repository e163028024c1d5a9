// NodeStandings — which pods the nodes of the cluster take, as their Node objects say: labels,
// taints, whether they are cordoned. kube-scheduler decides by the same. Owner: the loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/domain/node_selection.hpp"

namespace chipweave::sched {

class NodeStandings {
 public:
  // nullopt: there is no such Node any more.
  void set(const std::string& node, std::optional<domain::NodeStanding> standing);
  // Null: no such Node is known.
  const domain::NodeStanding* find(std::string_view node) const;
  // False: Kubernetes' node controller has tainted it. It does so for a node that is gone, but not
  // for a moment without heartbeats.
  bool is_ready(std::string_view node) const;
  // Rises with each change.
  std::uint64_t version() const { return version_; }

 private:
  std::map<std::string, domain::NodeStanding, std::less<>> nodes_;
  std::uint64_t version_ = 0;
};

}  // namespace chipweave::sched

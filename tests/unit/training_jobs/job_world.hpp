// JobWorld — a scheduler that reads objects and pods as the API server serves them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/codec/kube/pod/pod.hpp"
#include "scheduler-plugin/kube/gangs/gang_book.hpp"
#include "tests/unit/sched/world.hpp"
#include "tests/unit/training_jobs/controllers.hpp"

namespace chipweave::sched::test {

inline constexpr int kRacks = 4;
inline constexpr int kNodesOfRack = 4;
inline constexpr const char* kRackLabel = "cloud.provider.com/topology-rack";

class JobWorld : public World {
 public:
  // kinds: as scheduler.gangs.kinds. resource: whose chips the nodes have.
  explicit JobWorld(std::vector<std::string> kinds, std::string resource = "nvidia.com/gpu");

  // 16 nodes in four racks of two blocks.
  void add_racks(const std::string& machine);
  // Fills so many nodes of each rack; in the first rack only with `first_only`.
  void occupy(int nodes, bool first_only);
  // The objects of a kind that is switched on are read.
  void read_objects(const std::vector<Json>& objects);
  // The pod waits.
  PodRequest create(const Json& pod);
  // Binds the pod to the node that filter leaves, and returns its path in the network: block, rack,
  // node. Empty: filter leaves none, or several.
  std::vector<std::string> place(const PodRequest& pod);
  // Why no node will do, if that is one text for all.
  std::string refusal(const PodRequest& pod);
  // The pods of the plan of a gang by rank; "" for one that has not come.
  std::vector<std::string> ranks(const std::string& gang) const;
  // What `chipweave gangs NAMESPACE/NAME` prints.
  std::string printed(const std::string& gang) const;

 private:
  std::string resource_;
  std::vector<std::string> kinds_;
  GangBook book_;
};

// As the API server serves it.
codec::KubePod kube_pod_of(const Json& pod);

}  // namespace chipweave::sched::test

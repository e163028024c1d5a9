// Decision — a bound pod's placement, with the data needed to write and later to explain it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/solver/chips/machine.hpp"
#include "scheduler-plugin/model/node_id.hpp"
#include "scheduler-plugin/model/pod.hpp"
#include "scheduler-plugin/model/verdict.hpp"

namespace chipweave::sched {

// Nodes that were considered and got the same verdict.
struct Considered {
  std::string node;       // the first of them by name
  std::size_t count = 0;  // how many
  Cause cause = Cause::none;
  std::string reason;  // why rejected, or why another node was better
  double gbps = 0;
};

// Nodes by id, a bit each. Pods that were offered the same nodes share one.
using NodeSet = std::vector<bool>;

// What the pod's last filter or prioritize found; kept for explanations.
struct LastEvaluation {
  NodeId node = kNoNode;                   // the best one
  std::uint64_t life = 0;                  // Node::life at that time
  std::optional<solver::Request> request;  // none after the node's chips changed
  double gbps = 0;
  double best_gbps = 0;
  std::vector<Considered> others;  // best first, at most kMaxConsidered
  // The nodes in the filter request that have inventory. The caller had ruled out the others (node
  // selector, taints, other resources).
  std::shared_ptr<const NodeSet> offered;
  bool in_sessions = false;  // evaluated node by node: the offered nodes are not known
};
inline constexpr std::size_t kMaxConsidered = 16;

// The chips of one container, as vendor indices, ascending.
struct ContainerChips {
  std::string container;
  bool init = false;
  std::vector<int> indices;
};

// The pod's place in the plan of its gang.
struct GangPlace {
  std::string name;  // of the gang
  std::string plan;  // its id
  int rank = 0;
  int size = 0;                   // pods of the plan
  std::vector<std::string> path;  // of the domains that its node is in, coarsest first
};

struct Decision {
  std::string id;  // "d-000123"
  PodKey pod;
  std::string uid;
  std::string resource;
  NodeId node = kNoNode;
  domain::ChipSet chips;     // slots at the time of the decision
  std::vector<int> indices;  // vendor indices of the same chips
  // Chips of different containers are disjoint, but those of an init container are also others'.
  // Empty: the pod's containers are not known.
  std::vector<ContainerChips> containers;
  domain::ChipSet beside;  // chips of the same job on the node at that time
  double gbps = 0;         // for chips and already held ones together
  double best_gbps = 0;
  // What the chips likely have that the kubelet gives instead, where nothing makes it give these;
  // nullopt: it gives these, or others cost nothing.
  std::optional<double> unenforced_gbps;
  bool distributed = false;
  std::optional<solver::Request>
      request;  // of the pod; of a group: of the union; none after the node's chips changed
  bool of_group = false;
  std::shared_ptr<const GangPlace> gang;  // null: none
  Clock::Wall time;
  std::int64_t predicate_time = 0;  // UnixNano, strictly rising per node
  std::vector<Considered> others;
};

}  // namespace chipweave::sched

// MoveProblem — a DefragRequest laid out for the searches: nodes depth-first, so that each domain
// is a range of them, domains of the target level, and the movable pods by node. All are named by
// their positions here. Internal to plan_moves().
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/solver/gang/defrag/defrag.hpp"

namespace chipweave::solver {

inline std::size_t to_index(int position) { return static_cast<std::size_t>(position); }

struct PlacedNode {
  FabricNodeId id = kNowhere;
  bool healthy = true;
  bool pinned = false;     // chips are in use whatever moves
  std::int64_t free = 0;   // chips
  std::int64_t slots = 0;  // further pods
  int domain = 0;
  int group = 0;      // numbered from 0
  int first_pod = 0;  // its movable pods, a range
  int last_pod = 0;
  DomainId keep_class = kRootDomain;  // nodes of one class are alike to every pod's keep_level
};

struct MovablePod {
  std::size_t input = 0;  // position in the request
  int node = 0;
  std::int64_t chips = 0;
  std::int64_t released = 0;
  int first_node = 0;  // the nodes that its keep_level allows, a range
  int last_node = 0;
  int group = 0;  // of its node
  bool distributed = false;
};

struct TargetDomain {
  std::uint32_t id = 0;
  int first_node = 0;
  int last_node = 0;
  bool counts = false;     // has a healthy node with chips
  bool free = false;       // now
  bool candidate = false;  // in use now, and can become free
  std::int64_t chips = 0;  // of its movable pods
  int pods = 0;
  std::int64_t holes = 0;  // chips free on its healthy nodes that moved pods can use
  int component = 0;       // no pod moves from one component to another
};

// What a set of moves comes to.
struct MoveScore {
  int gain = 0;  // at most the wanted number
  std::int64_t chips = 0;
  int pods = 0;
  bool better_than(const MoveScore& other) const {
    if (gain != other.gain) return gain > other.gain;
    return std::pair(chips, pods) < std::pair(other.chips, other.pods);
  }
};

inline constexpr int kStays = -1;
using Targets = std::vector<int>;  // by movable pod: the node that it moves to, or kStays

class MoveProblem {
 public:
  explicit MoveProblem(const DefragRequest& request);

  const DefragRequest& request() const { return request_; }
  MoveFit* fit() const { return request_.fit; }
  const std::vector<PlacedNode>& nodes() const { return nodes_; }
  const std::vector<MovablePod>& pods() const { return pods_; }
  const std::vector<TargetDomain>& domains() const { return domains_; }
  int groups() const { return groups_; }
  int components() const { return components_; }
  int free_domains() const { return free_domains_; }
  bool whole_nodes() const { return request_.target.level == domain::kNoLevel; }
  // Candidates, those that need the fewest chips moved first, then the fewest pods.
  const std::vector<int>& candidates() const { return candidates_; }

  // By domain: whether it is free after these moves.
  std::vector<char> free_after(const Targets& targets) const;
  MoveScore score(const Targets& targets) const;
  // No plan gains more domains.
  int most_gain() const { return most_gain_; }
  // No plan that gains so many domains has a better score. Precondition: gain <= most_gain().
  MoveScore least_cost(int gain) const;

 private:
  void lay_out_nodes();
  void lay_out_pods();
  void find_keep_ranges();
  void describe_domains();
  void find_most_gain();

  DefragRequest request_;
  std::vector<PlacedNode> nodes_;
  std::vector<MovablePod> pods_;
  std::vector<TargetDomain> domains_;
  std::vector<int> candidates_;
  int groups_ = 1;
  int components_ = 1;
  int free_domains_ = 0;
  int most_gain_ = 0;
};

}  // namespace chipweave::solver

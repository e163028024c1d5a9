// Demand — what typical pods ask for, and therefore what the free chips of a node are good for.
//
// Chips without CPU or memory beside them cannot be used, and neither can chips of which no set is
// left that a typical pod could take: the fragmentation of the FGD paper ("Beware of
// Fragmentation", USENIX ATC 2023). Here each class of pods counts the more the fewer nodes can
// serve it, so that the only nodes for some pods are not filled with others. An immutable value.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/solver/chips/machine.hpp"
#include "common/solver/nodes/room.hpp"

namespace chipweave::solver {

// Pods that ask for the same.
struct DemandClass {
  int chips = 0;
  Room needs;
  friend auto operator<=>(const DemandClass&, const DemandClass&) = default;
};
struct CountedClass {
  DemandClass pod;
  std::uint64_t count = 0;
};

// Nodes that are alike when they are empty.
struct EmptyNodes {
  int chips = 0;
  OpenSizes open = 0;
  double machine_gbps = 0;  // of all chips together
  Room room;
  std::size_t nodes = 0;
};

class Demand {
 public:
  // Classes beyond the most frequent ones do not count.
  static constexpr std::size_t kMaxClasses = 64;

  // As long as nothing is known of pods or of nodes: pods of 1, 2, 4 and 8 chips are equally
  // frequent, and CPU and memory do not matter.
  Demand();
  // pods: the most frequent classes first. Besides them a few pods count that need a whole node of
  // each kind. Without pods, or without CPU and memory of any node, it is the default.
  Demand(std::span<const CountedClass> pods, std::span<const EmptyNodes> nodes);

  // Whether CPU and memory count.
  bool knows_rooms() const { return !speeds_.empty(); }
  // What the free chips of a node are good for: each counts for the classes of pods of which one
  // could run there now. Of the order of the number of chips.
  double worth(int free, OpenSizes open, const Room& room) const;
  // How many chips it is worth to leave a machine of that speed to pods that need it, if none is
  // faster: the less the more chips are on machines that are as fast.
  double fast_chips(double machine_gbps) const;

 private:
  static constexpr int kSizes = 4;  // 1, 2, 4, 8
  struct Need {
    std::int32_t cores, gib;
    double weight;
  };
  struct Speed {
    double gbps;
    double share;  // of all chips: on machines that are at least as fast
  };
  std::array<std::vector<Need>, kSizes> needs_;
  std::array<double, kSizes> weights_{};  // sums of needs_
  std::vector<Speed> speeds_;             // fastest first; empty: nothing is known
};

}  // namespace chipweave::solver

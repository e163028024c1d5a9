// NodeChips — the chips of all pods of a gang that share a node: one best joint set for them
// together, dealt out so that neighbours in rank are neighbours on the links. All pods or none.
//
// The union is Machine::choose_group's: no set of that many chips that can be dealt into legal
// parts is faster, together with what the gang holds there already. Of the ways to deal it out
// those come first that are best for the slowest pod, then for the sum of the pods (as
// choose_group says); among them the one whose parts, in rank order, hang together best:
// 1. the largest sum of fast bandwidth (direct links or switches) from each pod to the next one,
// 2. the largest least such hop, 3. the largest sum over the widest ways (routed or host where
// nothing faster joins two pods), 4. the fastest hop from the last pod back to the first, 5. the
// pods with the lower chips first. Exact for at most kMaxExactChain (8) pods (tours.hpp) and
// kMaxDealWork, which is every case of up to 8 chips.
//
// Rails. A pod's list of chips stays ascending by index, so the local index of a chip means the
// same on every node; ring_order() is advice for a rank file, never a permutation of that list.
// The order of pods depends on nothing but the machine, the set and the sizes: nodes of one
// topology class that give the same set give it in the same order, so local rank i is the same
// chip, next to the same NIC, on each of them. Where all hops are alike (switches, full meshes) the
// order is by index and local rank i is the chip next to NIC i.
//
// Pure but for the memo of the Machine; the thread that owns the Machine may call.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/solver/chips/machine.hpp"

namespace chipweave::solver {

struct PodsOnNode {
  ChipSet usable;           // free and healthy slots; those in `already_held` do not count
  ChipSet already_held;     // slots that other pods of the gang hold on this node
  std::vector<int> sizes;   // chips of each new pod, in rank order; 0: a pod without chips
  bool distributed = true;  // the gang has more than one pod; some vendor rules differ
};

// How much is spent, in hops that are looked at, to find the deal whose pods hang together best;
// beyond, the best of those seen counts. The dearest case of 8 chips takes half of it.
inline constexpr std::uint64_t kMaxDealWork = 8'000'000;

// parts: by pod, in rank order; empty for a pod without chips. Cost on top of choose_group: some
// microseconds where all hops of the set are alike, else up to some tens of milliseconds. Not
// memoised.
GroupChoice choose_for_pods(Machine& machine, const PodsOnNode& pods);

// By k = 1…`pods`: the predicted GB/s of the joint set (with `already_held`) that k pods of
// `chips_per_pod` chips would get; nullopt where they do not fit; 0 where one chip has none to talk
// to. Worth keeping by (machine, usable, already_held).
std::vector<std::optional<double>> gbps_of_pods(Machine& machine, ChipSet usable, int pods,
                                                int chips_per_pod, ChipSet already_held = {},
                                                bool distributed = true);

// The slots of `set` along one ring from its lowest on: the narrowest hop is as wide as can be,
// then the sum of the hops is largest, then the lower slots come first. A hop is the widest way of
// a pair: direct link, switch, routed over third chips, host. Cost and exactness: best_ring
// (tours.hpp).
std::vector<int> ring_order(const domain::NodeTopology& topology, ChipSet set);

}  // namespace chipweave::solver

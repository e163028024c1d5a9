// NodeChips — the chips of all pods of a gang that share a node: the best joint set for them, split
// so that pods with neighbouring ranks are close. All pods or none.
//
// The union is that of Machine::choose_group: no set of that many chips that splits into legal
// parts is faster, together with the chips that the gang holds there already. Of its splits those
// are considered that are best for the slowest pod, then for the sum of the pods; among them the
// one whose parts, in rank order, have
// 1. the largest sum of fast bandwidth (direct links or switches) from each pod to the next one,
// 2. the largest minimum of these hops,
// 3. the largest sum over the widest paths (routed or host where two pods have nothing faster),
// 4. the fastest hop from the last pod back to the first,
// 5. the lower chips in the first pods.
// Exact for at most kMaxExactChain (8) pods (tours.hpp) and within kMaxSplitSteps, which covers
// every case of up to 8 chips.
//
// Rails. A pod's list of chips stays ascending by index, so the local index of a chip means the
// same on every node; ring_order() is advice for a rank file, never a permutation of that list. The
// order of pods depends on nothing but the machine, the set and the sizes: nodes of one topology
// class that give the same set give it in the same order, so local rank i is the same chip, next to
// the same NIC, on each of them. Where all hops are equal (switches, full meshes) the order is by
// index, and local rank i is the chip next to NIC i.
//
// Pure except for the memo of the Machine; call from the thread that owns the Machine.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/solver/chips/machine.hpp"
#include "common/solver/gang/chips/tours.hpp"

namespace chipweave::solver {

// The budget, in hops evaluated, for finding the split with the closest pods; beyond it the best
// one so far counts. The most expensive case of 8 chips needs half of it.
inline constexpr std::uint64_t kMaxSplitSteps = 8'000'000;

// pods.sizes: in rank order; 0 is a pod without chips, whose part is empty. among: where not empty,
// the joint set is one of these, and pods.already_held must be empty. Cost in addition to
// choose_group: some microseconds where all hops of the set are equal, else up to some tens of
// milliseconds. Not memoised.
GroupChoice choose_for_pods(Machine& machine, const GroupRequest& pods,
                            const std::vector<ChipSet>& among = {});

// By k = 1…`pods`: the predicted GB/s of the joint set (with `already_held`) of k pods of
// `chips_per_pod` chips; nullopt if they do not fit; 0 for a single chip. Worth memoising by
// (machine, usable, already_held).
std::vector<std::optional<double>> gbps_of_pods(Machine& machine, ChipSet usable, int pods,
                                                int chips_per_pod, ChipSet already_held = {},
                                                bool distributed = true);

// The hops between the slots of `set`, ascending: direct link, switch, routed over third chips, or
// host.
HopTable chip_hops(const domain::NodeTopology& topology, ChipSet set);

// The slots of `set` along the ring whose narrowest hop is widest, then with the largest sum of
// hops, then with the lowest slots first; starts at the lowest slot. Cost and exactness: best_ring
// (tours.hpp).
std::vector<int> ring_order(const domain::NodeTopology& topology, ChipSet set);

}  // namespace chipweave::solver

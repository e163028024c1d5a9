#include "common/solver/gang/chips/node_chips.hpp"

#include <algorithm>
#include <utility>

#include "common/solver/chips/group_split.hpp"
#include "common/solver/gang/chips/tours.hpp"

namespace chipweave::solver {
namespace {

// The wider of all direct links and all switches between two sets, since libraries use one of them
// per pair. For single chips it is the fast path of the bandwidth model.
Rate fast_between(const Wiring& wiring, ChipSet a, ChipSet b) {
  Rate direct = 0;
  for (const int i : a) {
    for (const int j : b) direct += wiring.direct(i, j);
  }
  Rate switched = 0;
  for (const Plane& plane : wiring.planes()) {
    const auto egress = [&plane](ChipSet set) {
      Rate sum = 0;
      for (const int i : set& plane.members) sum += plane.egress[static_cast<std::size_t>(i)];
      return sum;
    };
    switched += std::min(egress(a), egress(b));
  }
  return std::max(direct, switched);
}

Hop hop_between(const Wiring& wiring, ChipSet a, ChipSet b) {
  Hop hop;
  hop.fast = hop.any = fast_between(wiring, a, b);
  for (const int i : a) {
    for (const int j : b) hop.any = std::max({hop.any, wiring.routed(i, j), wiring.host(i, j)});
  }
  return hop;
}

HopTable hops_between(const Wiring& wiring, const std::vector<ChipSet>& parts) {
  const int n = static_cast<int>(parts.size());
  HopTable hops(n);
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      hops.set(i, j,
               hop_between(wiring, parts[static_cast<std::size_t>(i)],
                           parts[static_cast<std::size_t>(j)]));
    }
  }
  return hops;
}

std::vector<ChipSet> singles(ChipSet set) {
  std::vector<ChipSet> out;
  for (const int slot : set) out.push_back(ChipSet{slot});
  return out;
}

// Whether any two parts of these chips are connected like any other two of their sizes. Equal hops
// of single chips do not imply that: a link and an equally wide switch connect larger parts
// differently.
bool fully_symmetric(const Wiring& wiring, ChipSet set) {
  const int first = set.lowest();
  const Rate direct = wiring.direct(first, (set - ChipSet{first}).lowest());
  for (const int i : set) {
    for (const int j : set - ChipSet{i}) {
      if (wiring.direct(i, j) != direct) return false;
    }
  }
  for (const Plane& plane : wiring.planes()) {
    const ChipSet on = plane.members & set;
    if (on.size() < 2) continue;
    for (const int i : set) {
      const Rate egress = plane.egress[static_cast<std::size_t>(first)];
      if (on != set || plane.egress[static_cast<std::size_t>(i)] != egress) return false;
    }
  }
  return hops_between(wiring, singles(set)).uniform();
}

// Parts in rank order, with what their order is worth.
struct RankedParts {
  ChainValue chain;
  std::vector<ChipSet> parts;
};

// parts: in any order. For pods of these sizes, in rank order.
RankedParts in_rank_order(const Wiring& wiring, std::vector<ChipSet> parts,
                          const std::vector<int>& sizes) {
  std::sort(parts.begin(), parts.end(),
            [](ChipSet a, ChipSet b) { return a.lowest() < b.lowest(); });
  std::vector<int> kind;
  kind.reserve(parts.size());
  for (const ChipSet part : parts) kind.push_back(part.size());
  const HopTable hops = hops_between(wiring, parts);
  const std::vector<int> order = best_chain(hops, kind, sizes);
  RankedParts out;
  out.chain = chain_value(hops, order);
  for (const int k : order) out.parts.push_back(parts[static_cast<std::size_t>(k)]);
  return out;
}

// Of the splits that are as fast as `known`, the one that choose_group found, or faster: the one
// whose parts form the best chain in rank order.
std::vector<ChipSet> closest_split(Machine& machine, const Wiring& wiring, const GroupRequest& pods,
                                   ChipSet joint, const std::vector<ChipSet>& known) {
  const ChipSet usable = pods.usable - pods.already_held;
  const auto rate = [&](ChipSet part) -> RatedPart {
    constexpr Steps kPartSteps = 400;  // its legality, and looking up its bandwidth
    if (!machine.legal(part, usable, pods.distributed)) return {false, 0, kPartSteps};
    const Bandwidth bandwidth = machine.bandwidth(part);
    return {true, bandwidth.rate, bandwidth.steps + kPartSteps};
  };
  RankedParts best = in_rank_order(wiring, known, pods.sizes);
  Split fastest{SplitSearch::kUnlimited, 0};
  for (const ChipSet part : known) fastest.add(part, rate(part).rate);
  const Split floor = fastest;
  SplitSearch search(pods.sizes, kMaxSplitSteps, rate,
                     [&](const Split& split, const std::vector<ChipSet>& parts) -> Steps {
                       RankedParts ranked = in_rank_order(wiring, parts, pods.sizes);
                       if (split > fastest || best.chain < ranked.chain) best = std::move(ranked);
                       fastest = split;
                       return chain_work(static_cast<int>(parts.size()));
                     });
  search.run(joint, floor);
  return best.parts;
}

// One pod is an ordinary request, with all criteria of Machine::choose.
GroupChoice choose_one(Machine& machine, const GroupRequest& pods) {
  const Choice choice = machine.choose({pods.usable,
                                        {},
                                        pods.already_held,
                                        pods.sizes.front(),
                                        pods.distributed,
                                        pods.objective,
                                        pods.loaded});
  GroupChoice out;
  out.fits = choice.fits;
  out.chips = choice.chips;
  if (choice.fits) out.parts.push_back(choice.chips);
  out.gbps = choice.gbps;
  out.best_gbps = choice.best_gbps;
  out.why = choice.why;
  return out;
}

GroupChoice choose_joint(Machine& machine, const GroupRequest& pods,
                         const std::vector<ChipSet>& among) {
  if (!among.empty()) return machine.choose_among(among, pods);
  return pods.sizes.size() == 1 ? choose_one(machine, pods) : machine.choose_group(pods);
}

}  // namespace

GroupChoice choose_for_pods(Machine& machine, const GroupRequest& pods,
                            const std::vector<ChipSet>& among) {
  GroupRequest with_chips = pods;
  std::erase(with_chips.sizes, 0);
  GroupChoice out;
  if (with_chips.sizes.empty()) {
    out.fits = true;
    out.parts.assign(pods.sizes.size(), ChipSet());
    return out;
  }
  out = choose_joint(machine, with_chips, among);
  if (!out.fits) return out;
  // The split of another objective than bandwidth is the one that it is best with.
  if (with_chips.sizes.size() > 1 && pods.objective == domain::Objective::bandwidth) {
    const Wiring& wiring = machine.wiring();
    // Where all chips are connected alike no split is closer than the known one.
    out.parts = fully_symmetric(wiring, out.chips)
                    ? in_rank_order(wiring, out.parts, with_chips.sizes).parts
                    : closest_split(machine, wiring, with_chips, out.chips, out.parts);
  }
  for (std::size_t k = 0; k < pods.sizes.size(); ++k) {
    const auto at = out.parts.begin() + static_cast<std::ptrdiff_t>(k);
    if (pods.sizes[k] == 0) out.parts.insert(at, ChipSet());
  }
  return out;
}

std::vector<std::optional<double>> gbps_of_pods(Machine& machine, ChipSet usable, int pods,
                                                int chips_per_pod, ChipSet already_held,
                                                bool distributed) {
  std::vector<std::optional<double>> out;
  GroupRequest request{usable, already_held, {}, distributed};
  for (int k = 1; k <= pods; ++k) {
    request.sizes.assign(static_cast<std::size_t>(k), chips_per_pod);
    if (chips_per_pod == 0) {
      out.emplace_back(0);
      continue;
    }
    const GroupChoice choice = choose_joint(machine, request, {});
    out.push_back(choice.fits ? std::optional(choice.gbps) : std::nullopt);
  }
  return out;
}

HopTable chip_hops(const domain::NodeTopology& topology, ChipSet set) {
  return hops_between(Wiring(topology), singles(set));
}

std::vector<int> ring_order(const domain::NodeTopology& topology, ChipSet set) {
  std::vector<int> slots;
  for (const int slot : set) slots.push_back(slot);
  std::vector<int> out;
  for (const int k : best_ring(chip_hops(topology, set)))
    out.push_back(slots[static_cast<std::size_t>(k)]);
  return out;
}

}  // namespace chipweave::solver

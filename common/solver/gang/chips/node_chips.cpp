#include "common/solver/gang/chips/node_chips.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "common/solver/gang/chips/tours.hpp"

namespace chipweave::solver {
namespace {

// The wider of all direct links and all switches between two sets: libraries use one of them for a
// pair. For single chips it is the fast way of the bandwidth model.
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

// Whether any two parts of these chips are joined like any other two of their sizes. Equal hops of
// single chips alone do not say so: a link and a switch that are as wide join larger parts
// differently.
bool all_alike(const Wiring& wiring, ChipSet set) {
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

// One way to deal a union out, in rank order.
struct Deal {
  Rate slowest = 0;  // of the pods with several chips
  Rate sum = 0;
  ChainValue chain;
  std::vector<ChipSet> parts;
};

// parts: any order, ascending by lowest chip after this. Dealt out to pods of these sizes.
Deal in_rank_order(const Wiring& wiring, std::vector<ChipSet> parts,
                   const std::vector<int>& sizes) {
  std::sort(parts.begin(), parts.end(),
            [](ChipSet a, ChipSet b) { return a.lowest() < b.lowest(); });
  std::vector<int> kind;
  kind.reserve(parts.size());
  for (const ChipSet part : parts) kind.push_back(part.size());
  const HopTable hops = hops_between(wiring, parts);
  const std::vector<int> order = best_chain(hops, kind, sizes);
  Deal deal;
  deal.chain = chain_value(hops, order);
  for (const int k : order) deal.parts.push_back(parts[static_cast<std::size_t>(k)]);
  return deal;
}

// All ways to deal a union out, each once: the part with the lowest chip left is made first.
class Deals {
 public:
  Deals(Machine& machine, const Wiring& wiring, const PodsOnNode& pods, std::vector<int> sizes)
      : machine_(machine),
        wiring_(wiring),
        usable_(pods.usable - pods.already_held),
        distributed_(pods.distributed),
        in_order_(sizes),
        left_(std::move(sizes)) {
    std::sort(left_.begin(), left_.end());
  }

  // `known`: a deal that choose_group has found.
  Deal best(ChipSet joint, const std::vector<ChipSet>& known) {
    best_ = in_rank_order(wiring_, known, in_order_);
    best_.slowest = kNoLimit;
    for (const ChipSet part : known) add(part, best_.slowest, best_.sum);
    deal(joint, kNoLimit, 0);
    return best_;
  }

 private:
  static constexpr Rate kNoLimit = std::numeric_limits<Rate>::max();  // pods of one chip

  static constexpr std::uint64_t kPartWork = 400;  // its legality and bandwidth

  bool tired() const { return work_ > kMaxDealWork; }

  void add(ChipSet part, Rate& slowest, Rate& sum) {
    if (part.size() < 2) return;
    const Rate rate = to_rate(machine_.gbps(part));
    slowest = std::min(slowest, rate);
    sum += rate;
  }

  void deal(ChipSet pool, Rate slowest, Rate sum) {
    if (pool.empty()) {
      settle(slowest, sum);
      return;
    }
    const ChipSet lowest{pool.lowest()};
    for (std::size_t k = 0; k < left_.size(); ++k) {
      if (k > 0 && left_[k] == left_[k - 1]) continue;  // pods alike: once
      const int size = left_[k];
      left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(k));
      fill(pool, lowest, pool - lowest, size, slowest, sum);
      left_.insert(left_.begin() + static_cast<std::ptrdiff_t>(k), size);
    }
  }

  // Completes `part` to `size` chips out of `from`, in every way.
  void fill(ChipSet pool, ChipSet part, ChipSet from, int size, Rate slowest, Rate sum) {
    if (part.size() == size) {
      work_ += kPartWork;
      if (tired() || !machine_.legal(part, usable_, distributed_)) return;
      add(part, slowest, sum);
      if (slowest < best_.slowest) return;
      parts_.push_back(part);
      deal(pool - part, slowest, sum);
      parts_.pop_back();
      return;
    }
    while (!tired() && from.size() >= size - part.size()) {
      const int slot = from.lowest();
      from.erase(slot);
      fill(pool, part | ChipSet{slot}, from, size, slowest, sum);
    }
  }

  void settle(Rate slowest, Rate sum) {
    if (std::pair(slowest, sum) < std::pair(best_.slowest, best_.sum)) return;
    work_ += chain_work(static_cast<int>(parts_.size()));
    Deal deal = in_rank_order(wiring_, parts_, in_order_);
    deal.slowest = slowest;
    deal.sum = sum;
    const auto value = [](const Deal& d) { return std::tuple(d.slowest, d.sum, d.chain); };
    if (value(best_) < value(deal)) best_ = std::move(deal);
  }

  Machine& machine_;
  const Wiring& wiring_;
  ChipSet usable_;
  bool distributed_;
  std::vector<int> in_order_;
  std::vector<int> left_;  // sizes of parts that are still to be made, ascending
  std::vector<ChipSet> parts_;
  Deal best_;
  std::uint64_t work_ = 0;
};

// One pod is an ordinary request, judged by all criteria of Machine::choose.
GroupChoice choose_one(Machine& machine, const PodsOnNode& pods, int size) {
  const Choice choice =
      machine.choose({pods.usable, {}, pods.already_held, size, pods.distributed});
  GroupChoice out;
  out.fits = choice.fits;
  out.chips = choice.chips;
  if (choice.fits) out.parts.push_back(choice.chips);
  out.gbps = choice.gbps;
  out.best_gbps = choice.best_gbps;
  out.why = choice.why;
  return out;
}

GroupChoice choose_joint(Machine& machine, const PodsOnNode& pods, const std::vector<int>& sizes) {
  if (sizes.size() == 1) return choose_one(machine, pods, sizes.front());
  return machine.choose_group(pods.usable, pods.already_held, sizes, pods.distributed);
}

}  // namespace

GroupChoice choose_for_pods(Machine& machine, const PodsOnNode& pods) {
  std::vector<int> sizes;
  for (const int size : pods.sizes) {
    if (size != 0) sizes.push_back(size);
  }
  GroupChoice out;
  if (sizes.empty()) {
    out.fits = true;
    out.parts.assign(pods.sizes.size(), ChipSet());
    return out;
  }
  out = choose_joint(machine, pods, sizes);
  if (!out.fits) return out;
  if (sizes.size() > 1) {
    const Wiring wiring(machine.topology());
    // Where all chips are joined alike no deal hangs together better: the known one will do.
    out.parts = all_alike(wiring, out.chips)
                    ? in_rank_order(wiring, out.parts, sizes).parts
                    : Deals(machine, wiring, pods, sizes).best(out.chips, out.parts).parts;
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
  PodsOnNode question{usable, already_held, {}, distributed};
  for (int k = 1; k <= pods; ++k) {
    question.sizes.assign(static_cast<std::size_t>(k), chips_per_pod);
    if (chips_per_pod == 0) {
      out.emplace_back(0);
      continue;
    }
    const GroupChoice choice = choose_joint(machine, question, question.sizes);
    out.push_back(choice.fits ? std::optional(choice.gbps) : std::nullopt);
  }
  return out;
}

std::vector<int> ring_order(const domain::NodeTopology& topology, ChipSet set) {
  const Wiring wiring(topology);
  std::vector<int> slots;
  for (const int slot : set) slots.push_back(slot);
  std::vector<int> out;
  for (const int k : best_ring(hops_between(wiring, singles(set))))
    out.push_back(slots[static_cast<std::size_t>(k)]);
  return out;
}

}  // namespace chipweave::solver

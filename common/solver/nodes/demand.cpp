#include "common/solver/nodes/demand.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace chipweave::solver {
namespace {

// Found by `chipweave simulate` (docs/develop/cluster-quality.md).
constexpr double kFastChips = 0.8;
constexpr double kFastChipsIfUnknown = 4;
constexpr std::uint64_t kPodsPerKind = 4;
constexpr std::size_t kMaxKinds = 32;
// Machines within this share of a speed are as fast.
constexpr double kAsFast = 0.95;

// The bit of OpenSizes that says whether so many chips fit; more than kMaxOpenSize count as many.
int size_bit(int chips) {
  const auto most = static_cast<unsigned>(std::clamp(chips, 1, kMaxOpenSize));
  return static_cast<int>(std::bit_width(most - 1));
}

bool serves(const EmptyNodes& node, const DemandClass& pod) {
  return pod.chips <= node.chips && (node.open >> size_bit(pod.chips) & 1) != 0 &&
         node.room.fits(pod.needs);
}

}  // namespace

Demand::Demand() {
  weights_.fill(1.0 / kSizes);
  for (auto& needs : needs_) needs.push_back({0, 0, 1.0 / kSizes});
}

Demand::Demand(std::span<const CountedClass> pods, std::span<const EmptyNodes> nodes) : Demand() {
  const auto known = [](const EmptyNodes& node) { return node.room.known; };
  std::vector<CountedClass> classes(
      pods.begin(), pods.begin() + static_cast<std::ptrdiff_t>(std::min(pods.size(), kMaxClasses)));
  // A kind of node exists because some pod needs all of it, though none may have come yet.
  std::vector<EmptyNodes> by_chips(nodes.begin(), nodes.end());
  std::stable_sort(by_chips.begin(), by_chips.end(), [](const auto& a, const auto& b) {
    return a.nodes * static_cast<std::size_t>(a.chips) >
           b.nodes * static_cast<std::size_t>(b.chips);
  });
  if (by_chips.size() > kMaxKinds) by_chips.resize(kMaxKinds);
  for (const EmptyNodes& node : by_chips) {
    if (node.room.known) classes.push_back({{node.chips, node.room}, kPodsPerKind});
  }
  double asked = 0;
  for (const CountedClass& c : classes) asked += static_cast<double>(c.count);
  if (pods.empty() || std::none_of(nodes.begin(), nodes.end(), known)) return;
  needs_ = {};
  weights_ = {};
  double all = 0;
  for (const EmptyNodes& node : nodes) all += static_cast<double>(node.nodes) * node.chips;
  for (const CountedClass& c : classes) {
    double served = 0;
    for (const EmptyNodes& node : nodes) {
      if (serves(node, c.pod)) served += static_cast<double>(node.nodes) * node.chips;
    }
    if (served <= 0) continue;
    // The root: a single odd pod does not reserve the only node that could serve it.
    const double weight = static_cast<double>(c.count) / asked * std::sqrt(all / served);
    const auto bit = static_cast<std::size_t>(size_bit(c.pod.chips));
    needs_[bit].push_back({c.pod.needs.cores, c.pod.needs.gib, weight});
    weights_[bit] += weight;
  }
  std::vector<EmptyNodes> by_speed(nodes.begin(), nodes.end());
  std::sort(by_speed.begin(), by_speed.end(),
            [](const auto& a, const auto& b) { return a.machine_gbps > b.machine_gbps; });
  double faster = 0;
  for (const EmptyNodes& node : by_speed) {
    faster += static_cast<double>(node.nodes) * node.chips;
    speeds_.push_back({node.machine_gbps, faster / all});
  }
}

double Demand::worth(int free, OpenSizes open, const Room& room) const {
  double usable = 0;
  for (std::size_t bit = 0; bit < needs_.size(); ++bit) {
    if ((open >> bit & 1) == 0) continue;
    if (!room.known) {
      usable += weights_[bit];
      continue;
    }
    for (const Need& need : needs_[bit]) {
      if (need.cores <= room.cores && need.gib <= room.gib) usable += need.weight;
    }
  }
  return free * usable;
}

double Demand::fast_chips(double machine_gbps) const {
  if (speeds_.empty()) return kFastChipsIfUnknown;
  const double least = machine_gbps * kAsFast;
  const auto slower = std::partition_point(speeds_.begin(), speeds_.end(),
                                           [&](const Speed& s) { return s.gbps >= least; });
  return slower == speeds_.begin() ? kFastChips : kFastChips * (1 - std::prev(slower)->share);
}

}  // namespace chipweave::solver

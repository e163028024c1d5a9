#include "common/solver/simulate/bounds.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace chipweave::simulate {
namespace {

// Nodes that are alike while they are empty.
struct NodeGroup {
  const ModelNode* one = nullptr;
  int chips = 0;  // of all nodes of the group
};

std::vector<NodeGroup> groups_of(const ModelCluster& cluster) {
  using Key = std::tuple<const solver::Machine*, std::uint64_t, std::int64_t, std::int64_t>;
  std::map<Key, std::size_t> numbers;
  std::vector<NodeGroup> groups;
  for (const ModelNode& node : cluster.empty_nodes()) {
    if (node.machine == nullptr) continue;
    const auto [it, fresh] = numbers.try_emplace(
        Key{node.machine.get(), node.free.bits(), node.cpu_milli, node.memory_mib}, groups.size());
    if (fresh) groups.push_back({&node, 0});
    groups[it->second].chips += node.free.size();
  }
  return groups;
}

double gbps_on(const NodeGroup& group, const PodShape& pod) {
  if (pod.chips < 2 || !group.one->has_room(pod)) return 0;
  return group.one->machine->best_gbps(pod.chips, false);
}

// Most value of a transport of chips from classes of pods to groups of nodes: flow along the most
// valuable path until none has a value.
class Transport {
 public:
  Transport(std::vector<int> supply, std::vector<int> room, std::vector<std::vector<double>> value)
      : supply_(std::move(supply)),
        room_(std::move(room)),
        value_(std::move(value)),
        flow_(supply_.size(), std::vector<int>(room_.size(), 0)) {}

  double most() {
    double total = 0;
    while (push(total)) {
    }
    return total;
  }

 private:
  static constexpr double kNone = -std::numeric_limits<double>::infinity();
  static constexpr double kRounding = 1e-9;

  // One augmentation; adds its value. false: none is left.
  bool push(double& total) {
    const std::size_t n = supply_.size();
    const std::size_t m = room_.size();
    std::vector<double> at_class(n, kNone);  // best value of a path that ends there
    std::vector<double> at_group(m, kNone);
    std::vector<std::size_t> from_class(m, n);
    std::vector<std::size_t> from_group(n, m);  // m: the path starts at this class
    for (std::size_t c = 0; c < n; ++c) {
      if (supply_[c] > 0) at_class[c] = 0;
    }
    for (std::size_t round = 0; round < n + m; ++round) {
      bool better = false;
      for (std::size_t c = 0; c < n; ++c) {
        if (at_class[c] == kNone) continue;
        for (std::size_t g = 0; g < m; ++g) {
          if (value_[c][g] <= 0 || at_class[c] + value_[c][g] <= at_group[g] + kRounding) continue;
          at_group[g] = at_class[c] + value_[c][g];
          from_class[g] = c;
          better = true;
        }
      }
      for (std::size_t g = 0; g < m; ++g) {
        if (at_group[g] == kNone) continue;
        for (std::size_t c = 0; c < n; ++c) {
          if (flow_[c][g] == 0 || at_group[g] - value_[c][g] <= at_class[c] + kRounding) continue;
          at_class[c] = at_group[g] - value_[c][g];
          from_group[c] = g;
          better = true;
        }
      }
      if (!better) break;
    }
    std::size_t end = m;
    for (std::size_t g = 0; g < m; ++g) {
      if (room_[g] > 0 && at_group[g] > kRounding && (end == m || at_group[g] > at_group[end]))
        end = g;
    }
    if (end == m) return false;
    carry(end, from_class, from_group, at_group[end], total);
    return true;
  }

  void carry(std::size_t end, const std::vector<std::size_t>& from_class,
             const std::vector<std::size_t>& from_group, double value, double& total) {
    const std::size_t m = room_.size();
    int amount = room_[end];
    for (std::size_t g = end;;) {
      const std::size_t c = from_class[g];
      if (from_group[c] == m) {
        amount = std::min(amount, supply_[c]);
        break;
      }
      g = from_group[c];
      amount = std::min(amount, flow_[c][g]);
    }
    room_[end] -= amount;
    for (std::size_t g = end;;) {
      const std::size_t c = from_class[g];
      flow_[c][g] += amount;
      if (from_group[c] == m) {
        supply_[c] -= amount;
        break;
      }
      g = from_group[c];
      flow_[c][g] -= amount;
    }
    total += value * amount;
  }

  std::vector<int> supply_;
  std::vector<int> room_;
  std::vector<std::vector<double>> value_;  // of one chip
  std::vector<std::vector<int>> flow_;
};

}  // namespace

std::vector<double> alone_gbps(const std::vector<domain::TracePod>& pods,
                               const ModelCluster& cluster) {
  const std::vector<NodeGroup> groups = groups_of(cluster);
  std::map<PodShape, double> known;
  std::vector<double> out;
  out.reserve(pods.size());
  for (const domain::TracePod& pod : pods) {
    const auto [it, fresh] = known.try_emplace(shape_of(pod), 0);
    if (fresh) {
      for (const NodeGroup& g : groups) it->second = std::max(it->second, gbps_on(g, it->first));
    }
    out.push_back(it->second);
  }
  return out;
}

double most_gbps_together(const std::vector<domain::TracePod>& pods,
                          std::span<const PlacedPod> placed, const ModelCluster& cluster) {
  std::map<PodShape, int> chips;
  for (const PlacedPod& p : placed) {
    const PodShape shape = shape_of(pods[p.pod]);
    if (shape.chips > 1) chips[shape] += shape.chips;
  }
  const std::vector<NodeGroup> groups = groups_of(cluster);
  std::vector<int> room;
  room.reserve(groups.size());
  for (const NodeGroup& g : groups) room.push_back(g.chips);
  std::vector<int> supply;
  std::vector<std::vector<double>> value;
  for (const auto& [shape, count] : chips) {
    supply.push_back(count);
    std::vector<double>& row = value.emplace_back();
    for (const NodeGroup& g : groups) row.push_back(gbps_on(g, shape) / shape.chips);
  }
  return Transport(std::move(supply), std::move(room), std::move(value)).most();
}

}  // namespace chipweave::simulate

// NetworkWorld — a node table and a Network over it, with shorthands to fill both.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "scheduler-plugin/state/network/network.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {

inline constexpr const char* kGpu = "nvidia.com/gpu";
inline constexpr const char* kAwsLayer1 = "topology.k8s.aws/network-node-layer-1";
inline constexpr const char* kAwsLayer2 = "topology.k8s.aws/network-node-layer-2";
inline constexpr const char* kCliqueLabel = "nvidia.com/gpu.clique";
inline constexpr const char* kHost = "kubernetes.io/hostname";
using Names = std::vector<std::string>;

struct NetworkWorld {
  NetworkWorld() = default;
  explicit NetworkWorld(const Network::Options& options) { network.configure(options); }

  void report(const std::string& name, std::vector<std::string> resources = {kGpu},
              const std::map<int, domain::Health>& health = {}) {
    InventoryReport report;
    report.node = name;
    report.boot_id = "boot";
    report.sequence = ++sequence;
    report.topology = profile("hgx-v100-8");
    report.resources = std::move(resources);
    ASSERT_EQ(nodes.report(std::move(report), clock.now()).outcome, ReportOutcome::taken) << name;
    if (health.empty()) return;
    InventoryReport delta;
    delta.node = name;
    delta.boot_id = "boot";
    delta.sequence = ++sequence;
    for (const auto& [chip, state] : health)
      delta.chips.push_back({domain::ChipIndex{chip}, state});
    ASSERT_EQ(nodes.report(std::move(delta), clock.now()).outcome, ReportOutcome::taken) << name;
  }
  const Node& node(const std::string& name) const { return nodes.node(nodes.find(name)); }
  // With an inventory, and labels of AWS.
  void add(const std::string& name, const std::string& layer1, const std::string& layer2) {
    report(name);
    network.set_labels(name, {{kAwsLayer1, layer1}, {kAwsLayer2, layer2}});
  }
  // Time for other levels.
  void settle() {
    network.tick(clock.now());
    clock.advance(Network::kLevelsStay);
    network.tick(clock.now());
  }
  const solver::FabricNode& in_fabric(const std::string& name, const std::string& resource = kGpu) {
    solver::Fabric& fabric = network.fabric(resource);
    return fabric.node(fabric.find(name));
  }

  ManualClock clock;
  NodeTable nodes;
  Network network{nodes};
  std::uint64_t sequence = 0;
};

// What a fabric is: of each node its domains, free chips and health.
struct FabricPicture {
  std::vector<std::string> levels;
  std::map<std::string, std::pair<std::vector<std::string>, std::pair<int, bool>>> nodes;
  friend bool operator==(const FabricPicture&, const FabricPicture&) = default;
};

inline FabricPicture picture_of(Network& network, const std::string& resource = kGpu) {
  FabricPicture out;
  out.levels = network.levels();
  const solver::Fabric& fabric = network.fabric(resource);
  for (solver::FabricNodeId id = 0; id < fabric.node_numbers(); ++id) {
    const solver::FabricNode& node = fabric.node(id);
    if (!node.in_use) continue;
    std::vector<std::string> domains;
    domains.reserve(fabric.levels());
    for (int level = 0; level < static_cast<int>(fabric.levels()); ++level)
      domains.push_back(fabric.name(fabric.domain_of(id, level)));
    out.nodes[node.name] = {domains, {node.free, node.healthy}};
  }
  return out;
}

}  // namespace chipweave::sched::test

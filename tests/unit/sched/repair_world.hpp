// RepairWorld — a World with a network of racks and blocks, and a gang "train" whose pods run and
// are lost.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "scheduler-plugin/model/gangs/gang_mark.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {

inline constexpr const char* kBlock = "cloud.provider.com/topology-block";
inline constexpr const char* kRack = "cloud.provider.com/topology-rack";

// Nodes n0, n1 … in racks of `per_rack` and blocks of two racks.
struct RepairWorld : World {
  explicit RepairWorld(int count, int nodes_of_rack = 2, int max_spares = kMaxGangSpares)
      : World(allowing(max_spares)), per_rack(nodes_of_rack) {
    for (int i = 0; i < count; ++i) {
      const std::map<std::string, std::string> labels{{kBlock, "b" + std::to_string(block_of(i))},
                                                      {kRack, "r" + std::to_string(rack_of(i))}};
      scheduler.network().set_labels(name(i), {labels.begin(), labels.end()});
    }
    for (int i = 0; i < count; ++i) add_node(name(i), "hgx-h100-8");
  }
  static SchedulerOptions allowing(int max_spares) {
    SchedulerOptions out;
    out.max_gang_spares = max_spares;
    return out;
  }
  static std::string name(int node) { return "n" + std::to_string(node); }
  static int number(const std::string& node) { return std::stoi(node.substr(1)); }
  int rack_of(int node) const { return node / per_rack; }
  int block_of(int node) const { return rack_of(node) / 2; }

  struct Kind {
    int size = 0;
    int chips = 8;
    bool indexed = true;
    int minimum = 0;
    std::string required{};
    int spares = 0;
    FaultRule fault = FaultRule::off;
  };
  // generation: of the pod with this index; a replacement has another name unless it is indexed.
  PodRequest member(const Kind& kind, int index, int generation = 0) {
    const std::string id = std::to_string(index);
    const std::string again = generation > 0 ? "-again" + std::to_string(generation) : "";
    PodRequest out = request("train-" + id + (kind.indexed ? "" : again), kind.chips);
    out.uid += again;
    GangMark mark;
    mark.framework = "chipweave";
    mark.name = "train";
    mark.size = kind.size;
    if (kind.indexed) mark.index = index;
    if (kind.minimum > 0) mark.minimum = kind.minimum;
    if (!kind.required.empty()) mark.topology.required = {kind.required};
    mark.spares = kind.spares;
    mark.fault = kind.fault;
    out.mark = std::make_shared<const GangMark>(std::move(mark));
    return submit(out);
  }
  // All bound.
  std::vector<PodRequest> running(const Kind& kind) {
    std::vector<PodRequest> out;
    out.reserve(static_cast<std::size_t>(kind.size));
    for (int i = 0; i < kind.size; ++i) out.push_back(member(kind, i));
    for (const PodRequest& one : out) bind_planned(one);
    return out;
  }
  void bind_planned(const PodRequest& one) {
    const auto nodes = fit(one);
    ASSERT_EQ(nodes.size(), 1U) << one.key.text();
    ASSERT_TRUE(bind(one, *nodes.begin()).ok()) << one.key.text();
    expect_sound();
  }
  // The agent is silent, and the pods on the node are deleted.
  void fail_node(int node) {
    scheduler.agent_gone(name(node), "boot");
    std::vector<PodKey> lost;
    cluster.each([&](const ClusterPod& pod) {
      if (pod.node == name(node)) lost.push_back(pod.request.key);
    });
    for (const PodKey& key : lost) ASSERT_TRUE(cluster.end(key).ok());
  }
  void fill(int node, int chips = 8) {
    const std::string pod = "filler-" + std::to_string(++fillers);
    ASSERT_TRUE(bind(submit(pod, chips), name(node)).ok());
  }
  void keep_reporting() {
    for (const std::string& node : names) {
      if (!scheduler.nodes().node(scheduler.nodes().find(node)).stale)
        set_health(node, 0, domain::Health::healthy);
    }
  }
  int rank(const PodRequest& one) const { return scheduler.gang_plans().of(one.uid).rank(); }
  std::string why() const {
    return scheduler.gang_view().status(scheduler.gangs().all().begin()->second).why;
  }

  int per_rack;
  int fillers = 0;
};

}  // namespace chipweave::sched::test

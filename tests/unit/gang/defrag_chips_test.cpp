// The chips of moved pods: what vendors' rules allow, against plain enumeration, and which chips
// are chosen.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "common/solver/gang/defrag/defrag.hpp"
#include "common/solver/gang/defrag/defrag_chips.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave::solver {
namespace {

struct MachineCluster {
  std::shared_ptr<Machine> machine;
  Fabric fabric{1};
  NodeMachines machines;
  std::vector<PodChips> chips;
  std::vector<DefragPod> pods;

  explicit MachineCluster(domain::NodeTopology topology)
      : machine(std::make_shared<Machine>(std::move(topology))) {}

  void node(const std::string& name) {
    const auto id = fabric.add(name, {"r"});
    const std::shared_ptr<const domain::NodeTopology> topology(machine, &machine->topology());
    machines.emplace(id.value(),
                     NodeMachine{machine, topology, topology->all() - topology->unhealthy()});
  }
  void pod(const std::string& on, ChipSet held, const std::string& gang = "") {
    const FabricNodeId id = fabric.find(on);
    chips.push_back({id, held.size(), held, gang});
    DefragPod pod;
    pod.name = "p" + std::to_string(pods.size());
    pod.node = id;
    pod.chips = held.size();
    pod.movable = true;
    pod.distributed = !gang.empty();
    pods.push_back(pod);
    machines.at(id).free -= held;
  }
  std::unique_ptr<DefragChips> fit() {
    auto out = std::make_unique<DefragChips>(machines, chips);
    for (std::size_t i = 0; i < pods.size(); ++i) pods[i].released = out->released(i);
    for (const auto& [id, one] : machines) fabric.set_free(id, one.free.size());
    return out;
  }
};

// Whether the pods get legal chips one after the other in some order.
bool placed_in_some_order(const Machine& machine, ChipSet usable,
                          std::vector<std::pair<int, bool>> rest) {
  if (rest.empty()) return true;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    std::vector<std::pair<int, bool>> others = rest;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::uint64_t bits = usable.bits(); bits != 0; bits = (bits - 1) & usable.bits()) {
      const ChipSet set(bits);
      if (set.size() == rest[i].first && machine.legal(set, usable, rest[i].second) &&
          placed_in_some_order(machine, usable - set, others))
        return true;
    }
  }
  return false;
}

using ChipWorth = std::tuple<int, int, int>;

// The best of all assignments of the pods to nodes.
ChipWorth best_by_enumeration(const MachineCluster& cluster) {
  ChipWorth best{0, 0, 0};
  const std::size_t nodes = cluster.fabric.size();
  const auto used = [&](const std::vector<FabricNodeId>& at) {
    std::vector<char> out(nodes, 0);
    for (const FabricNodeId node : at) out[node] = 1;
    return static_cast<int>(std::count(out.begin(), out.end(), 1));
  };
  std::vector<FabricNodeId> now;
  for (const PodChips& pod : cluster.chips) now.push_back(pod.node);
  std::vector<FabricNodeId> at(now.size(), 0);
  for (;;) {
    bool fits = true;
    int chips = 0;
    int moved = 0;
    for (FabricNodeId node = 0; fits && node < nodes; ++node) {
      ChipSet usable = cluster.machines.at(node).free;
      std::vector<std::pair<int, bool>> arriving;
      for (std::size_t p = 0; p < at.size(); ++p) {
        if (now[p] == node && at[p] != node) usable |= cluster.chips[p].held;
        if (at[p] != node || now[p] == node) continue;
        arriving.emplace_back(cluster.chips[p].size, !cluster.chips[p].gang.empty());
        chips += cluster.chips[p].size;
        ++moved;
      }
      fits = placed_in_some_order(*cluster.machine, usable, arriving);
    }
    if (fits) best = std::max(best, ChipWorth{used(now) - used(at), -chips, -moved});
    std::size_t p = 0;
    while (p < at.size() && ++at[p] == nodes) at[p++] = 0;
    if (p == at.size()) return best;
  }
}

TEST(DefragChips, PlansKeepVendorsRulesAndAreTheBest) {
  std::mt19937 random(7);
  const auto upto = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most + 1));
  };
  const std::vector<std::string> profiles = {"ascend-910a-8", "ascend-910b-8", "ascend-310p-8",
                                             "hgx-h100-8", "ascend-910a-half-4"};
  int proven = 0;
  int moving = 0;
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    const std::string& profile = profiles[static_cast<std::size_t>(upto(4))];
    MachineCluster cluster(test::profile(profile));
    const ChipSet all = cluster.machine->topology().all();
    for (int n = 0; n < 3; ++n) cluster.node("n" + std::to_string(n));
    for (int p = 0; p < 4; ++p) {
      const auto node = static_cast<FabricNodeId>(upto(2));
      ChipSet held;
      const int size = 1 + upto(3);
      for (const int slot : all)
        if (held.size() < size && cluster.machines.at(node).free.contains(slot) && upto(1) == 0)
          held.insert(slot);
      if (!held.empty())
        cluster.pod("n" + std::to_string(node), held, upto(3) == 0 ? "g" + std::to_string(p) : "");
    }
    const auto fit = cluster.fit();
    DefragRequest request;
    request.fabric = &cluster.fabric;
    request.pods = &cluster.pods;
    request.fit = fit.get();
    const DefragPlan plan = plan_moves(request);
    const ChipWorth worth{plan.free_after - plan.free_before, -static_cast<int>(plan.chips_moved),
                          -static_cast<int>(plan.moves.size())};
    const ChipWorth best = best_by_enumeration(cluster);
    SCOPED_TRACE(profile + " round " + std::to_string(round));
    EXPECT_LE(worth, best);
    if (plan.optimal) {
      EXPECT_EQ(worth, best);
    }
    proven += plan.optimal ? 1 : 0;
    moving += plan.moves.empty() ? 0 : 1;
    for (FabricNodeId node = 0; node < 3; ++node) {
      std::vector<std::size_t> leaving;
      std::vector<std::size_t> arriving;
      for (const PodMove& move : plan.moves) {
        if (move.from == node) leaving.push_back(move.pod);
        if (move.to == node) arriving.push_back(move.pod);
      }
      if (arriving.empty()) continue;
      const auto dealt = fit->deal(node, leaving, arriving);
      ASSERT_TRUE(dealt.has_value());
      ChipSet usable = cluster.machines.at(node).free;
      for (const std::size_t pod : leaving) usable |= cluster.chips[pod].held;
      ChipSet taken;
      for (std::size_t i = 0; i < arriving.size(); ++i) {
        EXPECT_EQ((*dealt)[i].size(), cluster.chips[arriving[i]].size);
        EXPECT_FALSE((*dealt)[i].intersects(taken));
        EXPECT_TRUE(usable.contains((*dealt)[i]));
        taken |= (*dealt)[i];
      }
    }
  }
  EXPECT_GT(proven, kRounds / 2);
  EXPECT_GT(moving, 50);
}

// A pod that joins others of its gang gets chips close to theirs.
TEST(DefragChips, PodsMoveCloseToTheirGang) {
  MachineCluster cluster(test::profile("hgx-v100-8"));
  cluster.node("a");
  cluster.node("b");
  cluster.pod("a", {0}, "g");
  cluster.pod("b", {0, 3}, "g");
  const auto fit = cluster.fit();
  const auto dealt = fit->deal(1, {}, {0});
  ASSERT_TRUE(dealt.has_value());
  Machine& machine = *cluster.machine;
  double best = 0;
  for (const int slot : cluster.machines.at(1).free)
    best = std::max(best, machine.gbps(ChipSet{0, 3} | ChipSet{slot}));
  EXPECT_EQ(machine.gbps(ChipSet{0, 3} | dealt->front()), best);
}

TEST(DefragChips, ForbiddenPodsDoNotFitAgain) {
  MachineCluster cluster(test::profile("ascend-910b-8"));
  cluster.node("a");
  cluster.node("b");
  cluster.pod("a", {0});
  const auto fit = cluster.fit();
  EXPECT_TRUE(fit->fits(1, {}, {0}));
  EXPECT_FALSE(fit->uncertain());
  fit->forbid(1, {}, {0});
  EXPECT_FALSE(fit->fits(1, {}, {0}));
  EXPECT_TRUE(fit->uncertain());
}

}  // namespace
}  // namespace chipweave::solver

// Rails and adapters in the choice of nodes and chips: what plans gain by them, and a comparison
// with all plans of small networks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "common/domain/topology_builder.hpp"
#include "common/solver/gang/chips/chip_plan.hpp"
#include "common/solver/gang/planner.hpp"
#include "common/solver/gang/rails/best_nodes.hpp"
#include "common/solver/gang/ranks/communicator_plan.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave::solver {
namespace {

using domain::ChipIndex;
using domain::Gang;
using domain::LinkKind;
using ::testing::ElementsAre;

using LevelGbps = std::vector<std::optional<double>>;

ChipSet slots(std::initializer_list<int> list) {
  ChipSet out;
  for (const int slot : list) out.insert(slot);
  return out;
}

// A network of hosts under racks.
struct Racks {
  Fabric fabric{2};
  NodeMachines machines;
  std::vector<FabricNodeId> nodes;

  NodeMachine& add(const std::string& rack, const domain::NodeTopology& topology) {
    const std::string name = "n" + std::to_string(nodes.size());
    nodes.push_back(*fabric.add(name, {rack, name}));
    auto own = std::make_shared<domain::NodeTopology>(topology);
    machines.emplace(nodes.back(), NodeMachine{std::make_shared<Machine>(*own), own, own->all()});
    return machines.at(nodes.back());
  }
  ChipPlan plan(int pods, int chips, const LevelGbps& level_gbps = {},
                domain::Objective objective = domain::Objective::bandwidth) {
    const std::vector<std::string> levels{"rack", "hostname"};
    Gang gang;
    gang.pods = pods;
    gang.min_member = pods;
    gang.chips_per_pod = chips;
    gang.objective = objective;
    for (const auto& [id, machine] : machines) fabric.set_free(id, machine.free.size());
    limit_by_chips(fabric, machines, gang);
    return assign_chips(fabric, levels, gang, machines, level_gbps,
                        plan_on_best_nodes(fabric, levels, gang, machines, level_gbps));
  }
  std::set<std::string> used(const ChipPlan& plan) const {
    std::set<std::string> out;
    for (const domain::PlannedPod& pod : plan.plan.pods) out.insert(fabric.node(pod.node).name);
    return out;
  }
};

// An H100 box with some of its adapters only.
domain::NodeTopology h100_with(const std::set<int>& adapters) {
  const domain::NodeTopology whole = test::profile("hgx-h100-8");
  domain::TopologyBuilder b;
  b.vendor = "nvidia";
  b.host_bandwidth = whole.host_bandwidth();
  for (const domain::Chip& chip : whole.chips()) b.add_chip(chip);
  std::vector<domain::TopologyBuilder::Port> ports;
  ports.reserve(8);
  for (int i = 0; i < 8; ++i) ports.push_back({ChipIndex{i}, 18, 0});
  b.add_switch("nvswitch", LinkKind::nvswitch, std::move(ports), 20.6);
  for (const int i : adapters) {
    const domain::Nic& nic = whole.nics()[static_cast<std::size_t>(i)];
    std::map<ChipIndex, LinkKind> paths;
    for (int slot = 0; slot < 8; ++slot)
      paths[ChipIndex{slot}] = nic.paths[static_cast<std::size_t>(slot)];
    b.add_nic(nic.name, nic.pci, nic.numa, nic.gbps, paths);
  }
  auto built = std::move(b).build();
  EXPECT_TRUE(built) << built.error().text();
  return *std::move(built);
}

TEST(RailPlans, TakeTheNodesThatHaveAllRails) {
  Racks racks;
  racks.add("r", test::profile("hgx-h100-8"));
  racks.add("r", h100_with({0, 1, 2, 3}));
  racks.add("r", test::profile("hgx-h100-8"));
  const ChipPlan plan = racks.plan(2, 8);
  ASSERT_TRUE(plan.plan.fits);
  EXPECT_THAT(racks.used(plan), ElementsAre("n0", "n2"));
  EXPECT_NEAR(*plan.bandwidth.gbps, 370.8, 0.1);
}

TEST(RailPlans, TakeChipsBesideTheAdaptersThatBothNodesHave) {
  Racks racks;
  racks.add("r", test::profile("hgx-h100-8"));
  racks.add("r", h100_with({4, 5, 6, 7}));
  racks.fabric.set_max_pods(racks.nodes[0], 1);
  racks.fabric.set_max_pods(racks.nodes[1], 1);
  const ChipPlan plan = racks.plan(2, 4);
  ASSERT_TRUE(plan.plan.fits);
  EXPECT_THAT(plan.chips[0], ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(plan.chips[1], ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(plan.bandwidth.rails_used, 4);
  EXPECT_NEAR(*plan.bandwidth.gbps, 4 * 48, 0.1);
}

TEST(RailPlans, DoWithoutAdaptersThatAreDown) {
  Racks racks;
  racks.add("r", test::profile("hgx-h100-8"));
  racks.add("r", test::profile("hgx-h100-8")).down_nics = {0, 1};
  racks.add("r", test::profile("hgx-h100-8")).down_nics = {0};
  ChipPlan plan = racks.plan(2, 8);
  EXPECT_THAT(racks.used(plan), ElementsAre("n0", "n2"));
  EXPECT_EQ(plan.bandwidth.rails_used, 7);
  for (const FabricNodeId node : racks.nodes) racks.fabric.set_max_pods(node, 1);
  plan = racks.plan(3, 2);
  for (const std::vector<int>& chips : plan.chips) EXPECT_THAT(chips, ElementsAre(2, 3));
}

TEST(RailPlans, ALostAdapterDoesNotShiftTheOthers) {
  Racks racks;
  racks.add("r", h100_with({0, 1, 2, 4, 5, 6, 7}));
  racks.add("r", test::profile("hgx-h100-8"));
  const ChipPlan plan = racks.plan(2, 8);
  EXPECT_EQ(plan.bandwidth.rails_used, 7);
  EXPECT_TRUE(plan.bandwidth.aligned);
}

// One chip a pod: 12 pods on two nodes of 8 chips as 6 and 6 have six rails, as 8 and 4 four.
TEST(RailPlans, ShareThePodsSoThatNoNodeHasFewRails) {
  Racks racks;
  racks.add("r", test::profile("hgx-h100-8"));
  racks.add("r", test::profile("hgx-h100-8"));
  const ChipPlan plan = racks.plan(12, 1);
  ASSERT_TRUE(plan.plan.fits);
  EXPECT_EQ(plan.bandwidth.rails_used, 6);
  EXPECT_NEAR(*plan.bandwidth.gbps, 6 * 48, 0.1);
}

// The other half of a pair's adapters is loaded by another job.
TEST(RailPlans, KeepAwayFromAdaptersThatOtherJobsLoad) {
  domain::TopologyBuilder b;
  b.host_bandwidth = domain::HostBandwidth{24, 24, 24, 24, 24, 20};
  for (int i = 0; i < 8; ++i) {
    domain::Chip chip;
    chip.index = ChipIndex{i};
    b.add_chip(chip);
    for (int j = 0; j < i; ++j)
      b.add_link(ChipIndex{j}, ChipIndex{i}, i / 2 == j / 2 ? LinkKind::pix : LinkKind::phb);
  }
  std::vector<domain::TopologyBuilder::Port> ports;
  ports.reserve(8);
  for (int i = 0; i < 8; ++i) ports.push_back({ChipIndex{i}, 12, 0});
  b.add_switch("s", LinkKind::nvswitch, std::move(ports), 20);
  for (int i = 0; i < 4; ++i) {
    b.add_nic("m" + std::to_string(i), "", -1, 25,
              {{ChipIndex{2 * i}, LinkKind::pix}, {ChipIndex{2 * i + 1}, LinkKind::pix}});
  }
  const domain::NodeTopology pairs = *std::move(b).build();
  Racks racks;
  for (int i = 0; i < 2; ++i) {
    NodeMachine& node = racks.add("r", pairs);
    node.free = slots({1, 3, 4, 5, 6, 7});
    node.loaded = slots({0, 2});
    racks.fabric.set_max_pods(racks.nodes.back(), 1);
  }
  const ChipPlan plan = racks.plan(2, 2);
  ASSERT_TRUE(plan.plan.fits);
  // One chip beside each of two adapters that are otherwise idle.
  EXPECT_NEAR(*plan.bandwidth.gbps, 48, 0.1);
  EXPECT_THAT(plan.chips[0], ElementsAre(4, 6));
}

// All-to-all: as many pairs across as the adapters carry, the shares even; without adapters the
// fewest pairs across.
TEST(ExchangePlans, ShareThePodsByWhatTheAdaptersCarry) {
  const auto shares = [](const domain::NodeTopology& machine, domain::Objective objective) {
    Racks racks;
    racks.add("r", machine);
    racks.add("r", machine);
    const ChipPlan plan = racks.plan(12, 1, {}, objective);
    std::map<FabricNodeId, int> out;
    for (const domain::PlannedPod& pod : plan.plan.pods) ++out[pod.node];
    std::vector<int> pods;
    pods.reserve(out.size());
    for (const auto& [node, share] : out) pods.push_back(share);
    return pods;
  };
  const domain::NodeTopology h100 = test::profile("hgx-h100-8");
  EXPECT_THAT(shares(h100, domain::Objective::all_to_all), ElementsAre(6, 6));
  EXPECT_THAT(shares(h100_with({}), domain::Objective::all_to_all),
              ::testing::UnorderedElementsAre(8, 4));
}

// Nodes of one machine whose adapters are not all up: as fast as with any shares.
TEST(ExchangePlans, AreAsFastAsWithAnyShares) {
  const auto gbps = [](int least_on_first, int most_on_first) {
    Racks racks;
    const NodeMachine whole = racks.add("r", test::profile("hgx-h100-8"));
    NodeMachine& part = racks.add("r", *whole.topology);
    part = whole;  // the same machine and topology, as in a large cluster
    part.down_nics = {0, 1, 2, 3, 4, 5};
    racks.fabric.set_max_pods(racks.nodes[0], most_on_first);
    racks.fabric.set_max_pods(racks.nodes[1], 10 - least_on_first);
    const ChipPlan plan = racks.plan(10, 1, {}, domain::Objective::all_to_all);
    return plan.all_to_all.gbps.value_or(0);
  };
  double best = 0;
  for (int first = 2; first <= 8; ++first) best = std::max(best, gbps(first, first));
  EXPECT_GT(best, gbps(5, 5));
  EXPECT_DOUBLE_EQ(gbps(2, 8), best);
}

// Small machines with random links, adapters and free chips.
domain::NodeTopology random_box(std::mt19937& random) {
  const auto below = [&random](unsigned n) { return static_cast<int>(random() % n); };
  domain::TopologyBuilder b;
  const int chips = 4;
  b.host_bandwidth = domain::HostBandwidth{24, 24, 24, 24, 12, 6};
  for (int i = 0; i < chips; ++i) {
    domain::Chip chip;
    chip.index = ChipIndex{i};
    b.add_chip(chip);
  }
  for (int i = 0; i < chips; ++i) {
    for (int j = i + 1; j < chips; ++j) {
      if (below(3) != 0)
        b.add_link(ChipIndex{i}, ChipIndex{j}, LinkKind::nvlink, 1 + below(3), 10.0);
      b.add_link(ChipIndex{i}, ChipIndex{j}, LinkKind::phb);
    }
  }
  for (int k = 0; k < 4; ++k) {
    if (below(4) == 0) continue;
    std::map<ChipIndex, LinkKind> paths;
    for (int i = 0; i < chips; ++i)
      paths[ChipIndex{i}] = i == k || below(4) == 0 ? LinkKind::pix : LinkKind::node;
    b.add_nic("m" + std::to_string(k), "", -1, below(2) == 0 ? 12.5 : 25, paths);
  }
  return *std::move(b).build();
}

// The fastest of all plans with a common rail that use as many domains as `found`: every share of
// the pods on the nodes, and every choice of chips on each of them. Written from the model's page.
class AllPlans {
 public:
  AllPlans(Racks& racks, int pods, int chips) : racks_(racks), pods_(pods), chips_(chips) {}

  double fastest(const domain::Plan& found) {
    domains_ = found.domains;
    nodes_ = nodes_used(found);
    best_ = 0;
    shares_.assign(racks_.nodes.size(), 0);
    share(0, pods_);
    return best_;
  }

 private:
  void share(std::size_t node, int left) {
    if (node == racks_.nodes.size()) {
      if (left == 0 && as_good()) each_choice(0, {});
      return;
    }
    const NodeMachine& machine = racks_.machines.at(racks_.nodes[node]);
    const int most = std::min(
        {left, machine.free.size() / chips_, racks_.fabric.node(racks_.nodes[node]).max_pods});
    for (int k = 0; k <= most; ++k) {
      shares_[node] = k;
      share(node + 1, left - k);
    }
    shares_[node] = 0;
  }
  bool as_good() const {
    std::set<DomainId> racks;
    int nodes = 0;
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      if (shares_[i] == 0) continue;
      ++nodes;
      racks.insert(racks_.fabric.domain_of(racks_.nodes[i], 0));
    }
    return static_cast<int>(racks.size()) == domains_[0] && nodes == nodes_;
  }
  void each_choice(std::size_t node, const std::vector<NodeBandwidth>& chosen) {
    if (node == shares_.size()) {
      GangShape shape;
      shape.nodes = chosen;
      const GangBandwidth all = gang_bandwidth(shape);
      if (all.aligned) best_ = std::max(best_, all.gbps.value_or(0));
      return;
    }
    if (shares_[node] == 0) return each_choice(node + 1, chosen);
    const NodeMachine& machine = racks_.machines.at(racks_.nodes[node]);
    for (std::uint64_t bits = 1; bits < 16; ++bits) {
      const ChipSet set(bits);
      if (set.size() != shares_[node] * chips_ || !machine.free.contains(set)) continue;
      std::vector<NodeBandwidth> more = chosen;
      more.push_back({"", set.size(), machine.machine->gbps(set),
                      rails_of(*machine.topology, set, {{}, machine.down_nics, machine.loaded})});
      each_choice(node + 1, more);
    }
  }

  Racks& racks_;
  int pods_;
  int chips_;
  std::vector<int> domains_;
  int nodes_ = 0;
  std::vector<int> shares_;
  double best_ = 0;
};

// Rails by position: all boxes of one network have the same adapters, some of which are down.
TEST(RailPlans, AreTheFastestOfAllPlansWithAsFewDomains) {
  std::mt19937 random(23);
  const auto below = [&random](unsigned n) { return static_cast<int>(random() % n); };
  int compared = 0;
  for (int round = 0; round < 1500; ++round) {
    Racks racks;
    const domain::NodeTopology box = random_box(random);
    const int nodes = 2 + below(3);
    for (int i = 0; i < nodes; ++i) {
      NodeMachine& node = racks.add(below(3) == 0 ? "r1" : "r2", box);
      node.free = ChipSet(1 + random() % 15);
      if (below(3) == 0) node.loaded = box.all() - node.free;
      for (int k = 0; k < static_cast<int>(box.nics().size()); ++k) {
        if (below(6) == 0) node.down_nics.push_back(k);
      }
    }
    const int chips = 1 + below(2);
    const int pods = 2 + below(4);
    const ChipPlan found = racks.plan(pods, chips);
    if (!found.plan.fits || static_cast<int>(found.plan.pods.size()) < pods) continue;
    const double best = AllPlans(racks, pods, chips).fastest(found.plan);
    const double gbps = found.bandwidth.gbps.value_or(0);
    EXPECT_TRUE(gbps <= best + 1e-6 || !found.bandwidth.aligned) << "round " << round;
    ++compared;
    EXPECT_GE(gbps, best - 1e-6) << "round " << round << ": " << found.bandwidth.limit_text;
  }
  EXPECT_GT(compared, 200);
}

// The objective all_to_all chooses shares and chips by a search that proves nothing.
TEST(RailPlans, TheExchangeIsNeverSlowerThanThatOfThePlanForBandwidth) {
  std::mt19937 random(21);
  const std::vector<std::string> levels{"rack", "hostname"};
  int compared = 0;
  for (int round = 0; round < 60; ++round) {
    Racks racks;
    for (int i = 0; i < 5; ++i) {
      NodeMachine& node = racks.add(i < 3 ? "a" : "b", test::profile("hgx-h100-8"));
      node.free = ChipSet((random() | random()) & 0xffU);
      node.loaded = node.topology->all() - node.free;
      for (int nic = 0; nic < 8; ++nic)
        if (random() % 10 == 0) node.down_nics.push_back(nic);
    }
    Gang gang;
    gang.pods = gang.min_member = 2 + static_cast<int>(random() % 14);
    gang.chips_per_pod = random() % 3 == 0 ? 2 : 1;
    for (const auto& [id, machine] : racks.machines) racks.fabric.set_free(id, machine.free.size());
    limit_by_chips(racks.fabric, racks.machines, gang);
    const auto exchange = [&](domain::Objective objective) {
      gang.objective = objective;
      auto out =
          plan_with_communicators(racks.fabric, levels, gang, racks.machines, {},
                                  [&](const Fabric& on, const Gang& what) -> Result<domain::Plan> {
                                    return plan_on_best_nodes(on, levels, what, racks.machines);
                                  });
      return out->chips.all_to_all.gbps;
    };
    const auto fast = exchange(domain::Objective::bandwidth);
    const auto chosen = exchange(domain::Objective::all_to_all);
    if (!fast || !chosen) continue;
    ++compared;
    EXPECT_GE(*chosen, *fast * (1 - 1e-9)) << "round " << round;
  }
  EXPECT_GT(compared, 30);
}

}  // namespace
}  // namespace chipweave::solver

// After any sequence of changes, Network is what it would be if it were made of the last state.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/sched_network/network_world.hpp"

namespace chipweave::sched::test {
namespace {

constexpr int kNames = 24;

// The last word of each source.
struct Said {
  std::map<std::string, NodeLabels::Map> labels;
  std::map<std::string, NodeLabels::Map> annotations;
  std::map<std::string, domain::NodeNetwork> inventories;
  std::map<NetworkSource, std::vector<domain::LabelLevel>> topologies;
  std::map<NetworkSource, domain::NetworkTable> tables;
  struct Chips {
    std::vector<std::string> resources;
    int taken = 0;
    bool stale = false;
  };
  std::map<std::string, Chips> nodes;
};

class Changes {
 public:
  explicit Changes(unsigned seed) : random_(seed) {
    // Where there are labels or tables, little is seen of the inventories.
    options.sources = {NetworkSource::inventories};
    if (seed % 3 != 0) options.sources.push_back(NetworkSource::labels);
    if (seed % 3 == 2)
      options.sources.insert(
          options.sources.end(),
          {NetworkSource::kueue, NetworkSource::hypernodes, NetworkSource::configmap});
    w.network.configure(options);
  }

  void step() {
    switch (upto(9)) {
      case 0:
        return change_table();
      case 1:
        return change_topology();
      case 2:
        return change_inventory();
      case 3:
        return drop_node();
      case 4:
        return change_chips();
      case 5:
        return report();
      case 6:
        w.settle();
        return;
      case 7:
        w.network.fabric(kGpu);
        return;
      default:
        return change_labels();
    }
  }

  // All of it, in an order of its own, in a new one.
  void compare() {
    w.settle();
    NetworkWorld fresh(options);
    tell(fresh);
    ASSERT_EQ(w.network.levels(), fresh.network.levels());
    for (const char* resource : {kGpu, "huawei.com/Ascend910"}) {
      const FabricPicture now = picture_of(w.network, resource);
      const FabricPicture expected = picture_of(fresh.network, resource);
      ASSERT_EQ(now.levels, expected.levels);
      ASSERT_EQ(now.nodes, expected.nodes);
    }
    for (const auto& [name, chips] : said.nodes)
      ASSERT_EQ(w.network.path_of(name), fresh.network.path_of(name)) << name;
    for (std::size_t level = 0; level < w.network.levels().size(); ++level)
      ASSERT_EQ(w.network.domains(level), fresh.network.domains(level));
    ASSERT_EQ(w.network.conflicts(), fresh.network.conflicts());
    for (std::size_t i = 0; i < options.sources.size(); ++i)
      ASSERT_EQ(w.network.sources()[i].nodes, fresh.network.sources()[i].nodes) << i;
    ASSERT_EQ(w.network.without_place(), fresh.network.without_place());
    ASSERT_EQ(w.network.nodes(), said.nodes.size());
    ASSERT_EQ(w.network.shape().accelerators(), fresh.network.shape().accelerators());
    seen_levels.insert(w.network.levels());
    conflicts += w.network.conflicts().size();
  }

  Network::Options options;
  NetworkWorld w;
  Said said;
  std::set<std::vector<std::string>> seen_levels;
  std::size_t conflicts = 0;

 private:
  int upto(int n) { return std::uniform_int_distribution<int>(0, n)(random_); }
  std::string name() { return "n" + std::to_string(upto(kNames - 1)); }
  std::string one_of(const char* prefix, int n) { return prefix + std::to_string(upto(n)); }

  void tell(NetworkWorld& to) {
    std::vector<std::function<void()>> all;
    for (const auto& [name, chips] : said.nodes) {
      all.emplace_back([&to, name = name, chips = chips] {
        to.report(name, chips.resources);
        to.nodes.set_taken(to.nodes.find(name), ChipSet::first(chips.taken), 1);
        to.nodes.set_stale(to.nodes.find(name), chips.stale);
      });
    }
    for (const auto& [name, labels] : said.labels) {
      all.emplace_back([&, name = name] {
        to.network.set_labels(name, said.labels[name], said.annotations[name]);
      });
    }
    for (const auto& [name, network] : said.inventories)
      all.emplace_back(
          [&, name = name] { to.network.set_inventory(name, said.inventories[name]); });
    for (const auto& [source, levels] : said.topologies)
      all.emplace_back(
          [&, source = source] { to.network.name_levels(source, said.topologies[source]); });
    for (const auto& [source, table] : said.tables)
      all.emplace_back([&, source = source] { to.network.set_table(source, said.tables[source]); });
    std::shuffle(all.begin(), all.end(), random_);
    for (const auto& one : all) one();
  }

  void change_labels() {
    const std::string node = name();
    if (upto(5) == 0) {
      said.labels.erase(node);
      said.annotations.erase(node);
      return w.network.drop_labels(node);
    }
    NodeLabels::Map labels;
    NodeLabels::Map annotations;
    if (upto(3) > 0) labels[kAwsLayer1] = one_of("b", 1);
    if (upto(3) > 0) labels[kAwsLayer2] = one_of("r", 3);
    if (upto(3) == 0) labels["oci.oraclecloud.com/host.rack_id"] = one_of("o", 3);
    if (upto(2) == 0) labels["topology.kubernetes.io/zone"] = one_of("z", 1);
    if (upto(4) == 0) labels[kCliqueLabel] = one_of("c", 2) + ".1";
    if (upto(4) == 0) annotations["superPodID"] = std::to_string(upto(3) - 1);
    w.network.set_labels(node, labels, annotations);
    said.labels[node] = std::move(labels);
    said.annotations[node] = std::move(annotations);
  }

  void change_inventory() {
    const std::string node = name();
    domain::NodeNetwork network;
    const int unit = upto(2);
    for (int leaf = 0; leaf < upto(4); ++leaf)
      network.leaves.push_back("leaf" + std::to_string(unit * 3 + leaf));
    std::sort(network.leaves.begin(), network.leaves.end());
    if (upto(1) == 0) network.interconnect = one_of("sp", 1);
    w.network.set_inventory(node, network);
    said.inventories[node] = std::move(network);
  }

  void change_topology() {
    std::vector<domain::LabelLevel> levels;
    if (upto(2) == 0) levels.push_back({kAwsLayer2, {kAwsLayer2}});
    if (upto(3) == 0) levels.push_back({"zone", {"topology.kubernetes.io/zone"}});
    w.network.name_levels(NetworkSource::kueue, levels);
    said.topologies[NetworkSource::kueue] = std::move(levels);
  }

  void change_table() {
    const NetworkSource source =
        upto(1) == 0 ? NetworkSource::configmap : NetworkSource::hypernodes;
    domain::NetworkTable table;
    const int levels = upto(2);
    if (levels > 0) table.levels.emplace_back(upto(1) == 0 ? kAwsLayer1 : "row");
    if (levels > 1) table.levels.emplace_back(kAwsLayer2);
    if (upto(3) == 0) table.accelerator_levels.emplace_back("domain");
    for (int i = 0; i < kNames && levels > 0; ++i) {
      if (upto(2) == 0) continue;
      domain::NetworkNode node{"n" + std::to_string(i), {one_of("b", 1)}, {}, {}};
      if (levels > 1) node.path.push_back(one_of("r", 3));
      if (!table.accelerator_levels.empty()) node.accelerator = {one_of("sp", 1)};
      table.nodes.push_back(std::move(node));
    }
    w.network.set_table(source, table);
    said.tables[source] = std::move(table);
  }

  void report() {
    const std::string node = name();
    Said::Chips& chips = said.nodes[node];
    chips.resources = {upto(3) == 0 ? "huawei.com/Ascend910" : kGpu};
    chips.stale = false;
    w.report(node, chips.resources);
  }

  void drop_node() {
    const std::string node = name();
    if (said.nodes.erase(node) > 0) w.nodes.remove(w.nodes.find(node));
  }

  void change_chips() {
    const std::string node = name();
    const auto at = said.nodes.find(node);
    if (at == said.nodes.end()) return;
    at->second.taken = upto(8);
    at->second.stale = upto(3) == 0;
    w.nodes.set_taken(w.nodes.find(node), ChipSet::first(at->second.taken), 1);
    w.nodes.set_stale(w.nodes.find(node), at->second.stale);
  }

  std::mt19937 random_;
};

TEST(NetworkProperty, ChangesLeadToWhatBuildingAnewDoes) {
  std::set<std::vector<std::string>> levels;
  std::size_t conflicts = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Changes changes(seed);
    for (int round = 0; round < 12; ++round) {
      for (int step = 0; step < 25; ++step) changes.step();
      ASSERT_NO_FATAL_FAILURE(changes.compare()) << "round " << round;
    }
    levels.insert(changes.seen_levels.begin(), changes.seen_levels.end());
    conflicts += changes.conflicts;
  }
  EXPECT_GT(levels.size(), 20U) << "too few kinds of networks were seen";
  EXPECT_GT(conflicts, 100U);
}

}  // namespace
}  // namespace chipweave::sched::test

// NodeInventory objects: the API server's newest version counts, whatever the one before said.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/codec/kube/inventory/inventory.hpp"
#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"
#include "scheduler-plugin/kube/kubernetes.hpp"
#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

constexpr std::int64_t kLast = INT64_MAX;

class Inventories : public ::testing::Test {
 protected:
  Inventories() {
    world.api.settle();
    write("real", 7, "hgx-v100-8");
  }
  void write(const std::string& boot, std::int64_t sequence, const std::string& machine,
             domain::Enforcement enforcement = domain::Enforcement::none, bool gate_open = false) {
    codec::NodeInventory inventory;
    inventory.node = "n1";
    inventory.boot_id = boot;
    inventory.sequence = sequence;
    inventory.machine = machine;
    inventory.enforcement = enforcement;
    inventory.gate_open = gate_open;
    inventory.resources = {"nvidia.com/gpu"};
    inventory.topology =
        codec::import_topology_json(profiles::find(machine)->json, {}).value().topology;
    const auto object = nlohmann::json::parse(codec::write_inventory_status(inventory, {"u", "1"}));
    world.api.set_inventory("n1", object["status"].dump());
    world.api.settle();
  }
  const Node& node() const {
    const NodeTable& nodes = world.scheduler->nodes();
    return nodes.node(nodes.find("n1"));
  }
  // Whether a heartbeat with this boot id keeps the node alive.
  bool lives_by(const std::string& boot) {
    world.scheduler->agent_gone("n1", node().boot_id);
    world.scheduler->heartbeat("n1", boot);
    return !node().stale;
  }

  KubeWorld world;
};

TEST_F(Inventories, ANodeIsClosedUnlessItsDevicePluginSaysThatItIsReady) {
  EXPECT_FALSE(node().closed()) << "none of ours enforces";
  write("real", 8, "hgx-v100-8", domain::Enforcement::device_plugin, false);
  EXPECT_TRUE(node().closed());
  write("real", 9, "hgx-v100-8", domain::Enforcement::device_plugin, true);
  EXPECT_FALSE(node().closed());
  write("real", 10, "hgx-v100-8", domain::Enforcement::dra, false);
  EXPECT_FALSE(node().closed());
}

// What an agent does within a minute after its object was overwritten: it writes the same again.
TEST_F(Inventories, AForgedBootIdOrSequenceDoesNotLockTheAgentOut) {
  ASSERT_EQ(node().machine, "hgx-v100-8");
  for (const auto& [boot, sequence] : std::vector<std::pair<std::string, std::int64_t>>{
           {"forged", 1}, {"forged", kLast}, {"real", kLast}, {"real", 1}}) {
    SCOPED_TRACE(boot + " " + std::to_string(sequence));
    write(boot, sequence, "pcie-8");
    EXPECT_EQ(node().machine, "pcie-8") << "who may write the object is the API server's matter";
    EXPECT_EQ(lives_by("real"), boot == "real") << "the real agent's Lease does not vouch for it";
    write("real", 7, "hgx-v100-8");
    EXPECT_EQ(node().machine, "hgx-v100-8");
    EXPECT_FALSE(node().stale);
    EXPECT_FALSE(lives_by("forged"));
    EXPECT_TRUE(lives_by("real"));
    write("real", 8, "hgx-h100-8");
    EXPECT_EQ(node().machine, "hgx-h100-8") << "and its next one";
    write("real", 7, "hgx-v100-8");
  }
}

// A list after an interruption delivers all objects again.
TEST_F(Inventories, TheSameVersionAgainIsNoSignOfLife) {
  world.scheduler->agent_gone("n1", "real");
  ASSERT_TRUE(node().stale);
  write("real", 7, "hgx-v100-8");
  EXPECT_TRUE(node().stale);
  write("real", 8, "hgx-v100-8");
  EXPECT_FALSE(node().stale);
}

TEST(NodeObjects, AreReadWholeAndTheirEndIsTheInventorys) {
  for (const bool streaming : {true, false}) {
    SCOPED_TRACE(streaming);
    KubeWorld world(streaming);
    world.api.create_node("n1");
    world.add_node("n1", "hgx-v100-8");
    world.api.settle();
    const NodeTable& nodes = world.scheduler->nodes();
    ASSERT_NE(nodes.find("n1"), kNoNode);
    ASSERT_TRUE(nodes.node(nodes.find("n1")).has_inventory());
    ASSERT_EQ(world.api.accepts.count(SimulatedApi::kNodes), 1U);
    for (const auto& [path, accept] : world.api.accepts)
      EXPECT_EQ(accept, "application/json") << path;
    world.api.delete_node("n1");
    world.api.settle();
    EXPECT_FALSE(nodes.node(nodes.find("n1")).has_inventory());
  }
}

}  // namespace
}  // namespace chipweave::sched::test

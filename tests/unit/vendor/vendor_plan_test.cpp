// Plans of gangs with a vendor's keys: blocks of super-pods, soft splits, repair, and leaf
// affinity.
#include "common/solver/vendor/vendor_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace chipweave::solver {
namespace {

using domain::Gang;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class VendorPlans : public ::testing::Test {
 protected:
  void add(const std::string& above, const std::string& name, int free = 16) {
    const auto id = fabric.add(name, {above});
    ASSERT_TRUE(id);
    fabric.set_free(*id, free);
  }
  static Gang gang_of(int pods) {
    Gang gang;
    gang.pods = pods;
    gang.min_member = pods;
    gang.chips_per_pod = 16;
    return gang;
  }
  static domain::VendorJob blocks(int chips, bool soft) {
    domain::VendorJob job;
    job.levels.super_pod = 0;
    job.ascend.emplace();
    job.ascend->sp_block = chips;
    job.ascend->reserve_nodes = 0;
    job.ascend->soft = soft;
    return job;
  }
  static domain::VendorJob leaves() {
    domain::VendorJob job;
    job.levels.leaf = 0;
    job.tor.emplace();
    job.tor->schema = domain::TorSchema::normal;
    job.tor->network = domain::TorNetwork::nslb_2;
    return job;
  }
  std::map<std::string, int> shares(const domain::Plan& plan) const {
    std::map<std::string, int> out;
    for (const domain::PlannedPod& pod : plan.pods) ++out[fabric.node(pod.node).name];
    return out;
  }

  const std::vector<std::string> levels{"above"};
  Fabric fabric{1};
};

TEST_F(VendorPlans, BlocksStayWhole) {
  for (const char* name : {"a", "b", "c"}) add("s1", name);
  for (const char* name : {"d", "e", "f"}) add("s2", name);
  const auto found = plan_vendor_gang(fabric, levels, gang_of(4), blocks(32, false));
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_THAT(shares(found->plan),
              UnorderedElementsAre(Pair("a", 1), Pair("b", 1), Pair("d", 1), Pair("e", 1)));
}

TEST_F(VendorPlans, SoftBlocksAreSplitWhereNoWholeOneFits) {
  for (const char* name : {"a", "b", "c"}) add("s1", name);
  add("s2", "d");
  const auto hard = plan_vendor_gang(fabric, levels, gang_of(4), blocks(32, false));
  ASSERT_TRUE(hard);
  EXPECT_FALSE(hard->plan.fits);
  const auto soft = plan_vendor_gang(fabric, levels, gang_of(4), blocks(32, true));
  ASSERT_TRUE(soft) << soft.error().text();
  ASSERT_TRUE(soft->plan.fits) << soft->plan.reason;
  EXPECT_EQ(shares(soft->plan).size(), 4U) << "one pod per node, none placed twice";
}

TEST_F(VendorPlans, ARepairOfSoftBlocksMovesOnlyWhatWasLost) {
  for (const char* name : {"a", "b"}) add("s1", name, 0);
  for (const char* name : {"d", "e", "f"}) add("s2", name, 0);
  add("s2", "g");
  Gang gang = gang_of(2);
  gang.existing[fabric.find("a")].pods = 1;
  gang.existing[fabric.find("b")].pods = 1;
  gang.failed = std::vector<FabricNodeId>{fabric.find("a")};
  const auto hard = plan_vendor_gang(fabric, levels, gang, blocks(32, false));
  ASSERT_TRUE(hard) << hard.error().text();
  EXPECT_FALSE(hard->plan.fits) << "s1 has no capacity";
  const auto soft = plan_vendor_gang(fabric, levels, gang, blocks(32, true));
  ASSERT_TRUE(soft) << soft.error().text();
  EXPECT_THAT(shares(soft->plan), UnorderedElementsAre(Pair("g", 1)));
}

TEST_F(VendorPlans, ARepairOfSoftBlocksThatFitsPlacesNothingTwice) {
  for (const char* name : {"a", "b"}) add("s1", name, 0);
  add("s1", "c");
  add("s2", "d");
  Gang gang = gang_of(2);
  gang.existing[fabric.find("a")].pods = 1;
  gang.existing[fabric.find("b")].pods = 1;
  gang.failed = std::vector<FabricNodeId>{fabric.find("a")};
  const auto found = plan_vendor_gang(fabric, levels, gang, blocks(32, true));
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_THAT(shares(found->plan), UnorderedElementsAre(Pair("c", 1)));
}

TEST_F(VendorPlans, LeafAffinityTellsWhatLeavesAreFromNowOn) {
  for (const char* name : {"a", "b"}) add("l1", name);
  for (const char* name : {"c", "d"}) add("l2", name);
  const auto found = plan_vendor_gang(fabric, levels, gang_of(3), leaves());
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->leaves.size(), 2U);
  EXPECT_EQ(found->leaves[0].state.use, domain::TorUse::exclusive);
  EXPECT_EQ(found->leaves[1].state.use, domain::TorUse::shared);
}

TEST_F(VendorPlans, LeafAffinityRefusesRulesThatItWouldNotKeep) {
  add("l1", "a");
  Gang gang = gang_of(1);
  gang.allowed[0] = {fabric.find("a")};
  const auto found = plan_vendor_gang(fabric, levels, gang, leaves());
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().text(), HasSubstr("allowed_nodes"));
}

}  // namespace
}  // namespace chipweave::solver

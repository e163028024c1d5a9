// Vendors' keys as constraints: documented behaviour of their schedulers as cases.
#include "common/solver/vendor/vendor_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace chipweave::solver {
namespace {

using domain::AscendRequest;
using domain::AscendServer;
using domain::kNoLevel;
using domain::NvlinkRequest;
using domain::TorNetwork;
using domain::TorRequest;
using domain::TorSchema;
using domain::VendorJob;
using domain::VendorLevels;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// super-pod 0, UB domain 1, rack 2, leaf 3, NVLink domain 4
constexpr VendorLevels kLevels{0, 2, 1, 3, 4};

VendorJob job(int pods, int chips, AscendRequest ask) {
  return {pods, chips, kLevels, ask, std::nullopt, std::nullopt};
}
AscendRequest a3(int sp_block) {
  AscendRequest out;
  out.server = AscendServer::a3;
  out.sp_block = sp_block;
  return out;
}
AscendRequest a5(int sp_block, AscendServer server = AscendServer::a5_950) {
  AscendRequest out = a3(sp_block);
  out.server = server;
  return out;
}
std::string problem(const VendorJob& of) {
  const auto out = vendor_constraints(of);
  return out ? "" : out.error().text();
}
VendorConstraints constraints(const VendorJob& of) {
  auto out = vendor_constraints(of);
  EXPECT_TRUE(out) << out.error().text();
  return std::move(out).value_or({});
}

TEST(VendorRules, ABlockIsASliceOfWholeNodes) {
  const VendorConstraints c = constraints(job(6, 16, a3(32)));
  EXPECT_THAT(c.slices, ElementsAre(VendorSlice{0, 2, false}));
  EXPECT_EQ(c.required_level, kNoLevel);
  EXPECT_EQ(c.keep_spare, (domain::Spare{0, 2}));
  EXPECT_TRUE(c.whole_nodes);
  EXPECT_FALSE(c.by_leaf_switch);
}

TEST(VendorRules, OneBlockIsOneSuperPod) {
  const VendorConstraints c = constraints(job(4, 16, a3(64)));
  EXPECT_EQ(c.required_level, 0);
  EXPECT_THAT(c.slices, ElementsAre(VendorSlice{0, 4, false}));
}

TEST(VendorRules, WithoutSpBlockTheJobIsOneBlock) {
  EXPECT_EQ(constraints(job(4, 16, AscendRequest{})).required_level, 0);
  EXPECT_THAT(problem(job(49, 16, AscendRequest{})),
              AllOf(HasSubstr("ascend.sp_block"), HasSubstr("is not given"),
                    HasSubstr("a super-pod has 768 chips (48 nodes of 16)")));
}

TEST(VendorRules, SoftBlocksAreWishes) {
  AscendRequest ask = a3(64);
  ask.soft = true;
  const VendorConstraints c = constraints(job(4, 16, ask));
  EXPECT_EQ(c.required_level, kNoLevel);
  EXPECT_THAT(c.slices, ElementsAre(VendorSlice{0, 4, true}));
  EXPECT_THAT(without_soft_slices(c).slices, IsEmpty());
  EXPECT_EQ(without_soft_slices(c).keep_spare, c.keep_spare);
}

TEST(VendorRules, ASinglePodIsItsOwnBlock) {
  for (const int chips : {1, 2, 6, 16}) {
    const VendorConstraints c = constraints(job(1, chips, a3(chips)));
    EXPECT_THAT(c.slices, IsEmpty());
    EXPECT_FALSE(c.whole_nodes);
    EXPECT_EQ(c.required_level, 0);
  }
  EXPECT_THAT(problem(job(1, 3, a3(3))), AllOf(HasSubstr("chips_per_pod"), HasSubstr("even")));
  EXPECT_THAT(problem(job(1, 18, a3(18))), HasSubstr("chips_per_pod"));
  EXPECT_THAT(problem(job(1, 4, a3(16))),
              HasSubstr("ascend.sp_block: is 16: must equal the 4 chips"));
  // pods on A5 may have any number of chips
  EXPECT_EQ(problem(job(1, 3, a5(3, AscendServer::a5_850))), "");
  EXPECT_EQ(problem(job(1, 7, a5(7))), "");
  EXPECT_THAT(problem(job(1, 9, a5(9))), HasSubstr("chips_per_pod"));
}

TEST(VendorRules, BlocksThatCannotBe) {
  EXPECT_THAT(problem(job(4, 16, a3(0))), HasSubstr("ascend.sp_block: is 0"));
  EXPECT_THAT(problem(job(4, 16, a3(24))), HasSubstr("multiple of the 16 chips of a node"));
  EXPECT_THAT(problem(job(4, 16, a3(8))), HasSubstr("multiple of the 16 chips of a node"));
  EXPECT_THAT(problem(job(4, 16, a3(48))), HasSubstr("must divide the 64 chips of the job"));
  EXPECT_THAT(problem(job(4, 8, a3(16))),
              AllOf(HasSubstr("chips_per_pod"), HasSubstr("whole nodes")));
  EXPECT_EQ(problem(job(96, 16, a3(768))), "");
  EXPECT_THAT(problem(job(98, 16, a3(784))), HasSubstr("a super-pod has 768 chips"));
  EXPECT_THAT(problem(job(0, 16, a3(16))), HasSubstr("pods"));
  EXPECT_THAT(problem(job(1, 0, a3(1))), HasSubstr("chips_per_pod"));
}

TEST(VendorRules, SizesOfSuperPodAndReserve) {
  AscendRequest ask = a3(32);
  ask.super_pod_size = 1;
  EXPECT_THAT(problem(job(4, 16, ask)), HasSubstr("a super-pod has 16 chips (1 node of 16)"));
  ask.super_pod_size = 2;
  EXPECT_EQ(constraints(job(4, 16, ask)).keep_spare, (domain::Spare{0, 1}));
  ask.reserve_nodes = 2;
  EXPECT_THAT(problem(job(4, 16, ask)), HasSubstr("ascend.reserve_nodes: must be 0 to 1"));
  ask.reserve_nodes = 0;
  EXPECT_EQ(constraints(job(4, 16, ask)).keep_spare, std::nullopt);
  ask.super_pod_size = 0;
  EXPECT_THAT(problem(job(4, 16, ask)), HasSubstr("ascend.super_pod_size"));
  ask = a5(32);
  ask.super_pod_size = 1025;
  EXPECT_THAT(problem(job(4, 8, ask)), HasSubstr("at most 1024 nodes"));
  ask.super_pod_size = 1024;
  EXPECT_EQ(problem(job(4, 8, ask)), "");
}

TEST(VendorRules, NodesOfEightDies) {
  AscendRequest ask = a3(16);
  ask.node_chips = 8;
  EXPECT_THAT(constraints(job(4, 8, ask)).slices, ElementsAre(VendorSlice{0, 2, false}));
  ask.node_chips = 0;
  EXPECT_THAT(problem(job(4, 8, ask)), HasSubstr("ascend.node_chips"));
}

TEST(VendorRules, The850IsLikeA3WithEightChips) {
  EXPECT_THAT(constraints(job(4, 8, a5(16, AscendServer::a5_850))).slices,
              ElementsAre(VendorSlice{0, 2, false}));
  EXPECT_THAT(problem(job(4, 16, a5(16, AscendServer::a5_850))), HasSubstr("8 chips each"));
}

TEST(VendorRules, RackBlocks) {
  AscendRequest ask = a5(64);
  ask.ra_block = 16;
  EXPECT_THAT(constraints(job(16, 8, ask)).slices,
              ElementsAre(VendorSlice{0, 8, false}, VendorSlice{2, 2, false}));
  ask.ra_block = 64;
  EXPECT_THAT(constraints(job(16, 8, ask)).slices,
              ElementsAre(VendorSlice{0, 8, false}, VendorSlice{2, 8, false}));
  ask.ra_block = 4;  // less than a node
  EXPECT_THAT(constraints(job(16, 8, ask)).slices, ElementsAre(VendorSlice{0, 8, false}));
  for (const int bad : {0, -8, 12, 24, 128}) {
    ask.ra_block = bad;
    EXPECT_THAT(problem(job(16, 8, ask)), HasSubstr("ascend.ra_block: is " + std::to_string(bad)))
        << bad;
  }
  ask = a5(32);
  ask.ra_block = 64;
  EXPECT_THAT(problem(job(16, 8, ask)), HasSubstr("must divide sp_block, which is 32"));
  ask.server = AscendServer::a5_850;
  ask.ra_block = 16;
  EXPECT_THAT(problem(job(16, 8, ask)), HasSubstr("only the racks of a 950"));
}

TEST(VendorRules, OnlyThe950HasRacksAndUbMemory) {
  AscendRequest ask;
  ask.sp_block = 64;
  ask.ra_block = 16;  // implies the server type
  EXPECT_EQ(problem(job(16, 8, ask)), "");
  ask.server = AscendServer::a3;
  EXPECT_THAT(problem(job(16, 8, ask)), HasSubstr("ascend.ra_block"));
  ask.ra_block.reset();
  ask.ub_memory = true;
  EXPECT_THAT(problem(job(16, 8, ask)), HasSubstr("ascend.ub_memory"));
}

TEST(VendorRules, UbMemoryIsOneDomain) {
  AscendRequest ask = a5(64);
  ask.ub_memory = true;
  ask.ra_block = 16;
  const VendorConstraints c = constraints(job(128, 8, ask));
  EXPECT_EQ(c.required_level, 1);
  // the super-pod slice does not apply above the required level
  EXPECT_THAT(c.slices, ElementsAre(VendorSlice{1, 8, false}, VendorSlice{2, 2, false}));
  EXPECT_EQ(c.keep_spare, (domain::Spare{0, 2}));
  ask.sp_block = 8;
  ask.ra_block.reset();
  ask.super_pod_size = 1024;
  EXPECT_THAT(problem(job(129, 8, ask)),
              HasSubstr("ascend.ub_memory: a UB memory domain is 16 racks, 1024 chips; the job has "
                        "1032"));
}

TEST(VendorRules, LevelsHaveToBeThereAndNested) {
  AscendRequest ask = a5(64);
  VendorJob of = job(16, 8, ask);
  of.levels.super_pod = kNoLevel;
  EXPECT_THAT(problem(of), HasSubstr("ascend.super_pod_level: is missing"));
  of.levels = kLevels;
  of.ascend->ra_block = 16;
  of.levels.rack = kNoLevel;
  EXPECT_THAT(problem(of), HasSubstr("ascend.rack_level: is missing"));
  of.levels.rack = 0;
  EXPECT_THAT(problem(of), HasSubstr("must be a finer level than super_pod_level"));
  of.levels.rack = 1;
  of.ascend->ub_memory = true;
  EXPECT_THAT(problem(of), HasSubstr("must be a finer level than ub_level"));
  of.levels.ub_domain = kNoLevel;
  EXPECT_THAT(problem(of), HasSubstr("ascend.ub_level: is missing"));
}

TEST(VendorRules, AnImexDomain) {
  VendorJob of{16, 4, kLevels, std::nullopt, std::nullopt, NvlinkRequest{}};
  EXPECT_EQ(constraints(of).required_level, 4);
  EXPECT_THAT(constraints(of).slices, IsEmpty());
  of.nvlink->segment = 8;
  EXPECT_EQ(constraints(of).required_level, kNoLevel);
  EXPECT_THAT(constraints(of).slices, ElementsAre(VendorSlice{4, 8, false}));
  of.nvlink->segment = 5;
  EXPECT_THAT(problem(of), HasSubstr("nvl_segment: is 5: must divide the 16 pods"));
  of.nvlink->segment = 0;
  EXPECT_THAT(problem(of), HasSubstr("nvl_segment"));
  of.levels.nvlink = kNoLevel;
  EXPECT_THAT(problem(of), HasSubstr("nvl_domain_level: is missing"));
}

TEST(VendorRules, LeafSwitches) {
  VendorJob of{8, 8, kLevels, std::nullopt, TorRequest{TorSchema::large_model}, std::nullopt};
  EXPECT_TRUE(constraints(of).by_leaf_switch);
  EXPECT_EQ(constraints(of).required_level, kNoLevel);
  of.pods = 3;
  EXPECT_EQ(constraints(of).required_level, 3);
  of.tor->schema = TorSchema::normal;
  EXPECT_EQ(constraints(of).required_level, kNoLevel);
  of.tor->network = TorNetwork::single_layer;
  EXPECT_EQ(constraints(of).required_level, 3);
  of.levels.leaf = kNoLevel;
  EXPECT_THAT(problem(of), HasSubstr("tor.level: is missing"));
  of.tor->schema = TorSchema::none;
  EXPECT_FALSE(constraints(of).by_leaf_switch);
}

TEST(VendorRules, SlicesOfTwoVendorsHaveToNest) {
  VendorJob of = job(12, 16, a3(64));
  of.nvlink = NvlinkRequest{3};
  EXPECT_THAT(problem(of), HasSubstr("the smaller must divide the larger"));
  of.nvlink = NvlinkRequest{2};
  EXPECT_THAT(constraints(of).slices,
              ElementsAre(VendorSlice{0, 4, false}, VendorSlice{4, 2, false}));
  of.levels.nvlink = 0;  // one level: both
  of.nvlink = NvlinkRequest{6};
  EXPECT_THAT(constraints(of).slices, ElementsAre(VendorSlice{0, 12, false}));
  of.ascend->soft = true;  // a soft slice does not make a hard one stricter
  EXPECT_THAT(constraints(of).slices, ElementsAre(VendorSlice{0, 6, false}));
}

TEST(VendorRules, NothingAskedNothingConstrained) {
  const VendorConstraints c = constraints({5, 3, {}, {}, {}, {}});
  EXPECT_EQ(c.required_level, kNoLevel);
  EXPECT_THAT(c.slices, IsEmpty());
  EXPECT_FALSE(c.keep_spare);
}

TEST(VendorLevelNames, TheFirstNameThatIsThere) {
  const VendorLevels none;
  EXPECT_EQ(domain::default_vendor_levels({}), none);
  EXPECT_EQ(domain::default_vendor_levels({"block", "Rack", "hostname"}), none);
  EXPECT_EQ(domain::default_vendor_levels({"superPodID", "ub", "rackID", "tor", "nvl"}),
            (VendorLevels{0, 2, 1, 3, 4}));
  // tor is before leaf in the table, whatever the order of the levels
  EXPECT_EQ(domain::default_vendor_levels({"leaf", "tor"}).leaf, 1);
  EXPECT_EQ(domain::default_vendor_levels({"nvidia.com/gpu.clique"}).nvlink, 0);
}

}  // namespace
}  // namespace chipweave::solver

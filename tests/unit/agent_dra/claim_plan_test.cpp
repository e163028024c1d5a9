// What claims are prepared with, and the claims that are refused.
#include "node-agent/dra/claims/claim_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node-agent/dra/claims/cdi_spec.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/agent_dra/machine.hpp"

namespace chipweave::agent::dra {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class ClaimPlan : public testing::Test {
 protected:
  ClaimPlan() {
    for (const domain::Chip& chip : state_.topology.chips())
      host_.minors[chip.pci] = 7 - chip.index.value;
  }
  Result<codec::PreparedClaim> plan(std::vector<codec::AllocatedResult> results,
                                    bool one_container = false) {
    const codec::DraClaim claim{"team", "c", "u1", one_container, std::move(results)};
    return plan_claim(claim, {kDriver, kNode, state_, exposure_, host_});
  }
  static codec::AllocatedResult one(const std::string& device, const std::string& request = "a") {
    return {request, kDriver, kNode, device};
  }
  std::string refusal(std::vector<codec::AllocatedResult> results) {
    const auto got = plan(std::move(results));
    return got ? "prepared" : got.error().text();
  }

  NodeState state_ = two_islands();
  Exposure exposure_ = usual_exposure(state_.topology);
  FakeHost host_;
};

TEST_F(ClaimPlan, GivesTheNodesAndVariablesOfItsChips) {
  const auto got = plan({one("gpu-3"), one("gpu-1")});
  ASSERT_TRUE(got.ok()) << got.error().text();
  ASSERT_EQ(got->devices.size(), 2U);
  EXPECT_EQ(got->devices[0].chip, "GPU-00000003");
  EXPECT_THAT(got->devices[0].env, ElementsAre("CHIPWEAVE_CHIP_3=GPU-00000003",
                                               "NVIDIA_VISIBLE_DEVICES=GPU-00000003,GPU-00000001"));
  EXPECT_THAT(got->devices[1].env, ElementsAre("CHIPWEAVE_CHIP_1=GPU-00000001",
                                               "NVIDIA_VISIBLE_DEVICES=GPU-00000003,GPU-00000001"));
  // By the minor number, which is not the index.
  EXPECT_EQ(got->devices[0].nodes.front().path, "/dev/nvidia4");
  EXPECT_EQ(got->devices[0].nodes.size(), 4U);
}

TEST_F(ClaimPlan, ListsNoChipsWhereContainersMayShareTheClaim) {
  const auto got = plan({one("gpu-3", "a"), one("gpu-1", "b")});
  ASSERT_TRUE(got.ok());
  EXPECT_THAT(got->devices[0].env,
              ElementsAre("CHIPWEAVE_CHIP_3=GPU-00000003", "NVIDIA_VISIBLE_DEVICES=void"));
  const auto said = plan({one("gpu-3", "a"), one("gpu-1", "b")}, true);
  EXPECT_THAT(said->devices[0].env,
              ElementsAre("CHIPWEAVE_CHIP_3=GPU-00000003",
                          "NVIDIA_VISIBLE_DEVICES=GPU-00000003,GPU-00000001"));
}

TEST_F(ClaimPlan, LeavesTheLibrariesToTheVendorsToolkit) {
  exposure_.toolkit_kind = "nvidia.com/gpu";
  const auto got = plan({one("gpu-3")});
  EXPECT_THAT(got->devices[0].also, ElementsAre("nvidia.com/gpu=GPU-00000003"));
  EXPECT_THAT(got->devices[0].env,
              ElementsAre("CHIPWEAVE_CHIP_3=GPU-00000003", "NVIDIA_VISIBLE_DEVICES=void"));
}

TEST_F(ClaimPlan, LeavesDevicesOfOtherDriversToThem) {
  const auto got =
      plan({{"nic", "nic.example.com", "elsewhere", "nic-0", true, true}, one("gpu-2")});
  ASSERT_TRUE(got.ok()) << got.error().text();
  ASSERT_EQ(got->devices.size(), 1U);
  EXPECT_EQ(got->devices[0].device, "gpu-2");
  EXPECT_THAT(refusal({{"nic", "nic.example.com", kNode, "nic-0"}}),
              HasSubstr("no device of driver"));
}

TEST_F(ClaimPlan, RefusesWhatItCannotHaveOffered) {
  EXPECT_THAT(refusal({}), HasSubstr("no devices are allocated"));
  EXPECT_THAT(refusal({one("gpu-8")}), HasSubstr("is not a chip of this node"));
  EXPECT_THAT(refusal({one("gpu-1"), one("gpu-1", "b")}), HasSubstr("allocated twice"));
  EXPECT_THAT(refusal({{"a", kDriver, "n2", "gpu-1"}}), HasSubstr("is of pool \"n2\""));
  EXPECT_THAT(refusal({{"a", kDriver, kNode, "gpu-1", true}}), HasSubstr("admin access"));
  EXPECT_THAT(refusal({{"a", kDriver, kNode, "gpu-1", false, true}}), HasSubstr("is shared"));
  EXPECT_THAT(refusal({one("gpu-01")}), HasSubstr("is not a chip of this node"));
}

TEST_F(ClaimPlan, RefusesChipsThatAreUnhealthyOrGone) {
  state_ = two_islands({5});
  EXPECT_THAT(refusal({one("gpu-4"), one("gpu-5")}), HasSubstr("xid.79: fell off the bus"));
  EXPECT_EQ(refusal({one("gpu-4")}), "prepared");
  host_.missing.insert("/dev/nvidia3");
  EXPECT_THAT(refusal({one("gpu-4")}), HasSubstr("this node has no /dev/nvidia3"));
  host_.minors.clear();
  EXPECT_THAT(refusal({one("gpu-0")}), HasSubstr("the minor of chip 0 is not known"));
  host_.missing = {"/dev/nvidia-uvm-tools"};
  host_.minors[state_.topology.chip(0).pci] = 0;
  EXPECT_EQ(plan({one("gpu-0")})->devices[0].nodes.size(), 3U);
}

// The refusal says what to look at; nodes without the minor do not need it.
TEST_F(ClaimPlan, NeedsTheMinorOnlyWhereItIsPartOfANode) {
  host_.minors.clear();
  EXPECT_THAT(refusal({one("gpu-0")}),
              AllOf(HasSubstr("/proc/driver/nvidia/gpus/" + state_.topology.chip(0).pci),
                    HasSubstr("set --dra-device-nodes")));
  host_.missing = {"/dev/nvidiactl"};
  exposure_.nodes = parse_node_rules("/dev/nvidia{index},/dev/nvidiactl?").value();
  EXPECT_EQ(refusal({one("gpu-0")}), "prepared");
  exposure_.nodes = parse_node_rules("/dev/nvidia{index},/dev/nvidiactl").value();
  EXPECT_THAT(refusal({one("gpu-0")}),
              AllOf(HasSubstr("this node has no /dev/nvidiactl"), HasSubstr("--dra-device-nodes")));
}

TEST_F(ClaimPlan, FollowsLinksToDeviceNodes) {
  exposure_.nodes = parse_node_rules("/dev/dri/by-path/pci-{pci}-render,/dev/kfd?").value();
  const std::string link = "/dev/dri/by-path/pci-" + state_.topology.chip(0).pci + "-render";
  host_.links[link] = "/dev/dri/renderD128";
  host_.missing = {"/dev/kfd"};
  EXPECT_THAT(plan({one("gpu-0")})->devices[0].nodes,
              ElementsAre(codec::CdiNode{"/dev/dri/renderD128", ""}));
}

TEST(NodeRules, AreBelowDev) {
  EXPECT_THAT(parse_node_rules("/dev/fake{index},/dev/ctl?").value(),
              ElementsAre(NodeRule{"/dev/fake{index}", false}, NodeRule{"/dev/ctl", true}));
  for (const char* wrong : {"", "/etc/passwd", "/dev/../etc/x", "/dev/{what}", "/dev/{index",
                            "/dev/index}", "/dev/a,", "dev/a"})
    EXPECT_FALSE(parse_node_rules(wrong).ok()) << wrong;
}

TEST_F(ClaimPlan, TheFileForTheContainerRuntime) {
  const auto got = plan({one("gpu-3"), one("gpu-1")});
  EXPECT_EQ(write_cdi_spec(kDriver, *got),
            test::file_content(test::source_path("tests/unit/agent_dra/golden/claim.cdi.json")));
  EXPECT_EQ(cdi_name(kDriver, "u1", "gpu-3"), "gpu.chipweave.dev/claim=u1-gpu-3");
}

}  // namespace
}  // namespace chipweave::agent::dra

// No pod gets an NPU of which the agent does not know which one it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/component/agent_hardware/rig.hpp"

namespace chipweave {
namespace {

constexpr const char* kNpu = "huawei.com/Ascend910";

// An Atlas 800T A2 as published, without its driver: NPU 0 is 0000:c1:00.0.
struct IdentityDrills : testing::Test {
  Rig rig;
  std::unique_ptr<Program> program;

  void begin(std::vector<std::string> more = {}) {
    for (const char* bus : {"c1", "c2", "81", "82", "01", "02", "41", "42"}) {
      const std::string at = "host/sys/bus/pci/devices/0000:" + std::string(bus) + ":00.0/";
      rig.folder().put(at + "class", "0x120000\n");
      rig.folder().put(at + "vendor", "0x19e5\n");
      rig.folder().put(at + "device", "0xd802\n");
      rig.folder().put(at + "numa_node", "0\n");
    }
    program = rig.agent_on_bus("n1", std::move(more));
    ASSERT_TRUE(eventually([&] { return !rig.node("n1").is_null(); })) << program->log();
  }
};

TEST_F(IdentityDrills, NpusThatOnlyTheBusShowsAreNotOffered) {
  begin();
  EXPECT_EQ(rig.unhealthy("n1"), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(rig.decide("n1", 1, kNpu), std::nullopt);
  EXPECT_EQ(rig.decide("n1", 8, kNpu), std::nullopt);
  EXPECT_THAT(program->log(), testing::HasSubstr("code=ascend.identity-unknown"));
}

// Nothing else keeps such a pod from its chips.
TEST_F(IdentityDrills, ThePolicyDecides) {
  begin({"--health-policy", rig.folder().put("policy.yaml",
                                             "rules:\n"
                                             "- {code: ascend.identity-unknown, effect: note}\n"
                                             "- {code: driver.absent, effect: note}\n")});
  EXPECT_THAT(rig.unhealthy("n1"), testing::IsEmpty());
  EXPECT_NE(rig.decide("n1", 1, kNpu), std::nullopt);
}

}  // namespace
}  // namespace chipweave

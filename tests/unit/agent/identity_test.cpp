#include "node-agent/app/identity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/domain/ascend_family.hpp"
#include "common/domain/topology_edit.hpp"
#include "common/io/files.hpp"
#include "tests/fakes/agent/machines.hpp"

namespace chipweave::agent {
namespace {

using testing::ElementsAre;

domain::NodeTopology profile(const std::string& name) {
  auto loaded = io::load_machine(name);
  EXPECT_TRUE(loaded.ok()) << name;
  return std::move(loaded->topology);
}

TEST(Identity, ResourcesFollowTheVendor) {
  EXPECT_THAT(*default_resources(profile("hgx-h100-8")),
              ElementsAre("nvidia.com/gpu", "aliyun.com/gpu"));
  EXPECT_THAT(*default_resources(profile("mi300x-8")), ElementsAre("amd.com/gpu"));
  EXPECT_THAT(*default_resources(profile("metax-c550-8")), ElementsAre("metax-tech.com/gpu"));
  for (const char* name :
       {"ascend-910a-8", "ascend-910a-half-4", "ascend-910b-8", "ascend-910b-16", "ascend-a3-16"}) {
    EXPECT_THAT(*default_resources(profile(name)),
                ElementsAre("huawei.com/Ascend910", "huawei.com/ascend-1980"))
        << name;
  }
  EXPECT_THAT(*default_resources(profile("ascend-310-card-4")),
              ElementsAre("huawei.com/Ascend310"));
  EXPECT_THAT(*default_resources(profile("ascend-310p-8")), ElementsAre("huawei.com/Ascend310P"));
  EXPECT_THAT(*default_resources(profile("ascend-a5-8")), ElementsAre("huawei.com/npu"));
}

TEST(Identity, AnUnknownVendorNeedsItsResourceSet) {
  const auto got = default_resources(ring_of_four("acme"));
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().text(), testing::HasSubstr("--resource"));
}

TEST(Identity, ChipsWithoutIdGetAStableOne) {
  const auto got = with_identity(ring_of_four(), "n1");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->chip(2).id, "nvidia-n1-2");
  EXPECT_FALSE(got->chip(2).physical_id);
  const auto kept = domain::with_chips(
      ring_of_four(), [](domain::Chip& c) { c.id = "GPU-" + std::to_string(c.index.value); });
  EXPECT_EQ(with_identity(*kept, "n1")->chip(2).id, "GPU-2");
}

TEST(Identity, AscendChipsAreNamedByPhysicalId) {
  const auto plain = with_identity(profile("ascend-910b-8"), "n1");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->chip(3).id, "Ascend910-3");
  EXPECT_EQ(plain->chip(3).physical_id, 3);
  const auto moved = domain::with_chips(profile("ascend-910b-8"), [](domain::Chip& c) {
    c.id.clear();
    c.physical_id = c.index.value + 8;
  });
  EXPECT_EQ(with_identity(*moved, "n1")->chip(3).id, "Ascend910-11");
  EXPECT_EQ(with_identity(profile("ascend-a5-8"), "n1")->chip(0).id, "npu-0");
  const auto unknown = domain::with_chips(profile("ascend-910b-8"), [](domain::Chip& c) {
    c.id = domain::chip_id_by_place(std::to_string(c.index.value));
    c.physical_id.reset();
  });
  EXPECT_EQ(with_identity(*unknown, "n1")->chip(3).physical_id, std::nullopt);
}

}  // namespace
}  // namespace chipweave::agent

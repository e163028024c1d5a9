#include "common/domain/vendor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/domain/topology_builder.hpp"

namespace chipweave::domain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

NodeTopology two_chips(const std::string& vendor, const std::string& model) {
  TopologyBuilder builder;
  builder.vendor = vendor;
  builder.model = model;
  for (const int index : {0, 1}) {
    Chip chip;
    chip.index = ChipIndex{index};
    builder.add_chip(chip);
  }
  auto topology = std::move(builder).build();
  EXPECT_TRUE(topology.ok());
  return std::move(topology).value();
}

std::vector<std::string> resources(const std::string& vendor, const std::string& model = "") {
  return usual_resources(two_chips(vendor, model));
}

TEST(Vendor, EachIsFoundByItsNameAndItsId) {
  for (const VendorId id :
       {VendorId::unknown, VendorId::nvidia, VendorId::amd, VendorId::ascend, VendorId::metax}) {
    EXPECT_EQ(vendor_of(id).id, id);
    EXPECT_EQ(vendor_of(vendor_of(id).name).id, id);
  }
}

TEST(Vendor, AnUnknownNameIsAnUnknownVendor) {
  EXPECT_EQ(vendor_of("acme").id, VendorId::unknown);
  EXPECT_EQ(vendor_of("NVIDIA").id, VendorId::unknown) << "names are exact";
  EXPECT_THAT(resources("acme"), IsEmpty());
}

TEST(Vendor, ChipsAreCountedAsTheVendorsResource) {
  EXPECT_THAT(resources("nvidia"), ElementsAre("nvidia.com/gpu", "aliyun.com/gpu"));
  EXPECT_THAT(resources("amd"), ElementsAre("amd.com/gpu"));
  EXPECT_THAT(resources("metax"), ElementsAre("metax-tech.com/gpu"));
  EXPECT_THAT(resources("ascend", "Ascend910B3"),
              ElementsAre("huawei.com/Ascend910", "huawei.com/ascend-1980"));
  EXPECT_THAT(resources("ascend", "Ascend310P"), ElementsAre("huawei.com/Ascend310P"));
  EXPECT_THAT(resources("ascend", "Ascend950"), ElementsAre("huawei.com/npu"));
}

}  // namespace
}  // namespace chipweave::domain

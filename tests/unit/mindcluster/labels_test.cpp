#include <gtest/gtest.h>

#include "common/codec/mindcluster/names/node_labels.hpp"

namespace chipweave::codec::mindcluster {
namespace {

TEST(ServerType, IsTheCardAndItsCores) {
  for (const char* label : {"Ascend910-32", "Ascend910B-20", "Ascend310P-8", "npu-36"}) {
    const auto type = read_server_type(label);
    ASSERT_TRUE(type.has_value()) << label;
    EXPECT_EQ(write_server_type(*type), label);
  }
  EXPECT_EQ(read_server_type("Ascend910B-20"), (ServerType{"Ascend910B", 20}));
}

TEST(ServerType, OtherTextsAreNone) {
  for (const char* label :
       {"", "-", "-20", "npu", "npu-", "npu-x", "npu-0", "npu-1025", "npu- 8"}) {
    EXPECT_EQ(read_server_type(label), std::nullopt) << label;
  }
}

TEST(ChipMemory, IsInGigabytes) {
  EXPECT_EQ(read_chip_memory("64G"), 64);
  EXPECT_EQ(write_chip_memory(64), "64G");
  for (const char* label : {"", "G", "64", "64Gi", "-1G", "0G", "99999999999G"}) {
    EXPECT_EQ(read_chip_memory(label), std::nullopt) << label;
  }
}

}  // namespace
}  // namespace chipweave::codec::mindcluster

// Devices of DRA drivers as chips of a node.
#include "common/kube/device_catalog.hpp"

#include <gtest/gtest.h>

namespace chipweave::kube {
namespace {

using codec::ClaimedDevice;
using codec::KubeSlice;

KubeSlice slice_of(const std::string& name, std::int64_t generation, const std::string& node,
                   std::vector<codec::SliceDevice> devices) {
  KubeSlice out;
  out.name = name;
  out.driver = "gpu.nvidia.com";
  out.node = node;
  out.pool = "n1";
  out.generation = generation;
  out.devices = std::move(devices);
  return out;
}

ClaimedDevice device(const std::string& name) { return {"gpu.nvidia.com", "n1", name}; }

TEST(DeviceCatalog, HasTheDevicesOfThePoolsNewestGeneration) {
  DeviceCatalog catalog;
  EXPECT_EQ(catalog.find(device("gpu-0")), nullptr);
  catalog.take(slice_of("a", 1, "n1", {{"gpu-0", "u0", "", false}, {"gpu-1", "u1", "", false}}));
  catalog.take(slice_of("b", 1, "n1", {{"gpu-2", "u2", "", true}}));
  EXPECT_EQ(catalog.find(device("gpu-1"))->uuid, "u1");
  EXPECT_FALSE(catalog.find(device("gpu-1"))->managed);
  EXPECT_TRUE(catalog.find(device("gpu-2"))->managed);
  EXPECT_EQ(catalog.find({"other.driver", "n1", "gpu-0"}), nullptr);
  EXPECT_EQ(catalog.find({"gpu.nvidia.com", "n2", "gpu-0"}), nullptr);
  catalog.take(slice_of("c", 2, "n1", {{"gpu-1", "new", "", false}}));
  EXPECT_EQ(catalog.find(device("gpu-1"))->uuid, "new");
  EXPECT_EQ(catalog.find(device("gpu-0")), nullptr) << "of an older generation";
  catalog.drop("c");
  EXPECT_EQ(catalog.find(device("gpu-0"))->uuid, "u0");
  catalog.take(slice_of("a", 1, "n1", {}));
  EXPECT_EQ(catalog.find(device("gpu-0")), nullptr) << "the slice has changed";
  catalog.drop("a");
  catalog.drop("b");
  catalog.drop("b");
  EXPECT_EQ(catalog.find(device("gpu-2")), nullptr);
}

}  // namespace
}  // namespace chipweave::kube

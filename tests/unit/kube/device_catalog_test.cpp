// Devices of DRA drivers as chips of a node.
#include "common/kube/device_catalog.hpp"

#include <gtest/gtest.h>

#include "common/domain/topology_builder.hpp"

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

// Whatever its driver is called: a claim could get the chip from it.
TEST(DeviceCatalog, AChipThatAnotherDriverOffersIsNotHandedOver) {
  domain::TopologyBuilder builder;
  builder.vendor = "nvidia";
  for (int i = 0; i < 2; ++i) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{i};
    chip.id = "u" + std::to_string(i);
    builder.add_chip(std::move(chip));
  }
  const auto machine = std::move(builder).build().value();
  const std::vector<std::string> gpus{"nvidia.com/gpu"};
  const auto problems = [&](const DeviceCatalog& catalog) {
    return not_handed_over(catalog, "n1", gpus, machine);
  };
  DeviceCatalog catalog;
  catalog.take(slice_of("a", 1, "n1", {{"gpu-0", "u0", "", true}, {"gpu-1", "u1", "", true}}));
  KubeSlice other = slice_of("b", 1, "n1", {{"x", "u1", "", true}, {"nic", "", "0000:01", true}});
  other.driver = "gpu.example.com";
  EXPECT_TRUE(problems(catalog).empty());
  catalog.take(other);
  EXPECT_EQ(problems(catalog),
            (std::map<int, std::string>{{1, "the DRA driver \"gpu.example.com\" offers it, too"}}));
  EXPECT_TRUE(devices_of_chips(catalog, "n1", gpus, machine, {0}).ok());
  EXPECT_FALSE(devices_of_chips(catalog, "n1", gpus, machine, {0, 1}).ok());
  EXPECT_EQ(offered_chips(catalog, "n1", "", machine, false)->count(1), 0U);
  catalog.drop("a");
  EXPECT_EQ(problems(catalog).at(1), "no DRA driver offers it in its ResourceSlices");
}

}  // namespace
}  // namespace chipweave::kube

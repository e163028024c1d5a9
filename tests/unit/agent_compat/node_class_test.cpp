#include "node-agent/publish/compat/node_class.hpp"

#include <gtest/gtest.h>

#include <map>

#include "common/domain/topology_builder.hpp"
#include "tests/fakes/agent/profile_states.hpp"

namespace chipweave::agent {
namespace {

TEST(NodeClass, OfTheBuiltInMachines) {
  const std::map<std::string, std::string> classes = {
      {"hgx-h100-8", "nvswitch-8"},
      {"dgx2-v100-16", "nvswitch-16"},
      {"hgx-v100-8", "mesh-8"},
      {"dgx1-p100-8", "mesh-8"},
      {"hgx-a100-4", "mesh-4"},
      {"pcie-8", "pcie-8"},
      {"pcie-nvlink-bridge-8", "mesh-4x2"},
      {"mi300x-8", "xgmi-8"},
      {"ascend-910a-8", "hccs-2x4"},
      {"ascend-910b-8", "hccs-8"},
      {"ascend-910b-16", "hccs-2x8"},
      {"ascend-a3-16", "sio-hccs-16"},
      {"ascend-a3-8", "sio-hccs-8"},
      {"ascend-a5-8", "ub-2x4"},
      {"ascend-a5-16", "ub-4x4"},
      {"ascend-310p-8", "pcie-8"},
      {"metax-c550-8", "metaxlink-8"},
      {"metax-c550-16", "metaxlink-2x8"},
  };
  for (const auto& [name, wanted] : classes) {
    EXPECT_EQ(node_class(profile(name).topology), wanted) << name;
  }
}

TEST(NodeClass, IslandsOfUnequalSize) {
  domain::TopologyBuilder b;
  for (int i = 0; i < 3; ++i) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{i};
    b.add_chip(std::move(chip));
  }
  b.add_link(domain::ChipIndex{0}, domain::ChipIndex{1}, domain::LinkKind::nvlink);
  EXPECT_EQ(node_class(*std::move(b).build()), "mesh-mixed-3");
}

TEST(NodeClass, AFaultMakesNoOtherClass) {
  NodeState machine = profile("pcie-nvlink-bridge-8");
  ASSERT_TRUE(machine.topology.take_down(0, 1, 64));
  EXPECT_EQ(node_class(machine.topology), "mesh-4x2");
}

}  // namespace
}  // namespace chipweave::agent

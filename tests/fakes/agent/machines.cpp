#include "tests/fakes/agent/machines.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "common/domain/topology_builder.hpp"

namespace chipweave::agent {

domain::NodeTopology ring_of_four(const std::string& vendor) {
  domain::TopologyBuilder b;
  b.vendor = vendor;
  b.model = "box";
  for (int i = 0; i < 4; ++i) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{i};
    b.add_chip(std::move(chip));
    b.add_link(domain::ChipIndex{i}, domain::ChipIndex{(i + 1) % 4}, domain::LinkKind::nvlink, 2,
               20);
  }
  auto built = std::move(b).build();
  EXPECT_TRUE(built.ok());
  return std::move(built).value();
}

NodeStatePtr state_of(domain::NodeTopology topology) {
  return std::make_shared<const NodeState>(
      NodeState{"box", {"nvidia.com/gpu"}, std::move(topology)});
}

}  // namespace chipweave::agent

#include "tests/fakes/agent/machines.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "common/domain/topology_builder.hpp"
#include "node-agent/app/health/fault_effects.hpp"
#include "node-agent/app/health/operator_faults.hpp"

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

Result<domain::NodeTopology> with_faults(const domain::NodeTopology& topology,
                                         const domain::DeclaredFaults& listed) {
  const auto faults = faults_of_file(topology, listed, 0);
  if (!faults) return Error(faults.error());
  return with_effects(topology, {}, *faults);
}

NodeStatePtr state_of(domain::NodeTopology topology) {
  return std::make_shared<const NodeState>(
      NodeState{"box", {"nvidia.com/gpu"}, std::move(topology)});
}

}  // namespace chipweave::agent

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

domain::NodeTopology row_of(const std::vector<std::string>& ids) {
  domain::TopologyBuilder b;
  b.vendor = "nvidia";
  for (int i = 0; i < static_cast<int>(ids.size()); ++i) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{i};
    chip.id = ids[static_cast<std::size_t>(i)];
    chip.pci = "0000:" + chip.id + ":00.0";
    b.add_chip(std::move(chip));
    if (i == 0) continue;
    b.add_link(domain::ChipIndex{i - 1}, domain::ChipIndex{i}, domain::LinkKind::nvlink, 2);
  }
  return std::move(b).build().value();
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

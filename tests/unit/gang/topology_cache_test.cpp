// Which machines the plan of a gang cannot tell apart.
#include "common/solver/gang/chips/topology_cache.hpp"

#include <gtest/gtest.h>

#include "common/codec/topology/import.hpp"
#include "common/domain/topology_edit.hpp"
#include "common/profiles/profiles.hpp"

namespace chipweave::solver {
namespace {

domain::NodeTopology machine(const std::string& profile) {
  const auto* known = profiles::find(profile);
  return codec::import_topology_json(known->json, {})->topology;
}

domain::NodeTopology edited(const domain::NodeTopology& from, const domain::TopologyEdit& edit) {
  return domain::rebuilt(from, edit).value();
}

TEST(TopologyCache, WhatOnlyIdentifiesAMachineDoesNotCount) {
  TopologyCache cache;
  const domain::NodeTopology first = machine("hgx-h100-8");
  domain::TopologyEdit other_ids;
  other_ids.chip = [](domain::Chip& chip) {
    chip.id = "GPU-other-" + std::to_string(chip.index.value);
  };
  const auto shared = cache.get(first);
  EXPECT_EQ(cache.get(edited(first, other_ids)), shared);
  EXPECT_NE(cache.get(machine("hgx-a100-8")), shared);
}

TEST(TopologyCache, AdaptersDo) {
  TopologyCache cache;
  const domain::NodeTopology first = machine("hgx-h100-8");
  ASSERT_FALSE(first.nics().empty());
  const auto shared = cache.get(first);
  for (const auto& change : std::vector<std::function<void(domain::Nic&)>>{
           [](domain::Nic& nic) { nic.gbps /= 2; }, [](domain::Nic& nic) { nic.name += "x"; },
           [](domain::Nic& nic) { nic.pci = "0000:ff:00.0"; }}) {
    domain::TopologyEdit edit;
    edit.nics = first.nics();
    change(edit.nics->front());
    EXPECT_NE(cache.get(edited(first, edit)), shared);
  }
}

TEST(TopologyCache, ForgetsWhatNobodyHolds) {
  TopologyCache cache;
  auto shared = cache.get(machine("hgx-h100-8"));
  const std::weak_ptr<const domain::NodeTopology> seen = shared;
  shared.reset();
  EXPECT_TRUE(seen.expired());
  EXPECT_NE(cache.get(machine("hgx-h100-8")), nullptr);
}

}  // namespace
}  // namespace chipweave::solver

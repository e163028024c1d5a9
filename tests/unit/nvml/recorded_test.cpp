// Machines recorded by others: the fake driver replays their wiring, and the probe must detect it.
// The recordings are not part of the repository.
#include <gmock/gmock.h>

#include "common/codec/topology/import.hpp"
#include "node-agent/probes/nvidia/nvml/nvml_abi.hpp"
#include "node-agent/probes/nvidia/nvml_topology.hpp"
#include "tests/unit/codec_text/shared_file.hpp"
#include "tests/unit/nvml/machines.hpp"
#include "tests/unit/nvml/mock_profile.hpp"

namespace chipweave::agent {
namespace {

using domain::LinkKind;
using domain::NodeTopology;

int level_of(LinkKind path) {
  switch (path) {
    case LinkKind::board:
      return nvml::kLevelInternal;
    case LinkKind::pix:
      return nvml::kLevelSingle;
    case LinkKind::pxb:
      return nvml::kLevelMultiple;
    case LinkKind::phb:
      return nvml::kLevelHostBridge;
    case LinkKind::node:
      return nvml::kLevelNode;
    default:
      return nvml::kLevelSystem;
  }
}

void add_link(Json& machine, int from, Json link) {
  Json& links = machine["devices"][static_cast<std::size_t>(from)]["links"];
  link["link"] = links.size();
  links.push_back(std::move(link));
}

// The answers of a driver on such a machine.
Json scenario_of(const NodeTopology& known) {
  Json machine = {{"driver", "1"}, {"devices", Json::array()}, {"levels", Json::array()}};
  for (int i = 0; i < known.chip_count(); ++i) {
    Json gpu = device(known.chip(i).index.value, "GPU", std::max(known.chip(i).numa, 0));
    if (known.chip(i).numa < 0) gpu.erase("numa_mask");
    gpu["links"] = Json::array();
    machine["devices"].push_back(std::move(gpu));
    for (int j = 0; j < i; ++j) {
      machine["levels"].push_back({{"a", j}, {"b", i}, {"level", level_of(known.host_path(j, i))}});
    }
  }
  for (const domain::DirectLink& link : known.links()) {
    for (int lane = 0; lane < link.lanes; ++lane) {
      add_link(machine, link.a, link_to(0, link.b));
      add_link(machine, link.b, link_to(0, link.a));
    }
  }
  for (const domain::Switch& one : known.switches()) {
    for (const domain::SwitchPort& port : one.ports) {
      for (int lane = 0; lane < port.lanes; ++lane) {
        add_link(machine, port.slot, link_to_switch(0));
      }
    }
  }
  return machine;
}

class NvmlRecorded : public FakeDriver {
 protected:
  // One kind of machine has only direct links, another only a switch.
  template <class Read>
  void replay(const std::string& folder, const std::string& part, const Read& read) {
    const auto names = codec::shared_names(folder, part);
    if (names.empty()) GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)";
    for (const std::string& name : names) {
      SCOPED_TRACE(name);
      const Result<NodeTopology> known = read(codec::shared_file(folder + "/" + name).value());
      ASSERT_TRUE(known.ok()) << known.error().text();
      expect_same_wiring(topology(scenario_of(*known)), *known);
    }
  }
};

TEST_F(NvmlRecorded, MatricesOfNvidiaSmi) {
  replay("topologies/nvidia-smi", ".txt", [](const std::string& text) -> Result<NodeTopology> {
    auto known = codec::import_topology(text);
    if (!known) return std::move(known).error();
    return std::move(known->topology);
  });
}

TEST_F(NvmlRecorded, ProfilesOfNvmlMock) { replay("topologies/nvml-mock", ".yaml", mock_machine); }

TEST_F(NvmlRecorded, TheMachinesOfTheseTestsAreLikeRealOnes) {
  const auto h100 = codec::shared_file("topologies/nvidia-smi/h100x8-nv18.txt");
  const auto dgx1 = codec::shared_file("topologies/nvidia-smi/dgx1-v100x8-mlx5.txt");
  if (!h100 || !dgx1) GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)";
  const auto board = codec::import_topology(*h100);
  ASSERT_TRUE(board.ok()) << board.error().text();
  const NodeTopology seen = topology(hgx_h100());
  ASSERT_EQ(seen.switches().size(), board->topology.switches().size());
  EXPECT_EQ(seen.switches()[0].ports[7].lanes, board->topology.switches()[0].ports[7].lanes);
  EXPECT_EQ(seen.chip(4).numa, board->topology.chip(4).numa);
  const auto mesh = codec::import_topology(*dgx1);
  ASSERT_TRUE(mesh.ok()) << mesh.error().text();
  const NodeTopology own = topology(dgx1v());
  EXPECT_EQ(own.links().size(), mesh->topology.links().size());
}

}  // namespace
}  // namespace chipweave::agent

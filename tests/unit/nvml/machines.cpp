#include "tests/unit/nvml/machines.hpp"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "node-agent/probes/nvidia/nvml/nvml_library.hpp"
#include "node-agent/probes/nvidia/nvml_topology.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_reader.hpp"

namespace chipweave::agent {

void expect_same_wiring(const domain::NodeTopology& seen, const domain::NodeTopology& known) {
  ASSERT_EQ(seen.chip_count(), known.chip_count());
  EXPECT_EQ(seen.vendor(), known.vendor());
  for (int a = 0; a < seen.chip_count(); ++a) {
    EXPECT_EQ(seen.chip(a).index, known.chip(a).index);
    EXPECT_EQ(seen.chip(a).numa, known.chip(a).numa);
    for (int b = 0; b < seen.chip_count(); ++b) {
      EXPECT_EQ(seen.host_path(a, b), known.host_path(a, b)) << a << "-" << b;
      const domain::DirectLink* one = a < b ? seen.link(a, b) : nullptr;
      const domain::DirectLink* other = a < b ? known.link(a, b) : nullptr;
      ASSERT_EQ(one == nullptr, other == nullptr) << a << "-" << b;
      if (one == nullptr) continue;
      EXPECT_EQ(one->lanes, other->lanes) << a << "-" << b;
      EXPECT_EQ(one->lanes_down, other->lanes_down) << a << "-" << b;
    }
  }
  ASSERT_EQ(seen.switches().size(), known.switches().size());
  for (std::size_t i = 0; i < seen.switches().size(); ++i) {
    const domain::Switch& one = seen.switches()[i];
    const domain::Switch& other = known.switches()[i];
    EXPECT_EQ(one.kind, other.kind);
    EXPECT_EQ(one.members(), other.members());
    for (std::size_t p = 0; p < one.ports.size(); ++p) {
      EXPECT_EQ(one.ports[p].lanes, other.ports[p].lanes);
      EXPECT_EQ(one.ports[p].lanes_down, other.ports[p].lanes_down);
    }
  }
}

FakeDriver::FakeDriver() {
  ::setenv("CHIPWEAVE_FAKE_NVML", folder_.at("scenario.json").c_str(), 1);
}

FakeDriver::~FakeDriver() { ::unsetenv("CHIPWEAVE_FAKE_NVML"); }

// Replaces the file by a rename: the library never sees a partial file and always detects the
// change.
void FakeDriver::play(const Json& scenario) const {
  std::filesystem::rename(folder_.put("next.json", scenario.dump()), folder_.at("scenario.json"));
}

Result<NvmlSnapshot> FakeDriver::read(const Json& scenario, const std::string& library) const {
  play(scenario);
  auto opened = NvmlLibrary::open(library);
  if (!opened) return std::move(opened).error();
  return read_nvml(*opened);
}

domain::NodeTopology FakeDriver::topology(const Json& scenario, const std::string& library) {
  auto snapshot = read(scenario, library);
  EXPECT_TRUE(snapshot.ok()) << snapshot.error().text();
  auto made = topology_of(*snapshot);
  EXPECT_TRUE(made.ok()) << made.error().text();
  warnings_ = made->warnings;
  return std::move(made->topology);
}

}  // namespace chipweave::agent

// A fixture that loads scenarios of the fake driver library, and what its tests expect.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/node_topology.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_snapshot.hpp"
#include "tests/unit/nvml/scenarios.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {

// The same lanes between the same chips, and the same host paths; not NICs and bandwidths.
void expect_same_wiring(const domain::NodeTopology& seen, const domain::NodeTopology& known);

class FakeDriver : public testing::Test {
 public:
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;
  ~FakeDriver() override;

 protected:
  FakeDriver();
  // Sets what the fake library returns from its next call on.
  void play(const Json& scenario) const;
  Result<NvmlSnapshot> read(const Json& scenario, const std::string& library = current()) const;
  // The topology of a scenario that must have one; warnings_ are its warnings.
  domain::NodeTopology topology(const Json& scenario, const std::string& library = current());

  static std::string current() { return CHIPWEAVE_FAKE_NVML_CURRENT; }
  static std::string old() { return CHIPWEAVE_FAKE_NVML_OLD; }

  io::TempFolder folder_;
  std::vector<std::string> warnings_;
};

}  // namespace chipweave::agent

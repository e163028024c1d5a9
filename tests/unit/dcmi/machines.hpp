// Scenarios of the fake driver library that look like real machines, and a fixture that loads them.
// The wiring is that of the built-in profiles; no Ascend machine was available to record one.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "common/base/result.hpp"
#include "node-agent/probes/ascend/ascend_probe.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_snapshot.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {

using Json = nlohmann::json;

// Atlas 800 with eight 910A: rings of four, PHB between them.
Json atlas_910a();
// Atlas 800T A2: one mesh of eight; Box16: two.
Json atlas_a2(int chips);
// Atlas 800T A3: modules of two dies, HCCS over switches between them.
Json atlas_a3();
// Four Atlas 300I Duo cards of two 310P each, with one MCU per card.
Json duo_310p();
// Atlas 350 cards in UB meshes of four.
Json atlas_a5(int chips);

// The device at a position over all cards.
Json& device_at(Json& machine, int place);

class FakeDcmi : public testing::Test {
 public:
  FakeDcmi(const FakeDcmi&) = delete;
  FakeDcmi& operator=(const FakeDcmi&) = delete;
  ~FakeDcmi() override;

 protected:
  FakeDcmi();
  // Sets what the fake library returns from now on.
  void play(const Json& scenario) const;
  Result<DcmiSnapshot> read(const Json& scenario, const std::string& library = current()) const;
  // The snapshot of a scenario that must have one.
  DcmiSnapshot snapshot(const Json& scenario, const std::string& library = current()) const;
  // Below folder_: no hccn.conf yet, NUMA nodes of 24 CPUs each, no tool.
  AscendOptions options(const std::string& library = current()) const;
  // The observation of a scenario that must have one.
  domain::Observation observe(const Json& scenario, const std::string& library = current()) const;

  static std::string current() { return CHIPWEAVE_FAKE_DCMI_CURRENT; }
  static std::string old() { return CHIPWEAVE_FAKE_DCMI_OLD; }
  static std::string flat() { return CHIPWEAVE_FAKE_DCMI_FLAT; }

  io::TempFolder folder_;
};

}  // namespace chipweave::agent

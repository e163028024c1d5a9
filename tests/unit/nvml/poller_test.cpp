#include "node-agent/probes/nvidia/nvml/nvml_poller.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <optional>

#include "tests/unit/nvml/machines.hpp"

namespace chipweave::agent {
namespace {

class NvmlPollerTest : public FakeDriver {
 protected:
  NvmlPoller& make_poller(const Json& scenario, const std::string& library = current()) {
    play(scenario);
    auto opened = NvmlLibrary::open(library);
    EXPECT_TRUE(opened.ok()) << opened.error().text();
    library_.emplace(std::move(opened).value());
    return poller_.emplace(*library_);
  }
  // The first poll from now on that finds a difference; 0: none within two slow ones.
  static int first_change(NvmlPoller& poller) {
    for (int poll = 1; poll <= 2 * NvmlPoller::kSlowEvery; ++poll) {
      if (poller.changed()) return poll;
    }
    return 0;
  }
  // The poll that detects `change`, made to a machine after the baseline.
  int poll_that_sees(Json machine, const std::function<void(Json&)>& change,
                     const std::string& library = current()) {
    poller_.reset();
    NvmlPoller& poller = make_poller(machine, library);
    change(machine);
    play(machine);
    return first_change(poller);
  }

  std::optional<NvmlLibrary> library_;
  std::optional<NvmlPoller> poller_;  // destroyed first
};

TEST_F(NvmlPollerTest, WhatStaysAsItIsIsNoChange) {
  for (const Json& machine : {hgx_h100(), dgx1v(), pcie_pair(), gb200_tray()}) {
    poller_.reset();
    EXPECT_EQ(first_change(make_poller(machine)), 0);
  }
  poller_.reset();
  EXPECT_EQ(first_change(make_poller(dgx1v(), old())), 0);
}

TEST_F(NvmlPollerTest, EachPollSeesLinksHandlesAndRecovery) {
  EXPECT_EQ(poll_that_sees(hgx_h100(), [](Json& m) { take_down(m, 7, 17); }), 1);
  EXPECT_EQ(poll_that_sees(dgx1v(), [](Json& m) { take_down(m, 7, 0); }), 1);
  EXPECT_EQ(poll_that_sees(
                dgx1v(), [](Json& m) { take_down(m, 7, 0); }, old()),
            1);
  EXPECT_EQ(poll_that_sees(hgx_h100(), [](Json& m) { m["devices"][2]["recovery_action"] = 1; }), 1);
  EXPECT_EQ(poll_that_sees(pcie_pair(), [](Json& m) { m["devices"][1]["recovery_action"] = 4; }),
            1);
  const auto lose = [](Json& m) { m["devices"][1]["errors"] = {{"*", nvml::kGpuIsLost}}; };
  EXPECT_EQ(poll_that_sees(hgx_h100(), lose), 1);
  EXPECT_EQ(poll_that_sees(pcie_pair(), lose, old()), 1);
  EXPECT_EQ(poll_that_sees(pcie_pair(), [](Json& m) { m["devices"].erase(1); }), 1);
  EXPECT_EQ(poll_that_sees(pcie_pair(), [](Json& m) { m["boot"] = 1; }), 1);
}

TEST_F(NvmlPollerTest, ADeviceThatComesBackIsAChange) {
  Json machine = hgx_h100();
  machine["devices"][1]["errors"] = {{"*", nvml::kGpuIsLost}};
  EXPECT_EQ(poll_that_sees(machine, [](Json& m) { m["devices"][1].erase("errors"); }), 1);
}

TEST_F(NvmlPollerTest, SlowPollsSeeTheRest) {
  constexpr int kSlow = NvmlPoller::kSlowEvery;
  const std::vector<std::pair<const char*, Json>> changes = {
      {"remapped", {0, 1, 1, 0}},
      {"uncorrected_errors", 1},
      {"corrected_errors", 1},
      {"retired_pending", 1},
      {"clock_reasons", 0x41},
      {"fabric", {{"state", 3}, {"health", 2}}},
      {"mig", {1, 1}}};
  for (const auto& [key, value] : changes) {
    EXPECT_EQ(poll_that_sees(hgx_h100(),
                             [&, name = key, to = value](Json& m) { m["devices"][3][name] = to; }),
              kSlow)
        << key;
  }
  const auto count = [](const char* key) {
    return [key](Json& m) { m["devices"][6]["links"][3][key] = 1; };
  };
  EXPECT_EQ(poll_that_sees(hgx_h100(), count("field_crc")), kSlow);
  EXPECT_EQ(poll_that_sees(hgx_b200(), count("field_recovery_events")), kSlow);
  EXPECT_EQ(poll_that_sees(dgx1v(), count("recovery")), kSlow);
  EXPECT_EQ(poll_that_sees(dgx1v(), count("replay"), old()), kSlow);
}

TEST_F(NvmlPollerTest, WorkAndRestAreNoChange) {
  EXPECT_EQ(poll_that_sees(hgx_h100(),
                           [](Json& m) {
                             m["devices"][0]["clock_reasons"] = 0x4;
                             m["devices"][0]["links"][0]["field_state"] = 2;  // asleep
                           }),
            0);
}

TEST_F(NvmlPollerTest, WhatPassesIsAsBefore) {
  Json machine = dgx1v();
  NvmlPoller& poller = make_poller(machine);
  take_down(machine, 0, 0);
  play(machine);
  EXPECT_TRUE(poller.changed());
  EXPECT_TRUE(poller.changed());
  play(dgx1v());
  EXPECT_FALSE(poller.changed());
}

TEST_F(NvmlPollerTest, AFailedDeviceCountHasItsCode) {
  Json machine = pcie_pair();
  machine["errors"]["nvmlDeviceGetCount_v2"] = nvml::kUnknown;
  EXPECT_EQ(make_poller(machine).code(), nvml::kUnknown);
}

}  // namespace
}  // namespace chipweave::agent

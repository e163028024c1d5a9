#include "node-agent/probes/nvidia/nvml/nvml_events.hpp"

#include <gmock/gmock.h>

#include <optional>

#include "tests/unit/nvml/machines.hpp"

namespace chipweave::agent {
namespace {

using domain::Signal;
using domain::SignalKind;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr milliseconds kEventsSoon{20};

class NvmlEventsTest : public FakeDriver {
 protected:
  NvmlEvents& listen(const Json& scenario, const std::string& library = current()) {
    play(scenario);
    auto opened = NvmlLibrary::open(library);
    EXPECT_TRUE(opened.ok()) << opened.error().text();
    library_.emplace(std::move(opened).value());
    return events_.emplace(*library_);
  }
  static std::vector<std::string> codes(const std::vector<Signal>& signals) {
    std::vector<std::string> out;
    for (const Signal& signal : signals) {
      EXPECT_EQ(signal.kind, SignalKind::event);
      out.push_back(signal.code +
                    (signal.chip ? "@" + std::to_string(signal.chip->value) : std::string()));
    }
    return out;
  }

  std::optional<NvmlLibrary> library_;
  std::optional<NvmlEvents> events_;  // destroyed first
};

TEST_F(NvmlEventsTest, DeliveredInOrderAndOnce) {
  Json machine = hgx_h100();
  NvmlEvents& events = listen(machine);
  events.wait(kEventsSoon);
  EXPECT_FALSE(events.pending());
  machine["events"] = {{{"device", 3}, {"type", 8}, {"data", 79}},
                       {{"device", 5}, {"type", 2}},
                       {{"device", 0}, {"type", 1}},
                       {{"device", 6}, {"type", 8}, {"data", 12345}}};
  play(machine);
  events.wait(kEventsSoon);
  ASSERT_TRUE(events.pending());
  const auto seen = events.take();
  EXPECT_THAT(codes(seen), ElementsAre("xid.79@3", "nvml.dbe@5", "nvml.sbe@0", "xid.12345@6"));
  EXPECT_EQ(seen[0].text, "has fallen off the bus");
  EXPECT_EQ(seen[3].text, "");
  EXPECT_FALSE(events.pending());
  events.wait(kEventsSoon);
  EXPECT_FALSE(events.pending());
  EXPECT_THAT(events.take_warnings(), IsEmpty());
}

TEST_F(NvmlEventsTest, DeviceThatNobodyListsIsTheWholeMachine) {
  Json machine = pcie_pair();
  machine["events"] = {{{"device", -1}, {"type", 8}, {"data", 119}}};
  NvmlEvents& events = listen(machine);
  events.wait(kEventsSoon);
  const auto seen = events.take();
  EXPECT_THAT(codes(seen), ElementsAre("xid.119"));
  EXPECT_EQ(seen[0].text, "GSP timeout");
}

TEST_F(NvmlEventsTest, InstanceOfMigIsNamed) {
  Json machine = pcie_pair();
  machine["events"] = {{{"device", 1}, {"type", 8}, {"data", 94}, {"gi", 2}, {"ci", 0}}};
  NvmlEvents& events = listen(machine);
  events.wait(kEventsSoon);
  const auto seen = events.take();
  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_EQ(seen[0].text, "contained ECC error in GPU instance 2, compute instance 0");
}

TEST_F(NvmlEventsTest, OnlyWhatADeviceSupportsIsRegistered) {
  Json machine = pcie_pair();
  machine["devices"][0]["event_types"] = 0x8;  // the fake refuses more than that
  machine["devices"][1].erase("event_types");
  machine["events"] = {{{"device", 0}, {"type", 2}},
                       {{"device", 1}, {"type", 8}, {"data", 48}},
                       {{"device", 0}, {"type", 8}, {"data", 48}}};
  NvmlEvents& events = listen(machine);
  EXPECT_THAT(events.take_warnings(), ElementsAre(HasSubstr("no events from GPU 1")));
  EXPECT_THAT(events.take_warnings(), IsEmpty());
  events.wait(kEventsSoon);
  EXPECT_THAT(codes(events.take()), ElementsAre("xid.48@0"));
}

TEST_F(NvmlEventsTest, NoneAtAllIsNoError) {
  NvmlEvents& events = listen(dgx1v(), old());
  EXPECT_THAT(events.take_warnings(), ElementsAre(HasSubstr("has no events")));
  events.wait(milliseconds(1));
  EXPECT_FALSE(events.pending());
}

TEST_F(NvmlEventsTest, FailureOfWaitingIsReportedOnce) {
  Json machine = pcie_pair();
  NvmlEvents& events = listen(machine);
  machine["errors"]["nvmlEventSetWait_v2"] = nvml::kUnknown;
  play(machine);
  events.wait(kEventsSoon);
  const auto seen = events.take();
  EXPECT_THAT(codes(seen), ElementsAre("nvml.events-failed"));
  EXPECT_THAT(seen[0].text, HasSubstr("nvmlEventSetWait_v2: Unknown Error (999)"));
  events.wait(milliseconds(1));
  EXPECT_FALSE(events.pending());
}

TEST_F(NvmlEventsTest, AStormIsCutAndCounted) {
  Json machine = pcie_pair();
  constexpr std::size_t kStorm = NvmlEvents::kMaxKept + 1 + 40;
  for (std::size_t i = 0; i < kStorm; ++i) {
    machine["events"].push_back({{"device", 0}, {"type", 8}, {"data", i}});
  }
  NvmlEvents& events = listen(machine);
  events.wait(kEventsSoon);  // stops after one and as many as are kept
  events.wait(kEventsSoon);
  const auto seen = events.take();
  ASSERT_THAT(seen, SizeIs(NvmlEvents::kMaxKept));
  EXPECT_EQ(seen.back().code, "xid.255");
  EXPECT_THAT(events.take_warnings(), ElementsAre(HasSubstr("41 events were dropped")));
}

TEST_F(NvmlEventsTest, GarbageIsNotPassedOn) {
  Json machine = pcie_pair();
  machine["devices"][0]["event_types"] = 0xffffffffffffffffU;
  machine["events"] = {{{"device", -1}, {"type", 0}},
                       {{"device", -1}, {"type", 0xffffffffffffffffU}},
                       {{"device", -1}, {"type", 8}, {"data", 0xffffffffffffffffU}}};
  NvmlEvents& events = listen(machine);
  events.wait(kEventsSoon);
  EXPECT_THAT(codes(events.take()), ElementsAre("xid.18446744073709551615"));
}

TEST(XidText, NamesThoseOfTheTable) {
  EXPECT_EQ(xid_text(48), "double-bit ECC error");
  EXPECT_EQ(xid_text(145), "NVLink 5 error");
  EXPECT_EQ(xid_text(150), "NVLink 5 error");
  EXPECT_EQ(xid_text(151), "");
  EXPECT_EQ(xid_text(0), "");
}

}  // namespace
}  // namespace chipweave::agent

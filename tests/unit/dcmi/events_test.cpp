// Fault events that the driver's library delivers on threads of its own.
#include "node-agent/probes/ascend/dcmi/dcmi_events.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/unit/dcmi/machines.hpp"

namespace chipweave::agent {
namespace {

using domain::Signal;
using domain::SignalKind;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr std::uint32_t kCode = 0x80e01801;

// Of a machine whose logic ids are not its physical ones.
class DcmiEventsTest : public FakeDcmi {
 protected:
  DcmiEventsTest() {
    for (int i = 0; i < 8; ++i) device_at(machine_, i)["physical"] = 7 - i;
    play(machine_);
  }

  // A library without a subscription: a copy is loaded as another one.
  std::string load(const std::string& library = current()) {
    const std::string copy = folder_.at("libdcmi.so");
    std::filesystem::copy_file(library, copy);
    void* const handle = ::dlopen(copy.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    raise_ = reinterpret_cast<Raise*>(::dlsym(handle, "fake_dcmi_raise"));
    ::dlclose(handle);
    EXPECT_NE(raise_, nullptr);
    return copy;
  }

  // False: there is no subscription.
  bool raise(std::uint8_t assertion, int logic_id = 2, std::uint32_t code = kCode) const {
    dcmi::Event event{};
    event.fault.id = code;
    event.fault.device = static_cast<std::uint16_t>(logic_id);
    event.fault.assertion = assertion;
    const std::string name = "deviceid=2, multi-bit ECC";
    std::copy(name.begin(), name.end(), event.fault.name);
    return raise_(&event);
  }
  // The same on another thread, as the driver does it.
  void raise_elsewhere(std::uint8_t assertion) const {
    std::thread([&] { EXPECT_TRUE(raise(assertion)); }).join();
  }

  static void discover(AscendProbe& probe) { ASSERT_TRUE(probe.discover().ok()); }

  using Raise = bool(dcmi::Event*);
  Raise* raise_ = nullptr;
  Json machine_ = atlas_a2(8);
};

TEST_F(DcmiEventsTest, OneTimeEventIsTakenOnce) {
  AscendProbe probe(options(load()));
  discover(probe);
  EXPECT_FALSE(probe.changes());
  raise_elsewhere(dcmi::kOneTime);
  const auto events = probe.take_events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].kind, SignalKind::event);
  EXPECT_EQ(events[0].code, "dcmi.80e01801");
  EXPECT_EQ(events[0].chip, domain::ChipIndex{5});
  EXPECT_EQ(events[0].text, "deviceid=2, multi-bit ECC");
  EXPECT_THAT(probe.take_events(), IsEmpty());
  EXPECT_FALSE(probe.changes());
}

TEST_F(DcmiEventsTest, FaultThatBeginsOrEndsIsReadFromTheDriver) {
  AscendProbe probe(options(load()));
  discover(probe);
  for (const std::uint8_t assertion : {dcmi::kFaultBegun, dcmi::kFaultEnded}) {
    EXPECT_FALSE(probe.changes());
    raise_elsewhere(assertion);
    EXPECT_TRUE(probe.changes());
    discover(probe);
    EXPECT_THAT(probe.take_events(), IsEmpty());
  }
}

TEST_F(DcmiEventsTest, AnEventEndsTheWaitAndOnlyOne) {
  AscendProbe probe(options(load()));
  discover(probe);
  std::thread driver([&] { raise(dcmi::kOneTime); });
  const auto begin = steady_clock::now();
  probe.wait(std::chrono::minutes(5));
  EXPECT_LT(steady_clock::now() - begin, std::chrono::minutes(4));
  driver.join();
  // It was not taken, as while the driver is not readable.
  const auto next = steady_clock::now();
  probe.wait(milliseconds(150));
  EXPECT_GE(steady_clock::now() - next, milliseconds(150));
  EXPECT_THAT(probe.take_events(), SizeIs(1));
}

TEST_F(DcmiEventsTest, AnEventThatCameBeforeTheWaitEndsIt) {
  AscendProbe probe(options(load()));
  discover(probe);
  raise_elsewhere(dcmi::kFaultBegun);
  const auto begin = steady_clock::now();
  probe.wait(std::chrono::minutes(5));
  EXPECT_LT(steady_clock::now() - begin, std::chrono::minutes(4));
}

TEST_F(DcmiEventsTest, DriverThatReportsWithoutEndIsReadAtIntervals) {
  AscendProbe probe(options(load()));
  discover(probe);
  const auto begin = steady_clock::now();
  for (int i = 0; i < 4; ++i) {
    raise_elsewhere(dcmi::kFaultBegun);
    probe.wait(std::chrono::minutes(5));
  }
  EXPECT_GE(steady_clock::now() - begin, 3 * DcmiEvents::kShortestWait);
}

TEST_F(DcmiEventsTest, EventsBeyondTheRoomAreCounted) {
  AscendProbe probe(options(load()));
  discover(probe);
  for (std::size_t i = 0; i < DcmiEvents::kMaxKept + 44; ++i) raise(dcmi::kOneTime);
  auto events = probe.take_events();
  ASSERT_THAT(events, SizeIs(DcmiEvents::kMaxKept + 1));
  EXPECT_EQ(events.back().code, "dcmi.events-lost");
  EXPECT_THAT(events.back().text, HasSubstr("44 events"));
  raise(dcmi::kOneTime);
  events = probe.take_events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].code, "dcmi.80e01801");
}

TEST_F(DcmiEventsTest, EventOfAnUnknownDeviceIsOfNoChip) {
  AscendProbe probe(options(load()));
  discover(probe);
  raise(dcmi::kOneTime, 9);
  const auto events = probe.take_events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].code, "dcmi.unknown-device");
  EXPECT_EQ(events[0].chip, std::nullopt);
  EXPECT_EQ(events[0].text, "event 80e01801 of logic id 9, which no device has");
}

TEST_F(DcmiEventsTest, NothingIsLostBetweenManyThreads) {
  AscendProbe probe(options(load()));
  discover(probe);
  constexpr int kThreads = 4;
  constexpr int kEach = 200;
  std::atomic<int> running = kThreads;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < kEach; ++k) raise(k % 2 == 0 ? dcmi::kOneTime : dcmi::kFaultBegun);
      --running;
    });
  }
  std::size_t seen = 0;
  bool changed = false;
  const auto take = [&] {
    for (const Signal& signal : probe.take_events()) {
      seen += signal.code == "dcmi.events-lost" ? std::stoul(signal.text) : 1U;
    }
    changed = probe.changes() || changed;
  };
  while (running > 0) take();
  for (std::thread& thread : threads) thread.join();
  take();
  EXPECT_EQ(seen, kThreads * kEach / 2U);
  EXPECT_TRUE(changed);
}

TEST_F(DcmiEventsTest, EventsAfterTheProbeReachNobodyAndThenTheNextOne) {
  const std::string library = load();
  {
    AscendProbe probe(options(library));
    discover(probe);
  }
  raise_elsewhere(dcmi::kOneTime);
  // The driver would refuse a second subscription.
  AscendProbe probe(options(library));
  auto seen = probe.discover();
  ASSERT_TRUE(seen.ok());
  EXPECT_THAT(seen->warnings, IsEmpty());
  EXPECT_THAT(probe.take_events(), IsEmpty());
  raise_elsewhere(dcmi::kOneTime);
  EXPECT_THAT(probe.take_events(), SizeIs(1));
}

TEST_F(DcmiEventsTest, ProbeMayEndWhileEventsCome) {
  const std::string library = load();
  {
    AscendProbe first(options(library));
    discover(first);
  }
  std::atomic<bool> stop = false;
  std::atomic<int> raised = 0;
  std::thread driver([&] {
    while (!stop) {
      raise(dcmi::kOneTime);
      ++raised;
    }
  });
  std::size_t seen = 0;
  for (int i = 0; i < 20; ++i) {
    AscendProbe probe(options(library));
    discover(probe);
    const int before = raised;
    while (raised < before + 3) std::this_thread::yield();
    seen += probe.take_events().size();
  }
  stop = true;
  driver.join();
  EXPECT_GE(seen, 20U);
}

TEST_F(DcmiEventsTest, FlatFamilyReportsEvents) {
  play(atlas_a5(8));
  AscendProbe probe(options(load(flat())));
  discover(probe);
  raise_elsewhere(dcmi::kOneTime);
  const auto events = probe.take_events();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].chip, domain::ChipIndex{2});
}

TEST_F(DcmiEventsTest, DriverWithoutEventsIsPolled) {
  AscendProbe probe(options(load(old())));
  const auto seen = probe.discover();
  ASSERT_TRUE(seen.ok());
  EXPECT_THAT(seen->warnings,
              Contains("dcmi_subscribe_fault_event: this driver lacks the function (1); faults are "
                       "polled, and events that leave no state are not seen"));
  EXPECT_FALSE(raise(dcmi::kOneTime));
  probe.wait(milliseconds(1));
  device_at(machine_, 0)["health"] = 3;
  play(machine_);
  EXPECT_TRUE(probe.changes());
}

TEST_F(DcmiEventsTest, DriverThatRefusesIsPolledAndAskedAgainOnlyIfItWasNotReady) {
  const auto refused = HasSubstr("dcmi_subscribe_fault_event: ");
  machine_["errors"]["dcmi_subscribe_fault_event"] = dcmi::kNotReady;
  play(machine_);
  AscendProbe probe(options(load()));
  EXPECT_THAT(probe.discover()->warnings, ElementsAre(refused));
  machine_["errors"]["dcmi_subscribe_fault_event"] = dcmi::kNoPermission;
  play(machine_);
  EXPECT_THAT(probe.discover()->warnings, ElementsAre(refused));
  machine_["errors"].clear();
  play(machine_);
  EXPECT_THAT(probe.discover()->warnings, ElementsAre(HasSubstr("no permission")));
  EXPECT_FALSE(raise(dcmi::kOneTime));

  machine_["errors"]["dcmi_subscribe_fault_event"] = dcmi::kTimeout;
  play(machine_);
  AscendProbe next(options(folder_.at("libdcmi.so")));
  EXPECT_THAT(next.discover()->warnings, ElementsAre(refused));
  machine_["errors"].clear();
  play(machine_);
  EXPECT_THAT(next.discover()->warnings, Not(Contains(refused)));
  EXPECT_TRUE(raise(dcmi::kOneTime));
  EXPECT_THAT(next.take_events(), SizeIs(1));
}

}  // namespace
}  // namespace chipweave::agent

#include "node-agent/probe_process/probe_loop.hpp"

#include <deque>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/fakes/agent/machines.hpp"
#include "tests/support/manual_clock.hpp"

namespace chipweave::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

domain::Signal event(const std::string& code, std::optional<domain::ChipIndex> chip) {
  return {domain::SignalKind::event, code, chip, std::nullopt, "", 0, ""};
}

// Returns what the test sets; waiting moves the clock.
struct FakeVendor final : VendorProbe {
  ManualClock clock;
  Result<domain::Observation> answer = domain::Observation{"box", ring_of_four(), {}};
  bool changed = false;
  bool old = false;
  std::vector<domain::Signal> events;
  int asked = 0;
  std::vector<domain::ChipMetrics> measured;
  int samples = 0;
  std::function<void()> meanwhile = [] {};
  std::function<void()> reading = [] {};
  std::function<void()> sampling = [] {};
  Result<domain::Observation> discover() override {
    ++asked;
    changed = false;
    reading();
    return answer;
  }
  std::vector<domain::Signal> take_events() override { return std::exchange(events, {}); }
  std::vector<domain::ChipMetrics> sample() override {
    ++samples;
    sampling();
    return measured;
  }
  bool changes() override { return changed; }
  bool outdated() const override { return old; }
  void wait(milliseconds longest) override {
    clock.advance(longest);
    meanwhile();
  }
};

struct ProbeLoopTest : testing::Test {
  FakeVendor vendor;
  std::vector<std::string> lines;
  ProbeLoopOptions options;
  // Runs the loop for that long.
  void run_for(milliseconds time) {
    const auto end = vendor.clock.now() + time;
    run_probe_loop(vendor, vendor.clock, options, [&](const std::string& line) {
      lines.push_back(line);
      return vendor.clock.now() < end;
    });
  }
  long count(const std::string& part) const {
    return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(part) != std::string::npos;
    });
  }
};

TEST_F(ProbeLoopTest, WritesAnObservationOnceAndThenHeartbeats) {
  run_for(seconds(10));
  EXPECT_EQ(vendor.asked, 1);
  ASSERT_EQ(lines.size(), 11U);
  EXPECT_NE(lines.front().find("\"topology\""), std::string::npos);
  EXPECT_EQ(count("alive"), 10);
}

TEST_F(ProbeLoopTest, WritesANewObservationAtOnce) {
  vendor.meanwhile = [&] {
    if (vendor.clock.now() == Clock::Steady(seconds(3))) {
      vendor.answer->facts["driver"] = "2";
      vendor.changed = true;
    }
  };
  run_for(seconds(5));
  EXPECT_EQ(vendor.asked, 2);
  EXPECT_EQ(count("\"driver\":\"2\""), 1);
  EXPECT_EQ(count("\"topology\""), 1);
}

TEST_F(ProbeLoopTest, EventsAreWrittenBeforeTheHardwareIsReadAgain) {
  vendor.meanwhile = [&] {
    if (vendor.clock.now() != Clock::Steady(seconds(3))) return;
    vendor.events = {event("xid.79", domain::ChipIndex{1})};
    vendor.changed = true;
    // What the loop has written by the time the driver hangs.
    vendor.reading = [&] {
      EXPECT_EQ(lines.back(), R"({"events":[{"kind":"event","code":"xid.79","chip":1}]})"
                              "\n");
    };
  };
  run_for(seconds(5));
  EXPECT_EQ(vendor.asked, 2);
  EXPECT_EQ(count("xid.79"), 1);
}

TEST_F(ProbeLoopTest, EndsWhenTheProbeIsOutdatedAfterTheEventsSoFar) {
  vendor.meanwhile = [&] {
    if (vendor.clock.now() != Clock::Steady(seconds(3))) return;
    vendor.events = {event("xid.79", domain::ChipIndex{1})};
    vendor.changed = vendor.old = true;
  };
  run_for(seconds(60));
  EXPECT_EQ(vendor.clock.now(), Clock::Steady(seconds(3)));
  EXPECT_EQ(vendor.asked, 1);
  EXPECT_NE(lines.back().find("xid.79"), std::string::npos);
}

TEST_F(ProbeLoopTest, EventsThatAReadingNoticesComeBeforeItAndWithoutIt) {
  vendor.reading = [&] { vendor.events = {event("nvml.reset", std::nullopt)}; };
  run_for(seconds(0));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("nvml.reset"), std::string::npos);
  vendor.answer = make_error(Errc::unavailable, "no driver");
  lines.clear();
  run_for(seconds(1));
  ASSERT_GE(lines.size(), 2U);
  EXPECT_NE(lines[0].find("nvml.reset"), std::string::npos);
  EXPECT_NE(lines[1].find("no driver"), std::string::npos);
}

TEST_F(ProbeLoopTest, AFailureIsWrittenOnceAndRetriedWithBackOff) {
  vendor.answer = make_error(Errc::not_found, "no GPU");
  run_for(seconds(121));
  EXPECT_EQ(count("no GPU"), 1);
  EXPECT_GE(count("alive"), 110);
  // 1, 2, 4, 8, 16, then every 30 s: at 0, 1, 3, 7, 15, 31, 61, 91 and 121 s.
  EXPECT_EQ(vendor.asked, 9);
}

TEST_F(ProbeLoopTest, ANewFailureIsWrittenAndRecoveryToo) {
  vendor.answer = make_error(Errc::not_found, "no GPU");
  vendor.meanwhile = [&] {
    if (vendor.asked == 2) vendor.answer = make_error(Errc::unavailable, "no driver");
    if (vendor.asked == 3) vendor.answer = domain::Observation{"box", ring_of_four(), {}};
  };
  run_for(seconds(20));
  EXPECT_EQ(count("no GPU"), 1);
  EXPECT_EQ(count("no driver"), 1);
  EXPECT_EQ(count("\"topology\""), 1);
  EXPECT_EQ(vendor.asked, 4);
}

TEST_F(ProbeLoopTest, ChipsAreMeasuredAtTheInterval) {
  vendor.measured.resize(1);
  options.sample_every = seconds(10);
  run_for(seconds(61));
  EXPECT_EQ(vendor.samples, 7);
  EXPECT_EQ(count("\"metrics\""), 7);
  EXPECT_NE(lines[0].find("topology"), std::string::npos);
  EXPECT_EQ(lines[1], "{\"measuring\":true}\n");
  EXPECT_EQ(lines[2], "{\"taken_ms\":0,\"metrics\":[{\"chip\":0}]}\n");
}

// The reader can tell a measurement that hangs from any other call.
TEST_F(ProbeLoopTest, AMeasurementIsBetweenTwoLines) {
  options.sample_every = seconds(1);
  std::vector<std::size_t> began;  // how many lines there were then
  vendor.sampling = [&] {
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines.back(), "{\"measuring\":true}\n");
    began.push_back(lines.size());
    if (began.size() == 3) vendor.measured.resize(1);
  };
  vendor.meanwhile = [&] { EXPECT_NE(lines.back(), "{\"measuring\":true}\n"); };
  run_for(seconds(5));
  ASSERT_GE(began.size(), 4U);
  EXPECT_EQ(lines[began[1]], "{\"alive\":true}\n") << "nothing was measured";
  EXPECT_EQ(lines[began[2]].substr(0, 12), "{\"taken_ms\":");
  EXPECT_EQ(count("measuring"), static_cast<long>(began.size()));
}

TEST_F(ProbeLoopTest, AReaderThatIsGoneCostsNoMeasurement) {
  options.sample_every = seconds(1);
  run_probe_loop(vendor, vendor.clock, options, [](const std::string& line) {
    return line.find("measuring") == std::string::npos;
  });
  EXPECT_EQ(vendor.samples, 0);
}

TEST_F(ProbeLoopTest, ChipsAreNotMeasuredByDefault) {
  vendor.measured.resize(1);
  run_for(seconds(60));
  EXPECT_EQ(vendor.samples, 0);
  EXPECT_EQ(count("measuring"), 0);
}

TEST_F(ProbeLoopTest, AVendorThatMeasuresNothingWritesNoMetrics) {
  options.sample_every = seconds(1);
  run_for(seconds(5));
  EXPECT_GT(vendor.samples, 1);
  EXPECT_EQ(count("\"metrics\""), 0);
}

TEST_F(ProbeLoopTest, AMachineThatCannotBeReadIsNotMeasured) {
  vendor.measured.resize(1);
  options.sample_every = seconds(1);
  vendor.answer = make_error(Errc::unavailable, "no driver");
  run_for(seconds(30));
  EXPECT_EQ(vendor.samples, 0);
  vendor.answer = domain::Observation{"box", ring_of_four(), {}};
  run_for(seconds(5));
  EXPECT_GT(vendor.samples, 1);
}

// By the time a measurement hangs, events and the observation are written.
TEST_F(ProbeLoopTest, AMeasurementDelaysNeitherEventsNorTheMachine) {
  vendor.measured.resize(1);
  options.sample_every = seconds(3);
  vendor.meanwhile = [&] {
    if (vendor.clock.now() != Clock::Steady(seconds(3))) return;
    vendor.events = {event("xid.79", domain::ChipIndex{1})};
    vendor.answer->facts["driver"] = "2";
    vendor.changed = true;
  };
  vendor.sampling = [&] {
    if (vendor.clock.now() != Clock::Steady(seconds(3))) return;
    EXPECT_EQ(count("xid.79"), 1);
    EXPECT_EQ(count("\"driver\":\"2\""), 1);
  };
  run_for(seconds(5));
  EXPECT_EQ(vendor.samples, 2);
}

}  // namespace
}  // namespace chipweave::agent

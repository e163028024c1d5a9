// A probe process that fails while it measures the chips is followed by one that does not.
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "node-agent/supervisor/probe_supervisor.hpp"
#include "tests/unit/probe_process/helped.hpp"
#include "tests/unit/temp_folder.hpp"

namespace chipweave::agent {
namespace {

using std::chrono::milliseconds;

const std::string kAnnounce = R"(echo '{"measuring":true}'; )";
// Each kind of process has its own number of chips.
constexpr int kMeasures = 1;
constexpr int kDoesNot = 2;
const std::string kHeartbeats = R"(while echo '{"alive":true}'; do sleep 0.01; done)";

struct MeasuringOff : testing::Test {
  SupervisorOptions options;
  std::mutex mutex;
  std::vector<std::string> warnings;

  MeasuringOff() {
    options.command_without_measuring = shell(seen(kDoesNot) + kHeartbeats);
    options.warning = [this](const std::string& text) {
      const std::lock_guard lock(mutex);
      warnings.push_back(text);
    };
  }
  std::vector<std::string> warned() {
    const std::lock_guard lock(mutex);
    return warnings;
  }
};

TEST_F(MeasuringOff, AfterAHangInAMeasurement) {
  options.line_within = milliseconds(1000);
  Helped helped(seen(kMeasures) + kAnnounce + kStay, options);
  ASSERT_TRUE(helped.collect([&] { return helped.has_chips(kDoesNot); }));
  EXPECT_FALSE(helped.probe().measuring());
  EXPECT_FALSE(helped.probe().trouble()) << "the driver has responded since";
  EXPECT_EQ(helped.probe().counts().stuck, 1U);
  EXPECT_EQ(helped.probe().counts().starts, 2U);
  ASSERT_EQ(warned().size(), 1U);
  EXPECT_EQ(warned()[0],
            "the chips are not measured for 60 min, because a measurement failed: the driver or "
            "its library has not responded for 1 s; the probe process is restarted");
}

TEST_F(MeasuringOff, TheAnnouncementIsALineLikeAnother) {
  options.line_within = milliseconds(2000);
  // Longer than the limit in total, but not between two lines.
  Helped helped(seen(kMeasures) + "sleep 1.2; " + kAnnounce + "sleep 1.2; " + seen(3) + kHeartbeats,
                options);
  ASSERT_TRUE(helped.collect([&] { return helped.has_chips(3); }));
  EXPECT_EQ(helped.probe().counts().starts, 1U);
  EXPECT_TRUE(helped.probe().measuring());
}

TEST_F(MeasuringOff, AfterACrashInAMeasurement) {
  Helped helped(seen(kMeasures) + kAnnounce + "kill -SEGV $$", options);
  ASSERT_TRUE(helped.collect([&] { return helped.has_chips(kDoesNot); }));
  EXPECT_FALSE(helped.probe().measuring());
  EXPECT_EQ(helped.probe().counts().crashed, 1U);
  ASSERT_EQ(warned().size(), 1U);
  EXPECT_NE(warned()[0].find("signal 11"), std::string::npos) << warned()[0];
}

TEST_F(MeasuringOff, AfterAMeasurementThatCannotBeRead) {
  Helped helped(seen(kMeasures) + kAnnounce + R"(echo '{"taken_ms":-1,"metrics":[]}'; )" + kStay,
                options);
  ASSERT_TRUE(helped.collect([&] { return helped.has_chips(kDoesNot); }));
  EXPECT_FALSE(helped.probe().measuring());
  EXPECT_EQ(helped.probe().counts().garbage, 1U);
}

TEST_F(MeasuringOff, NotAfterAFailureThatHasNothingToDoWithIt) {
  options.line_within = milliseconds(500);
  const std::string whole = seen(kMeasures) + kAnnounce + R"(echo '{"alive":true}'; )";
  {
    Helped helped(whole + kStay, options);
    ASSERT_TRUE(helped.until([&] { return helped.probe().counts().stuck >= 2; }));
    EXPECT_TRUE(helped.probe().measuring());
  }
  Helped helped(whole + "kill -SEGV $$", options);
  ASSERT_TRUE(helped.until([&] { return helped.probe().counts().crashed >= 2; }));
  EXPECT_TRUE(helped.probe().measuring());
  EXPECT_TRUE(helped.collect([&] { return helped.has_chips(kMeasures); }));
  EXPECT_TRUE(warned().empty());
}

TEST_F(MeasuringOff, AFailureMeanwhileDoesNotEndIt) {
  const io::TempFolder folder;
  options.command_without_measuring =
      shell("mkdir " + folder.at("once") + " 2>/dev/null && kill -SEGV $$; " + seen(kDoesNot) +
            kHeartbeats);
  Helped helped(seen(kMeasures) + kAnnounce + "exit 1", options);
  ASSERT_TRUE(helped.collect([&] { return helped.has_chips(kDoesNot); }));
  EXPECT_EQ(helped.probe().counts().starts, 3U);
  EXPECT_FALSE(helped.probe().measuring());
  EXPECT_EQ(warned().size(), 1U);
}

TEST_F(MeasuringOff, IsTriedAgainWithoutAnyTrouble) {
  options.measuring_off_for = milliseconds(200);
  const io::TempFolder folder;
  options.command_without_measuring =
      shell("mkdir " + folder.at("off") + "; " + seen(kDoesNot) + kHeartbeats);
  // Crashes in its first measurement only.
  Helped helped("mkdir " + folder.at("once") + " 2>/dev/null && { " + seen(kMeasures) + kAnnounce +
                    "kill -SEGV $$; }; " + seen(3) + kAnnounce + kHeartbeats,
                options);
  ASSERT_TRUE(helped.collect([&] { return helped.has_chips(3); }));
  EXPECT_TRUE(std::filesystem::exists(folder.at("off")));
  EXPECT_TRUE(helped.probe().measuring());
  EXPECT_EQ(helped.probe().counts().starts, 3U);
  EXPECT_EQ(helped.probe().counts().crashed, 1U) << "it was ended on purpose";
  EXPECT_EQ(warned().size(), 1U);
}

TEST_F(MeasuringOff, AgainIfTheNextTryFailsToo) {
  options.measuring_off_for = milliseconds(50);
  Helped helped(seen(kMeasures) + kAnnounce + "kill -SEGV $$", options);
  ASSERT_TRUE(helped.until([&] { return warned().size() >= 3; }));
  // Each failure has its own process that does not measure.
  EXPECT_GE(helped.probe().counts().starts, 5U);
}

TEST_F(MeasuringOff, NothingChangesWhereChipsAreNeverMeasured) {
  options.command_without_measuring.clear();
  Helped helped(seen(kMeasures) + kAnnounce + "kill -SEGV $$", options);
  ASSERT_TRUE(helped.until([&] { return helped.probe().counts().crashed >= 3; }));
  EXPECT_FALSE(helped.probe().measuring());
  EXPECT_TRUE(warned().empty());
}

}  // namespace
}  // namespace chipweave::agent

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/component/programs/run.hpp"

namespace chipweave {
namespace {

using testing::HasSubstr;

std::string file_with(const std::string& text) {
  std::string path = testing::TempDir() + "chipweave-settings.yaml";
  std::ofstream(path) << text;
  return path;
}

TEST(SchedulerFlags, APrintedConfigIsAConfigFile) {
  const Outcome printed = run("%B/chipweave-scheduler --standalone --print-config");
  ASSERT_EQ(printed.code, 0);
  const Outcome again =
      run("%B/chipweave-scheduler --config " + file_with(printed.text) + " --print-config 2>&1");
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(again.text, printed.text);
}

TEST(SchedulerFlags, AFlagThatSaysFalseIsFalse) {
  EXPECT_THAT(run("%B/chipweave-scheduler --standalone=false --print-config").text,
              HasSubstr("standalone: \"false\""));
  EXPECT_THAT(run("%B/chipweave-scheduler --standalone=true --print-config").text,
              HasSubstr("standalone: \"true\""));
  const std::string file = file_with("standalone: true\n");
  EXPECT_THAT(
      run("%B/chipweave-scheduler --config " + file + " --standalone=false --print-config").text,
      HasSubstr("standalone: \"false\""));
  EXPECT_EQ(run("%B/chipweave-scheduler --standalone=perhaps --print-config 2>&1").code, 2);
}

}  // namespace
}  // namespace chipweave

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/component/programs/run.hpp"

namespace chipweave {
namespace {

using testing::HasSubstr;

std::string file_with(const std::string& text) {
  // a port of its own, since other tests run at the same time
  std::string path = testing::TempDir() + "chipweave-" +
                     testing::UnitTest::GetInstance()->current_test_info()->name() + ".yaml";
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

TEST(SchedulerFlags, WhatItWorksForMustBeReachable) {
  const auto scheduler = [](const std::string& flags) {
    return run("env -u KUBERNETES_SERVICE_HOST %B/chipweave-scheduler " + flags + " 2>&1");
  };
  const Outcome nothing = scheduler("");
  EXPECT_EQ(nothing.code, 2);
  EXPECT_THAT(nothing.text, HasSubstr("start with --standalone"));
  EXPECT_EQ(scheduler("--kubeconfig /nonexistent").code, 3);
  const Outcome empty = scheduler("--kubeconfig " + file_with("clusters: []\n"));
  EXPECT_EQ(empty.code, 3);
  EXPECT_THAT(empty.text, HasSubstr("current-context is not set"));
  EXPECT_EQ(scheduler("--standalone --kubeconfig x").code, 2);
  EXPECT_EQ(scheduler("--kubeconfig x --namespace 'A B'").code, 2);
  const Outcome impatient = scheduler("--kubeconfig x --inventory-stale-after 5s");
  EXPECT_EQ(impatient.code, 2);
  EXPECT_THAT(impatient.text, HasSubstr("at least 15s"));
}

}  // namespace
}  // namespace chipweave

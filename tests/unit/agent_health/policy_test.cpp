#include "common/codec/agent/health_policy.hpp"

#include <gtest/gtest.h>

namespace chipweave::codec {
namespace {

using domain::Effect;
using domain::HealthPolicy;
using domain::HealthRule;
using domain::Recovery;

bool match(const std::string& pattern, const std::string& code) {
  HealthRule rule;
  rule.code = pattern;
  return domain::matches(rule, code);
}

TEST(HealthRuleCode, AStarStandsForAnything) {
  EXPECT_TRUE(match("xid.79", "xid.79"));
  EXPECT_FALSE(match("xid.79", "xid.790"));
  EXPECT_FALSE(match("xid.79", "xid.7"));
  EXPECT_TRUE(match("xid.*", "xid."));
  EXPECT_TRUE(match("xid.*", "xid.48"));
  EXPECT_FALSE(match("xid.*", "dcmi.48"));
  EXPECT_TRUE(match("ras.*.ue", "ras.umc.ue"));
  EXPECT_TRUE(match("ras.*.ue", "ras.a.ue.ue"));
  EXPECT_FALSE(match("ras.*.ue", "ras.umc.ce"));
  EXPECT_FALSE(match("ras.*.ue", "ras.ue"));
  EXPECT_TRUE(match("*", ""));
  EXPECT_TRUE(match("**", "x"));
  EXPECT_TRUE(match("*.reset", "nvml.reset"));
  EXPECT_FALSE(match("", "x"));
  EXPECT_FALSE(match(std::string(50, '*') + "b", std::string(5000, 'a')));
}

// The built-in policy's rule for a code.
HealthRule usual(const std::string& code) {
  const auto policy = read_health_policy(default_health_policy());
  EXPECT_TRUE(policy.ok()) << policy.error().text();
  for (const HealthRule& rule : policy->rules) {
    if (domain::matches(rule, code)) return rule;
  }
  return {};
}

TEST(DefaultHealthPolicy, ProgramsErrorsAreNotTheChips) {
  for (const char* code : {"xid.13", "xid.31", "xid.43", "xid.45", "xid.68", "xid.109"}) {
    EXPECT_EQ(usual(code).effect, Effect::note) << code;
  }
}

TEST(DefaultHealthPolicy, HardwareFaultsNeedAReset) {
  for (const char* code : {"xid.48", "xid.64", "xid.79", "xid.95", "xid.119", "xid.120", "xid.140",
                           "ras.umc.ue", "dcmi.40f84e00"}) {
    EXPECT_EQ(usual(code).effect, Effect::unusable) << code;
    EXPECT_EQ(usual(code).recovery, Recovery::reset) << code;
  }
}

TEST(DefaultHealthPolicy, WhatNobodyClassifiedIsOutForAWhile) {
  EXPECT_EQ(usual("xid.31415").effect, Effect::unusable);
  EXPECT_EQ(usual("xid.31415").recovery, Recovery::quiet);
  EXPECT_EQ(usual("xid.31415").hold, 300);
}

TEST(DefaultHealthPolicy, ContainedFaultsDoNotTakeTheChip) {
  for (const char* code : {"xid.63", "xid.94", "nvml.row-remap-pending", "ras.umc.ce",
                           "nvml.thermal", "nvml.mig-pending", "nvml.reset"}) {
    EXPECT_EQ(usual(code).effect, Effect::note) << code;
  }
}

TEST(DefaultHealthPolicy, ADriverThatDoesNotRespondTakesTheNodeAfterAWhile) {
  for (const char* code : {"probe.stuck", "probe.crashed", "probe.failing", "machine.gone"}) {
    EXPECT_EQ(usual(code).effect, Effect::unusable) << code;
    EXPECT_EQ(usual(code).after, 30) << code;
  }
  for (const char* code : {"driver.absent", "driver.failing"}) {
    EXPECT_EQ(usual(code).effect, Effect::unusable) << code;
    EXPECT_EQ(usual(code).after, 0) << code;
  }
}

TEST(DefaultHealthPolicy, AGpuInMigModeIsNoWholeGpuAndOneAgainAtOnce) {
  EXPECT_EQ(usual("nvml.mig").effect, Effect::unusable);
  EXPECT_EQ(usual("nvml.mig").hold, 0);
}

TEST(DefaultHealthPolicy, PortsAndLinksAreOnlyThemselves) {
  EXPECT_EQ(usual("nvlink.crc").effect, Effect::link);
  EXPECT_EQ(usual("nvlink.crc").rise / usual("nvlink.crc").window, 100);
  EXPECT_EQ(usual("nic.down").effect, Effect::link);
  EXPECT_EQ(usual("hccn.link-down").effect, Effect::network);
  EXPECT_EQ(usual("dcmi.81078603").effect, Effect::network);
}

TEST(HealthPolicyFile, HoldsEveryKey) {
  const auto read = read_health_policy(
      "links: {hold: 2m, flap-window: 1h, longest-hold: 2h}\n"
      "rules:\n"
      "- {code: a.*, effect: link, rise: 2.5, window: 90s, hold: 0.5s}\n"
      "- {code: b, effect: unusable, recovery: reset}\n"
      "- {code: c, effect: network, at-least: 95, after: 5m, hold: 30}\n");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->link_hold, 120);
  EXPECT_EQ(read->flap_window, 3600);
  EXPECT_EQ(read->longest_hold, 7200);
  ASSERT_EQ(read->rules.size(), 3U);
  EXPECT_EQ(read->rules[0].rise, 2.5);
  EXPECT_EQ(read->rules[0].window, 90);
  EXPECT_EQ(read->rules[0].hold, 0.5);
  EXPECT_EQ(read->rules[1].recovery, Recovery::reset);
  EXPECT_EQ(read->rules[2].at_least, 95);
  EXPECT_EQ(read->rules[2].hold, 30);
  EXPECT_EQ(read->rules[2].after, 300);
  EXPECT_EQ(read->rules[2].effect, Effect::network);
}

HealthPolicy under() {
  return read_health_policy(
             "links: {hold: 1m, flap-window: 2m}\n"
             "rules:\n"
             "- {code: xid.79, effect: unusable, recovery: reset}\n"
             "- {code: xid.*, effect: unusable, after: 30s, hold: 5m}\n"
             "- {code: nvlink.crc, effect: link, rise: 6000, window: 60s}\n")
      .value();
}

TEST(HealthPolicyFile, LiesOverAnotherKeyByKey) {
  const auto read = read_health_policy(
      "links: {hold: 5s}\n"
      "rules:\n"
      "- {code: xid.74, hold: 1m}\n"         // as xid.*, but for the hold
      "- {code: xid.79, recovery: quiet}\n"  // as xid.79
      "- {code: xid.*, effect: note}\n"      // as xid.*
      "- {code: mine, effect: network}\n",
      under());
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->link_hold, 5);
  EXPECT_EQ(read->flap_window, 120);
  ASSERT_EQ(read->rules.size(), 7U);
  EXPECT_EQ(read->rules[0].effect, Effect::unusable);
  EXPECT_EQ(read->rules[0].after, 30);
  EXPECT_EQ(read->rules[0].hold, 60);
  EXPECT_EQ(read->rules[0].code, "xid.74");
  EXPECT_EQ(read->rules[1].effect, Effect::unusable);
  EXPECT_EQ(read->rules[1].recovery, Recovery::quiet);
  EXPECT_EQ(read->rules[2].effect, Effect::note);
  EXPECT_EQ(read->rules[2].hold, 300);
  EXPECT_EQ(read->rules[3].effect, Effect::network);
  EXPECT_EQ(read->rules[4].code, "xid.79");
  EXPECT_EQ(read->rules[6].rise, 6000);
}

TEST(HealthPolicyFile, AnEmptyOneChangesNothing) {
  const auto read = read_health_policy("rules: []", under());
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(write_health_policy(*read), write_health_policy(under()));
}

TEST(HealthPolicyFile, AHoldForWhatWaitsForAResetIsRefused) {
  const auto read = read_health_policy("rules:\n- {code: xid.79, hold: 5m}\n", under());
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().text(),
            "line 2: rules[0].hold: cannot be combined with recovery: reset, which the rule below "
            "has; add recovery: quiet");
}

TEST(HealthPolicyFile, IsWrittenAsItIsRead) {
  const auto built_in = read_health_policy(default_health_policy());
  ASSERT_TRUE(built_in.ok()) << built_in.error().text();
  const std::string once = write_health_policy(*built_in);
  const auto again = read_health_policy(once);
  ASSERT_TRUE(again.ok()) << again.error().text() << once;
  EXPECT_EQ(write_health_policy(*again), once);
  ASSERT_EQ(again->rules.size(), built_in->rules.size());
  for (std::size_t i = 0; i < again->rules.size(); ++i) {
    const HealthRule& a = again->rules[i];
    const HealthRule& b = built_in->rules[i];
    EXPECT_TRUE(a.code == b.code && a.effect == b.effect && a.rise == b.rise &&
                a.window == b.window && a.at_least == b.at_least && a.after == b.after &&
                a.recovery == b.recovery)
        << a.code;
  }
}

TEST(HealthPolicyFile, ErrorsNameThePlace) {
  const auto problem = [](const std::string& yaml) {
    const auto read = read_health_policy(yaml);
    return read.ok() ? "read" : read.error().text();
  };
  EXPECT_EQ(problem("rules: []"), "read");
  for (const auto& [yaml, place] : std::vector<std::pair<std::string, std::string>>{
           {"", "one YAML document"},
           {"rules: [{effect: note}]", "rules[0].code"},
           {"rules: [{code: a}]", "rules[0].effect"},
           {"links:\n  hold: 1s\nrules:\n- code: a\n  effect: link\n- code: b\n  effect: x\n",
            "line 7: rules[1].effect: must be note"},
           {"rules:\n- {code: a, effect: note}\n- {code: b,\n   efect: note}\n",
            "line 4: unknown key"},
           {"rules: [{code: a, effect: note, after: -1s}]", "rules[0].after: must be a time"},
           {"rules: [{code: a, effect: not}]", "rules[0].effect: must be note"},
           {"rules: [{code: '', effect: note}]", "rules[0].code: must not be empty"},
           {"rules: [{code: a, effect: note, hold: soon}]", "rules[0].hold: must be a time"},
           {"rules: [{code: a, effect: note, hold: -1}]", "rules[0].hold"},
           {"rules: [{code: a, effect: note, hold: 5 m}]", "rules[0].hold"},
           {"rules: [{code: a, effect: note, window: 0s}]", "rules[0].window"},
           {"rules: [{code: a, effect: note, hold: .nan}]", "rules[0].hold"},
           {"rules: [{code: a, effect: note, rise: -2}]", "rules[0].rise"},
           {"rules: [{code: a, effect: note, recovery: never}]", "rules[0].recovery"},
           {"rules: [{code: a, effect: note, recovery: reset, hold: 1s}]", "rules[0].hold"},
           {"rules: [{code: a, effect: note, efect: link}]", "efect"},
           {"rules: 7", "rules"},
           {"rules: [7]", "rules[0]"},
           {"rules: []\nlinks: {hold: 400d}", "links.hold"},
           {"rules: []\nmore: 1", "more"},
           {"rules: []\n---\nrules: []", "one YAML document"},
           {"rules: [", "line 1"}}) {
    EXPECT_NE(problem(yaml).find(place), std::string::npos) << yaml << "\n" << problem(yaml);
  }
  EXPECT_NE(problem(std::string(300'000, ' ')).find("256 KiB"), std::string::npos);
}

}  // namespace
}  // namespace chipweave::codec

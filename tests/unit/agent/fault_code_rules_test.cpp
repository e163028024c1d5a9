#include "node-agent/sources/fault_code_rules.hpp"

#include <gtest/gtest.h>

#include <map>

namespace chipweave::agent {
namespace {

using domain::Effect;
using domain::Recovery;

std::map<std::string, domain::HealthRule> rules(const char* json) {
  const auto table = codec::ascend::read_fault_table(json);
  EXPECT_TRUE(table.ok()) << table.error().text();
  std::map<std::string, domain::HealthRule> out;
  for (const auto& rule : rules_of(*table)) out[rule.code] = rule;
  return out;
}

TEST(FaultRules, ALevelIsAnEffect) {
  const auto of = rules(R"({"NotHandleFaultCodes":["80E21007"],"RestartRequestCodes":["80C98009"],
    "RestartBusinessCodes":["80CB8002"],"RestartNPUCodes":["8C084E00"],
    "SeparateNPUCodes":["80E01801"],"PreSeparateNPUNetworkCodes":["81078603"]})");
  ASSERT_EQ(of.size(), 6U);
  EXPECT_EQ(of.at("dcmi.80e21007").effect, Effect::note);
  EXPECT_EQ(of.at("dcmi.80c98009").effect, Effect::note);
  EXPECT_EQ(of.at("dcmi.80cb8002").effect, Effect::unusable);
  EXPECT_EQ(of.at("dcmi.8c084e00").effect, Effect::unusable);
  EXPECT_EQ(of.at("dcmi.80e01801").effect, Effect::unusable);
  EXPECT_EQ(of.at("dcmi.80e01801").recovery, Recovery::quiet);
  EXPECT_EQ(of.at("dcmi.81078603").effect, Effect::network);
}

TEST(FaultRules, ALinkThatIsDownIsOfTheNetworkWhateverListNamesIt) {
  const auto of = rules(R"({"SeparateNPUCodes":["81078603","0000000F"]})");
  EXPECT_FALSE(of.contains("dcmi.81078603") && of.at("dcmi.81078603").effect == Effect::unusable);
  EXPECT_EQ(of.at("dcmi.0000000f").effect, Effect::unusable);
}

}  // namespace
}  // namespace chipweave::agent

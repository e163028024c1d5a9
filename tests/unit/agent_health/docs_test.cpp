// The table of fault codes agrees with the built-in policy, and the example policy is valid.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "common/codec/agent/health_policy.hpp"
#include "tests/support/paths.hpp"

namespace chipweave::codec {
namespace {

std::string read_page(const char* path) {
  std::ifstream in(test::source_path(path));
  return {std::istreambuf_iterator<char>(in), {}};
}

// The row of the table of signals that begins with a code; "" if there is none.
std::string row_of(const std::string& page, const std::string& code) {
  const std::size_t at = page.find("\n| `" + code + "` |");
  if (at == std::string::npos) return "";
  return page.substr(at + 1, page.find('\n', at + 1) - at - 1);
}

std::string recovery_of(const domain::HealthRule& rule) {
  if (rule.recovery == domain::Recovery::reset) return "until reset";
  if (rule.hold == 0) return "at once";
  const bool minutes = rule.hold >= 120;
  return std::to_string(std::lround(minutes ? rule.hold / 60 : rule.hold)) +
         (minutes ? " min" : " s");
}

TEST(FaultsPage, HasEachRuleOfTheBuiltInPolicy) {
  const std::string page = read_page("docs/reference/faults.md");
  ASSERT_FALSE(page.empty());
  const auto policy = read_health_policy(default_health_policy());
  ASSERT_TRUE(policy.ok()) << policy.error().text();
  for (const domain::HealthRule& rule : policy->rules) {
    const std::string after =
        rule.after > 0 ? " after " + std::to_string(std::lround(rule.after)) + " s" : "";
    const std::string end =
        "| " + std::string(to_string(rule.effect)) + after + " | " + recovery_of(rule) + " |";
    EXPECT_TRUE(row_of(page, rule.code).ends_with(end))
        << rule.code << " should end with \"" << end << "\": " << row_of(page, rule.code);
  }
}

TEST(HealthPolicyPage, ItsExampleIsAPolicy) {
  const std::string page = read_page("docs/tasks/write-a-health-policy.md");
  const std::size_t begin = page.find("```yaml\nrules:\n");
  ASSERT_NE(begin, std::string::npos);
  const std::size_t text = page.find('\n', begin) + 1;
  const auto built_in = read_health_policy(default_health_policy());
  ASSERT_TRUE(built_in.ok()) << built_in.error().text();
  const auto policy =
      read_health_policy(page.substr(text, page.find("```", text) - text), *built_in);
  ASSERT_TRUE(policy.ok()) << policy.error().text();
  EXPECT_GE(policy->rules.size(), built_in->rules.size() + 5);
}

}  // namespace
}  // namespace chipweave::codec

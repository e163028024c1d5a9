#include "common/codec/agent/health_file.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.hpp"

namespace chipweave::codec {
namespace {

using testing::HasSubstr;

TEST(HealthFile, ReadsEveryKey) {
  const auto got = parse_health_file(
      R"({"unhealthy":[3,1],"network_unhealthy":[5],"down_links":[[0,3],[4,7,1]]})");
  ASSERT_TRUE(got) << got.error().text();
  ASSERT_EQ(got->unhealthy.size(), 2U);
  EXPECT_EQ(got->unhealthy[0].value, 3);
  ASSERT_EQ(got->network_unhealthy.size(), 1U);
  EXPECT_EQ(got->network_unhealthy[0].value, 5);
  ASSERT_EQ(got->down_links.size(), 2U);
  EXPECT_FALSE(got->down_links[0].lanes);
  EXPECT_EQ(got->down_links[1].b.value, 7);
  EXPECT_EQ(got->down_links[1].lanes, 1);
}

TEST(HealthFile, AnEmptyObjectMeansNothingIsBroken) {
  const auto got = parse_health_file(" {} \n");
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->unhealthy.empty() && got->network_unhealthy.empty() && got->down_links.empty());
}

TEST(HealthFile, RefusesEverythingElseAndNamesThePlace) {
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"", "not valid JSON"},
      {"{", "not valid JSON"},
      {"{} {}", "not valid JSON"},
      {"[]", "expected an object"},
      {"null", "expected an object"},
      {R"({"unhealty":[3]})", "\"unhealty\""},
      {R"({"unhealthy":[3],"unhealthy":[]})", "twice"},
      {R"({"unhealthy":3})", "unhealthy: expected a list, got 3"},
      {R"({"unhealthy":[-1]})", "unhealthy[0]"},
      {R"({"unhealthy":[0,1.5]})", "unhealthy[1]"},
      {R"({"unhealthy":["0"]})", "unhealthy[0]"},
      {R"({"unhealthy":[99999999999999999999]})", "unhealthy[0]"},
      {R"({"unhealthy":[18446744073709551615]})", "unhealthy[0]"},
      {R"({"network_unhealthy":{}})", "network_unhealthy: expected a list, got an object"},
      {R"({"down_links":[[0]]})", "down_links[0]"},
      {R"({"down_links":[[0,1,2,3]]})", "down_links[0]"},
      {R"({"down_links":[0]})", "down_links[0]"},
      {R"({"down_links":[[0,1],[2,2]]})", "down_links[1]: links chip 2 with itself"},
      {R"({"down_links":[[0,1,0]]})", "down_links[0][2]"},
      {R"({"down_links":[[0,1,5000]]})", "down_links[0][2]"},
      {R"({"down_links":true})", "down_links: expected a list, got true"},
  };
  for (const auto& [text, says] : cases) {
    const auto got = parse_health_file(text);
    ASSERT_FALSE(got) << text;
    EXPECT_THAT(got.error().text(), HasSubstr(says)) << text;
  }
}

TEST(HealthFile, IsBounded) {
  std::string many = "{\"unhealthy\":[0";
  for (int i = 1; i <= 64; ++i) many += "," + std::to_string(i);
  EXPECT_THAT(parse_health_file(many + "]}").error().text(), HasSubstr("at most 64 are accepted"));
  EXPECT_EQ(parse_health_file("{}" + std::string(limits::kMaxHealthFileBytes, ' ')).error().code,
            Errc::limit_exceeded);
  const std::string deep =
      "{\"unhealthy\":" + std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_FALSE(parse_health_file(deep));
  std::string pairs = "{\"down_links\":[[0,1]";
  for (int i = 0; i < 2016; ++i) pairs += ",[0,1]";
  EXPECT_THAT(parse_health_file(pairs + "]}").error().text(),
              HasSubstr("at most 2016 are accepted"));
}

}  // namespace
}  // namespace chipweave::codec

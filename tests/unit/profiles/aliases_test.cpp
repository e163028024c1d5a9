#include "common/profiles/aliases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "common/profiles/profiles.hpp"

namespace chipweave::profiles {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

TEST(Aliases, MeanBuiltInMachinesAndNoNameIsGivenTwice) {
  std::set<std::string_view> seen;
  for (const Alias& alias : aliases()) {
    EXPECT_TRUE(seen.insert(alias.name).second) << alias.name;
    EXPECT_EQ(find(alias.name), nullptr) << alias.name << " is a profile";
    EXPECT_FALSE(alias.profiles.empty());
    for (const std::string_view profile : alias.profiles) {
      EXPECT_NE(find(profile), nullptr) << alias.name << " means " << profile;
    }
    EXPECT_EQ(find_alias(alias.name), &alias);
  }
}

TEST(Aliases, AreFoundHoweverTheyAreWritten) {
  for (const char* name : {"dgx-a100", "DGX-A100", "dgx_a100", "DGX A100"}) {
    const Alias* alias = find_alias(name);
    ASSERT_NE(alias, nullptr) << name;
    EXPECT_THAT(alias->profiles, ElementsAre("hgx-a100-8"));
  }
  EXPECT_EQ(find_alias("dgx-a101"), nullptr);
  EXPECT_EQ(find_alias(""), nullptr);
}

TEST(Aliases, NamesOfSeveralMachinesAreAliasesOfNone) {
  EXPECT_THAT(find_alias("v100")->profiles, ElementsAre("hgx-v100-8", "dgx2-v100-16"));
  EXPECT_THAT(aliases_of("hgx-v100-8"), Contains("dgx-1v"));
  EXPECT_THAT(aliases_of("hgx-v100-8"), Not(Contains("v100")));
}

}  // namespace
}  // namespace chipweave::profiles

#include "common/base/near_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NearNames, NearestFirst) {
  EXPECT_THAT(near_names("LANE", {"links", "lane", "lanes"}), ElementsAre("lane", "lanes"));
  EXPECT_THAT(near_names("hgx-h100", {"hgx-a100-8", "hgx-h100-8"}), ElementsAre("hgx-h100-8"));
}

TEST(NearNames, PrefixesCountAndOtherNamesDoNot) {
  EXPECT_THAT(near_names("ascend", {"ascend-910b-8", "pcie-8"}), ElementsAre("ascend-910b-8"));
  EXPECT_THAT(near_names("zz", {"a", "b", "pcie-8"}), IsEmpty());
  EXPECT_THAT(near_names("", {"a"}), IsEmpty());
  EXPECT_THAT(near_names(std::string(100000, 'a'), {"a"}), IsEmpty());
}

TEST(NearNames, Sentence) {
  EXPECT_EQ(did_you_mean("chps", {"chips", "nics"}), " (did you mean \"chips\"?)");
  EXPECT_EQ(did_you_mean("aa", {"ab", "ac"}), " (did you mean \"ab\" or \"ac\"?)");
  EXPECT_EQ(did_you_mean("quite different", {"ab"}), "");
}

TEST(NearNames, UnknownNameListsTheKnownOnes) {
  EXPECT_EQ(unknown_name("format", "csw", {"csv", "json"}),
            "unknown format \"csw\" (did you mean \"csv\"?); known: csv, json");
  EXPECT_EQ(unknown_name("key", "x\n", {}), "unknown key \"x?\"");
}

}  // namespace
}  // namespace chipweave

#include "cli/ranktable/tools/hccl_arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace chipweave::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using Words = std::vector<std::string>;

Result<HcclRequest> request_of(const Words& words) {
  auto parsed = parse_words(hccl_spec("hccl"), words);
  if (!parsed) return std::move(parsed).error();
  return hccl_request(*parsed);
}

std::string request_error(const Words& words) {
  const auto out = request_of(words);
  return out.ok() ? "(no error)" : out.error().text();
}

TEST(HcclArguments, ReadsTheInterval) {
  const auto all = request_of({});
  ASSERT_TRUE(all.ok()) << all.error().text();
  EXPECT_EQ(all->first, 0);
  EXPECT_EQ(all->last, 8);
  EXPECT_THAT(all->visible, SizeIs(8));
  const auto some = request_of({"--device_num", "[4,8)", "--server_ip=10.0.0.18"});
  ASSERT_TRUE(some.ok()) << some.error().text();
  EXPECT_EQ(some->first, 4);
  EXPECT_EQ(some->server_ip, "10.0.0.18");
  const auto sixteen = request_of({"--device_num", "[3,16)", "--device_num_per_node", "16"});
  ASSERT_TRUE(sixteen.ok()) << sixteen.error().text();
  EXPECT_EQ(sixteen->last, 16);
  const auto visible = request_of({"--visible_devices", "4,5", "--device_num", "[0,2)"});
  ASSERT_TRUE(visible.ok()) << visible.error().text();
  EXPECT_THAT(visible->visible, ElementsAre("4", "5"));
}

TEST(HcclArguments, RefusesWhatIsNoInterval) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "is no interval"},         {"8", "is no interval"},
      {"[0,8]", "is no interval"},    {"(0,8)", "is no interval"},
      {"[0, 8)", "is no interval"},   {"[0,8,9)", "is no interval"},
      {"[-1,4)", "is no interval"},   {"[0,999999999999)", "is no interval"},
      {"[a,b)", "is no interval"},    {"[)", "is no interval"},
      {"[0,9)", "in range [0,8]"},    {"[4,4)", "holds no device"},
      {"[4,2)", "holds no device"},   {"[3,5)", "must be in the same group of [0,4] or [4,8]"},
      {"[0,5)", "in the same group"}, {"[3,8)", "in the same group"},
  };
  for (const auto& [interval, says] : cases) {
    EXPECT_THAT(request_error({"--device_num", interval}), HasSubstr(says)) << interval;
  }
  EXPECT_EQ(request_error({"--device_num", "[1,4)"}), "(no error)");
}

TEST(HcclArguments, RefusesOtherValuesThatMakeNoSense) {
  EXPECT_THAT(request_error({"--visible_devices", "0,x"}), HasSubstr("\"x\" in \"0,x\" is no"));
  EXPECT_THAT(request_error({"--visible_devices", "0,,1"}), HasSubstr("is no device id"));
  EXPECT_THAT(request_error({"--visible_devices", "0,0"}), HasSubstr("stands twice"));
  EXPECT_THAT(request_error({"--visible_devices", "0,1"}), HasSubstr("names 2 devices"));
  EXPECT_THAT(request_error({"--device_num_per_node", "0"}), HasSubstr("from 1 to 64"));
  EXPECT_THAT(request_error({"--device_num_per_node", "65"}), HasSubstr("from 1 to 64"));
}

TEST(HcclArguments, MergeWantsAFile) {
  const auto none = parse_words(merge_hccl_spec("m"), {});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().text(), "the following arguments are required: FILE");
  const auto some = parse_words(merge_hccl_spec("m"), {"a", "--", "-b"});
  ASSERT_TRUE(some.ok()) << some.error().text();
  EXPECT_THAT(some->files, ElementsAre("a", "-b"));
}

}  // namespace
}  // namespace chipweave::cli

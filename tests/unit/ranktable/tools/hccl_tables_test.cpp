#include "common/codec/ranktable/tools/generated_tables.hpp"
#include "common/codec/ranktable/tools/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace chipweave::codec::ranktable {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

NamedText server(int number) {
  const std::string n = std::to_string(number);
  return {"f" + n, write_hccl_table("10.0.0." + n,
                                    {{0, "10.0." + n + ".18", {}}, {1, "10.0." + n + ".19", {}}})};
}

std::string merge_error(std::vector<NamedText> files) {
  const auto out = merge_hccl_tables(std::move(files));
  return out.ok() ? "(no error)" : out.error().text();
}

TEST(HcclTables, WritesTheBytesOfTheReference) {
  EXPECT_EQ(write_hccl_table("10.0.0.18", {{4, "10.0.1.22", {}}}), R"({
    "version": "1.0",
    "server_count": "1",
    "server_list": [
        {
            "server_id": "10.0.0.18",
            "device": [
                {
                    "device_id": "4",
                    "device_ip": "10.0.1.22",
                    "rank_id": "0"
                }
            ],
            "host_nic_ip": "reserve"
        }
    ],
    "status": "completed"
})");
}

TEST(HcclTables, MergeCountsRanksInTheOrderOfTheFiles) {
  const auto out = merge_hccl_tables({server(9), server(10)});
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->file.name, "hccl_2s_4p.json");
  EXPECT_THAT(out->warnings, IsEmpty());
  const std::string& text = out->file.text;
  EXPECT_LT(text.find("10.0.0.9"), text.find("10.0.0.10"));
  EXPECT_LT(text.find("10.0.10.18"), text.find("\"rank_id\": \"2\""));
  EXPECT_THAT(text, HasSubstr("\"rank_id\": \"3\""));
  EXPECT_THAT(text, HasSubstr("\"server_count\": \"2\""));
  EXPECT_FALSE(text.ends_with('\n'));
}

TEST(HcclTables, OneFileWillDo) {
  const auto out = merge_hccl_tables({server(1)});
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->file.name, "hccl_1s_2p.json");
}

TEST(HcclTables, WarnsOfTheOrderOfTextsAndOfMergedFiles) {
  const auto text_order = merge_hccl_tables({server(10), server(9)});
  ASSERT_TRUE(text_order.ok()) << text_order.error().text();
  EXPECT_THAT(text_order->warnings, ElementsAre(HasSubstr("10.0.0.10 before 10.0.0.9")));
  NamedText merged{"hccl_2s_4p.json", merge_hccl_tables({server(1), server(2)})->file.text};
  const auto again = merge_hccl_tables({merged, server(3)});
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_THAT(again->warnings,
              ElementsAre(HasSubstr("file hccl_2s_4p.json already has 2 servers")));
}

TEST(HcclTables, RefusesDuplicatesAndOtherTables) {
  NamedText merged{"m", merge_hccl_tables({server(1), server(2)})->file.text};
  EXPECT_THAT(merge_error({merged, server(2)}), HasSubstr("is a merged table among the files?"));
  EXPECT_THAT(merge_error({server(1), server(1)}), HasSubstr("file f1: is given twice"));
  NamedText other = server(1);
  other.name = "other";
  const std::size_t at = other.text.find("10.0.0.1\"");
  other.text.replace(at, 9, "10.0.0.2\"");
  EXPECT_THAT(merge_error({server(1), other}), HasSubstr("device_ip \"10.0.1.18\" is in file f1"));
  EXPECT_THAT(merge_error({server(1), {"x", "{"}}), HasSubstr("file x: line 1, column "));
  EXPECT_THAT(merge_error({{"x", R"({"version": "1.0", "status": "completed", "server_count": "0",
                                    "server_list": []})"}}),
              HasSubstr("has no server"));
  EXPECT_THAT(merge_error({{"x", R"({"version": "2.0", "rank_count": 0, "rank_list": []})"}}),
              HasSubstr("dialect hccl-2.0, not hccl-1.0"));
}

}  // namespace
}  // namespace chipweave::codec::ranktable

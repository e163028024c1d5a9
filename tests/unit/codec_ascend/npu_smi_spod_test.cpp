#include "common/codec/ascend/npu_smi_spod.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/codec_text/shared_file.hpp"

namespace chipweave::codec::ascend {
namespace {

using ::testing::HasSubstr;

TEST(SpodInfo, ReadsTheFourNumbers) {
  const auto out = parse_spod_info(
      "\tSDID                           : 4294967295\r\n\tSuper Pod Size : 384\n"
      "Super Pod ID : 2\nSuper Pod Type : 0\nServer Index : 47\n");
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->sdid, 4294967295U);
  EXPECT_EQ(out->super_pod_size, 384);
  EXPECT_EQ(out->super_pod_id, 2);
  EXPECT_EQ(out->server_index, 47);
}

TEST(SpodInfo, ErrorsSayWhatIsMissing) {
  const std::string rest = "Super Pod Size : 1\nSuper Pod ID : 0\nServer Index : 0\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "the line \"SDID : NUMBER\" is missing"},
      {"SDID : 1", "the line \"Super Pod Size"},
      {"SDID : 1\nSuper Pod Size : 1\nSuper Pod ID : 0", "the line \"Server Index"},
      {rest + "SDID : -1", "line 4: SDID must be a number below 2^32, got \"-1\""},
      {rest + "SDID : 4294967296", "must be a number below 2^32"},
      {rest + "SDID : 1\nSDID : 2", "line 5: SDID has two values"},
      {rest + "SDID :", "must be a number below 2^32, got \"\""},
      {std::string(kMaxSpodInfoBytes + 1, ' '), "more than 65536 bytes"},
  };
  for (const auto& [text, says] : cases) {
    const auto out = parse_spod_info(text);
    ASSERT_FALSE(out.ok()) << text;
    EXPECT_THAT(out.error().text(), HasSubstr(says));
  }
}

TEST(SpodInfo, ReadsTheSamples) {
  const auto text = shared_file("ascend/rt_npu_smi_spod_info_A3.txt");
  if (!text) GTEST_SKIP() << "no shared data folder (CHIPWEAVE_SHARED_DATA)";
  const auto out = parse_spod_info(*text);
  ASSERT_TRUE(out.ok()) << out.error().text();
  EXPECT_EQ(out->sdid, 16777216U);
  EXPECT_EQ(out->sdid >> 22U, static_cast<std::uint32_t>(out->server_index));
  for (const char* name : {"rt_npu_smi_spod_info_not_supported.txt", "npu_smi_950_misc.txt"}) {
    const auto none = parse_spod_info(shared_file(std::string("ascend/") + name).value_or(""));
    ASSERT_FALSE(none.ok()) << name;
    EXPECT_EQ(none.error().code, Errc::unsupported) << name;
  }
}

}  // namespace
}  // namespace chipweave::codec::ascend

#include "common/codec/ascend/fault_levels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::codec::ascend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kTable = R"({
  "NotHandleFaultCodes": ["80E21007", "80CB8002"],
  "SubHealthFaultCodes": ["80FB8001"],
  "RestartRequestCodes": ["80C98008"],
  "RestartBusinessCodes": ["8C204E00"],
  "FreeRestartNPUCodes": ["8C0E4E00"],
  "RestartNPUCodes": ["8C03A000", "40F84E00", "80cb8002"],
  "PreSeparateNPUCodes": ["80E18003"],
  "SeparateNPUCodes": ["80E3A201"],
  "NotHandleFaultNetworkCodes": ["81078604"],
  "SeparateNPUNetworkCodes": ["81078605"]
})";

constexpr std::uint32_t kCardDroppedCode = 0x40f84e00;

FaultTable table() {
  auto read = read_fault_table(kTable);
  EXPECT_TRUE(read.ok()) << read.error().text();
  return std::move(read).value();
}

TEST(FaultLevels, AreNamedAndOrderedBySeriousness) {
  const char* names[] = {"NotHandleFault",  "SubHealthFault", "RestartRequest",
                         "RestartBusiness", "FreeRestartNPU", "RestartNPU",
                         "PreSeparateNPU",  "SeparateNPU",    "ManuallySeparateNPU"};
  int level = 0;
  for (const char* name : names) EXPECT_EQ(to_string(static_cast<FaultLevel>(level++)), name);
}

TEST(FaultLevels, EachListIsItsLevel) {
  const FaultTable t = table();
  EXPECT_THAT(t.warnings, IsEmpty());
  const auto level = [&t](std::uint32_t code) { return level_of(t, code, std::nullopt); };
  EXPECT_EQ(level(0x80e21007), FaultLevel::not_handle_fault);
  EXPECT_EQ(level(0x80fb8001), FaultLevel::sub_health_fault);
  EXPECT_EQ(level(0x80c98008), FaultLevel::restart_request);
  EXPECT_EQ(level(0x8c204e00), FaultLevel::restart_business);
  EXPECT_EQ(level(0x8c0e4e00), FaultLevel::free_restart_npu);
  EXPECT_EQ(level(0x8c03a000), FaultLevel::restart_npu);
  EXPECT_EQ(level(0x80e18003), FaultLevel::pre_separate_npu);
  EXPECT_EQ(level(0x80e3a201), FaultLevel::separate_npu);
  EXPECT_EQ(level(kCardDroppedCode), FaultLevel::restart_npu);
  EXPECT_EQ(level(0x81078604), FaultLevel::not_handle_fault);
  EXPECT_EQ(level(0x81078605), FaultLevel::separate_npu);
}

TEST(FaultLevels, OfTwoListsTheMoreSeriousHolds) {
  EXPECT_EQ(level_of(table(), 0x80cb8002, std::nullopt), FaultLevel::restart_npu);
}

TEST(FaultLevels, UnknownCodesGoBySeverity) {
  const FaultTable t = table();
  EXPECT_EQ(level_of(t, 0x12345678, 0U), FaultLevel::not_handle_fault);
  EXPECT_EQ(level_of(t, 0x12345678, 1U), FaultLevel::not_handle_fault);
  EXPECT_EQ(level_of(t, 0x12345678, 2U), FaultLevel::separate_npu);
  EXPECT_EQ(level_of(t, 0x12345678, 3U), FaultLevel::separate_npu);
  EXPECT_EQ(level_of(t, 0x12345678, std::nullopt), FaultLevel::separate_npu);
  // The severity is ignored for a known code.
  EXPECT_EQ(level_of(t, 0x80e3a201, 0U), FaultLevel::separate_npu);
}

TEST(FaultLevels, LinkDownIsOfTheNetworkWhateverIsConfigured) {
  EXPECT_TRUE(is_network_fault({}, kLinkDownCode));
  EXPECT_EQ(level_of({}, kLinkDownCode, 3U), FaultLevel::pre_separate_npu);
  EXPECT_TRUE(is_network_fault(table(), 0x81078604));
  EXPECT_FALSE(is_network_fault(table(), kCardDroppedCode));
  const auto odd = read_fault_table(R"({"SeparateNPUCodes":["81078603"]})");
  ASSERT_TRUE(odd.ok());
  EXPECT_EQ(level_of(*odd, kLinkDownCode, 3U), FaultLevel::pre_separate_npu);
}

TEST(FaultLevels, MistakesAreNamed) {
  const auto error = [](const std::string& text) {
    const auto read = read_fault_table(text);
    return read.ok() ? "(no error)" : read.error().text();
  };
  EXPECT_THAT(error(R"({"RestartNPUCodes":["80E21007","80E2100"]})"),
              HasSubstr("RestartNPUCodes[1]: must be a string of eight hex digits"));
  EXPECT_THAT(error(R"({"RestartNPUCodes":["0x80E210"]})"), HasSubstr("eight hex digits"));
  EXPECT_THAT(error(R"({"RestartNPUCodes":[2162229255]})"), HasSubstr("eight hex digits"));
  EXPECT_THAT(error(R"({"RestartNPUCodes":"80E21007"})"), HasSubstr("must be a list"));
  EXPECT_THAT(error(R"({"RestartNPUCodes":[],"RestartNPUCodes":[]})"),
              HasSubstr("RestartNPUCodes"));
  EXPECT_THAT(error("[]"), HasSubstr("expected an object with lists of fault codes, got a list"));
  EXPECT_THAT(error("{"), HasSubstr("line 1"));
  EXPECT_EQ(read_fault_table(std::string(kMaxFaultTableBytes + 1, ' ')).error().code,
            Errc::limit_exceeded);
}

TEST(FaultLevels, UnknownKeysArePassedOver) {
  const auto read = read_fault_table(R"({"AutoStopNPUCodes":["8F180200"],"SeparateNPUCodes":[]})");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_THAT(read->warnings, ElementsAre("unknown key AutoStopNPUCodes is ignored"));
  EXPECT_THAT(read->chip, IsEmpty());
}

}  // namespace
}  // namespace chipweave::codec::ascend

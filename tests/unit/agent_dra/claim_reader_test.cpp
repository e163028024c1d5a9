// ResourceClaims as the API server shows them, well meant and hostile.
#include "common/codec/kube/dra/dra_claim.hpp"

#include <gtest/gtest.h>

namespace chipweave::codec {
namespace {

std::string claim_with(const std::string& results, const std::string& metadata = "") {
  return R"({"metadata":{"uid":"u1","name":"c","namespace":"team")" + metadata +
         R"(},"spec":{"devices":{}},"status":{"allocation":{"allocationTimestamp":"t","devices":{"results":[)" +
         results + R"(],"config":[]},"nodeSelector":{}},"reservedFor":[{"uid":"p"}]}})";
}

TEST(DraClaim, HasTheDevicesOfAllDrivers) {
  std::string body = claim_with(
      R"({"request":"a","driver":"gpu.chipweave.dev","pool":"n1","device":"gpu-3"},)"
      R"({"request":"b/large","driver":"nic.example.com","pool":"n1","device":"nic-0","adminAccess":true},)"
      R"({"request":"b","driver":"gpu.chipweave.dev","pool":"n1","device":"gpu-1","shareID":"s"})");
  const auto claim = read_dra_claim(body);
  ASSERT_TRUE(claim.ok()) << claim.error().text();
  EXPECT_EQ(claim->ns + "/" + claim->name + "/" + claim->uid, "team/c/u1");
  EXPECT_FALSE(claim->one_container);
  const std::vector<AllocatedResult> expected = {
      {"a", "gpu.chipweave.dev", "n1", "gpu-3", false, false},
      {"b", "nic.example.com", "n1", "nic-0", true, false},
      {"b", "gpu.chipweave.dev", "n1", "gpu-1", false, true}};
  EXPECT_EQ(claim->results, expected);
}

TEST(DraClaim, SaysWhetherOneContainerGetsAll) {
  std::string body = claim_with("", R"(,"annotations":{"chipweave.dev/one-container":"true"})");
  EXPECT_TRUE(read_dra_claim(body).value().one_container);
  body = claim_with("", R"(,"annotations":{"chipweave.dev/one-container":"yes"})");
  EXPECT_FALSE(read_dra_claim(body).value().one_container);
}

TEST(DraClaim, WithoutAnAllocationHasNoDevices) {
  std::string body = R"({"metadata":{"uid":"u1"},"status":{}})";
  EXPECT_TRUE(read_dra_claim(body).value().results.empty());
  body = R"({"metadata":{"uid":"u1"}})";
  EXPECT_TRUE(read_dra_claim(body).value().results.empty());
}

TEST(DraClaim, WithMoreThan32DevicesIsRefused) {
  const std::string one = R"({"request":"a","driver":"d","pool":"n1","device":"gpu-3"})";
  std::string results = one;
  for (int i = 1; i < 32; ++i) results += "," + one;
  std::string body = claim_with(results);
  EXPECT_EQ(read_dra_claim(body).value().results.size(), 32U);
  body = claim_with(results + "," + one);
  const auto refused = read_dra_claim(body);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::limit_exceeded);
}

TEST(DraClaim, ThatIsBrokenIsRefused) {
  for (
      std::string body :
      {R"({"metadata":{"name":"c"}})", R"({"metadata":{"uid":7}})", R"({"metadata":{"uid":"u")",
       R"({"metadata":{"uid":"u"},"status":{"allocation":{"devices":{"results":{}}}}})",
       R"({"metadata":{"uid":"u"},"status":{"allocation":{"devices":{"results":[{"adminAccess":1}]}}}})"}) {
    const std::string shown = body;
    EXPECT_FALSE(read_dra_claim(body).ok()) << shown;
  }
  std::string long_name = claim_with(R"({"request":"a","driver":"d","pool":"n1","device":")" +
                                     std::string(300, 'x') + R"("})");
  EXPECT_FALSE(read_dra_claim(long_name).ok());
}

}  // namespace
}  // namespace chipweave::codec

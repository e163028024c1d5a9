// Which claim a pod's status names, and which requests of it are whose.
#include "common/codec/kube/objects/pod_claim.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chipweave::codec {
namespace {

using testing::HasSubstr;

Result<PodClaimStatus> status_in(std::string text) { return read_pod_claim_status(text); }

std::string with_mappings(const std::string& mappings) {
  return R"({"status":{"extendedResourceClaimStatus":{"resourceClaimName":"c","requestMappings":)" +
         mappings + "}}}";
}

TEST(PodClaimStatus, IsReadAsItIsWritten) {
  PodClaim claim;
  claim.pod_uid = "u1";
  claim.resource = "nvidia.com/gpu";
  claim.containers = {{"init", {1}}, {"main", {0, 1, 31}}};
  const auto status = status_in(write_pod_claim_status(claim));
  ASSERT_TRUE(status.ok()) << status.error().text();
  EXPECT_EQ(status->claim, "chipweave-u1");
  EXPECT_EQ(status->resource, "nvidia.com/gpu");
  EXPECT_EQ(status->containers, claim.containers);
}

TEST(PodClaimStatus, IsEmptyForPodsWithoutAClaim) {
  for (const char* text : {R"({})", R"({"status":null})", R"({"status":{"phase":"Running"}})",
                           R"({"status":{"extendedResourceClaimStatus":null}})"}) {
    const auto status = status_in(text);
    ASSERT_TRUE(status.ok()) << text;
    EXPECT_EQ(status->claim, "");
    EXPECT_TRUE(status->containers.empty());
  }
}

TEST(PodClaimStatus, OfOtherClientsIsRefused) {
  for (const char* request : {"chip-32", "chip-3", "chip-003", "chip--1", "chip-", "gpu-00", ""}) {
    const auto status = status_in(
        with_mappings(std::string(R"([{"containerName":"c","resourceName":"r","requestName":")") +
                      request + R"("}])"));
    ASSERT_FALSE(status.ok()) << request;
    EXPECT_EQ(status.error().code, Errc::invalid_argument);
    EXPECT_THAT(status.error().text(), HasSubstr("not a request of chipweave's"));
  }
  EXPECT_THAT(status_in(with_mappings(R"([{"resourceName":"r","requestName":"chip-00"},
                                     {"resourceName":"s","requestName":"chip-01"}])"))
                  .error()
                  .text(),
              HasSubstr("more than one resource"));
  EXPECT_FALSE(status_in(with_mappings("7")).ok());
  EXPECT_FALSE(status_in(with_mappings(R"([{"requestName":7}])")).ok());
  EXPECT_FALSE(status_in("[]").ok());
  EXPECT_FALSE(status_in(R"({"status":{)").ok());
}

}  // namespace
}  // namespace chipweave::codec

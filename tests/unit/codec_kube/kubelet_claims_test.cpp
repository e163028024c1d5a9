// The kubelet's checkpoint of prepared claims.
#include "common/codec/kube/kubelet/kubelet_claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <nlohmann/json.hpp>

#include "common/codec/kube/kubelet/kubelet_checkpoint.hpp"

namespace chipweave::codec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string kubelet_file(const std::string& data) {
  return nlohmann::json{{"Data", data}, {"Checksum", 2570581864}}.dump();
}

// As a kubelet of 1.36 wrote it: one claim of two pods, one that is not prepared yet.
const std::string kPreparedFile = kubelet_file(
    R"({"kind":"DRACheckpoint","apiVersion":"checkpoint.dra.kubelet.k8s.io/v1","ClaimInfoStateList":[
      {"ClaimUID":"c1","ClaimName":"shared","Namespace":"ns","PodUIDs":{"u2":{},"u1":{}},
       "DriverState":{"gpu.nvidia.com":{"Devices":[{"PoolName":"n1","DeviceName":"gpu-3","ShareID":null,
         "RequestNames":["chip-00"],"CDIDeviceIDs":["k8s.gpu.nvidia.com/claim=c1-gpu-3"]}]}}},
      {"ClaimUID":"c2","ClaimName":"soon","Namespace":"ns","PodUIDs":{"u3":{}},
       "DriverState":{"gpu.nvidia.com":{"Devices":null}}}]})");

TEST(KubeletClaims, NameTheDevicesOfEachPodByItsUid) {
  const auto read = read_kubelet_claims(kPreparedFile);
  ASSERT_TRUE(read) << read.error().text();
  const KubeletClaimDevice device{"gpu.nvidia.com", "n1", "gpu-3", "ns", "shared", "u1"};
  KubeletClaimDevice other = device;
  other.pod_uid = "u2";
  EXPECT_THAT(*read, ElementsAre(device, other));
}

TEST(KubeletClaims, OfAKubeletWithoutClaimsAreNone) {
  for (const char* data :
       {R"({"kind":"DRACheckpoint","ClaimInfoStateList":null})", R"({"ClaimInfoStateList":[]})"}) {
    const auto read = read_kubelet_claims(kubelet_file(data));
    ASSERT_TRUE(read) << data << ": " << read.error().text();
    EXPECT_THAT(*read, IsEmpty());
  }
}

TEST(KubeletClaims, ThatAreDamagedAreAnErrorThatNamesThePlace) {
  const auto problem = [](const std::string& text) {
    const auto read = read_kubelet_claims(text);
    return read ? "" : read.error().text();
  };
  EXPECT_THAT(problem(""), HasSubstr("line 1"));
  EXPECT_THAT(problem("[]"), HasSubstr("object"));
  EXPECT_THAT(problem(R"({"Data":{}})"), HasSubstr("Data"));
  EXPECT_THAT(problem(kubelet_file("{")), HasSubstr("Data"));
  EXPECT_THAT(problem(kubelet_file(R"({"ClaimInfoStateList":[{"ClaimName":"c"}]})")),
              HasSubstr("Namespace"));
  const std::string front =
      R"({"ClaimInfoStateList":[{"ClaimName":"c","Namespace":"n","PodUIDs":{"u":{}},)";
  EXPECT_THAT(
      problem(kubelet_file(front + R"("DriverState":{"d":{"Devices":[{"PoolName":"p"}]}}}]})")),
      HasSubstr("DeviceName"));
  std::string many = front + R"("DriverState":{"d":{"Devices":[)";
  const std::string one = R"({"PoolName":"p","DeviceName":"d"})";
  for (std::size_t i = 0; i < kMaxCheckpointedDevices; ++i) many += one + ",";
  const auto exactly =
      read_kubelet_claims(kubelet_file(many.substr(0, many.size() - 1) + "]}}}]}"));
  ASSERT_TRUE(exactly) << exactly.error().text();
  EXPECT_EQ(exactly->size(), 1U);
  std::string pods = R"({"ClaimInfoStateList":[{"ClaimName":"c","Namespace":"n","DriverState":)";
  pods += R"({"d":{"Devices":[)" + one + "," + one + "," + one + "," + one + "," + one +
          R"(]}},"PodUIDs":{)";
  for (int i = 0; i < 4000; ++i) pods += (i > 0 ? ",\"u" : "\"u") + std::to_string(i) + "\":{}";
  EXPECT_THAT(problem(kubelet_file(pods + "}}]}")), HasSubstr("more than 16384"));
}

}  // namespace
}  // namespace chipweave::codec

// The kubelet's checkpoint of allocated devices.
#include "common/codec/kube/kubelet/kubelet_checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace chipweave::codec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kGpu = "nvidia.com/gpu";

// In the form of kubelets since 1.20, by hand from their source.
const std::string kCheckpoint = R"({"Data":{"PodDeviceEntries":[
  {"PodUID":"u2","ContainerName":"main","ResourceName":"nvidia.com/gpu",
   "DeviceIDs":{"0":["GPU-3","GPU-2"],"1":["GPU-4"]},"AllocResp":"CgIIAQ=="},
  {"PodUID":"u1","ContainerName":"main","ResourceName":"nvidia.com/gpu",
   "DeviceIDs":{"-1":["GPU-0"]},"AllocResp":null},
  {"PodUID":"u1","ContainerName":"net","ResourceName":"rdma/hca","DeviceIDs":{"-1":["h0"]}}],
  "RegisteredDevices":{"nvidia.com/gpu":["GPU-0","GPU-1"]}},"Checksum":1234567890123456789})";

CheckpointedDevice of_uid(const std::string& uid, const std::string& id) {
  return {kGpu, id, "main", uid};
}

TEST(KubeletCheckpoint, NamesTheDevicesOfEachContainerByTheUidOfItsPod) {
  const auto read = read_kubelet_checkpoint(kCheckpoint, {"nvidia.com/"});
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_THAT(*read, ElementsAre(of_uid("u1", "GPU-0"), of_uid("u2", "GPU-2"),
                                 of_uid("u2", "GPU-3"), of_uid("u2", "GPU-4")));
  EXPECT_EQ(read_kubelet_checkpoint(kCheckpoint, {""})->size(), 5U);
  EXPECT_EQ(read_kubelet_checkpoint(kCheckpoint, {"nvidia.com/", "rdma/"})->size(), 5U);
  EXPECT_THAT(*read_kubelet_checkpoint(kCheckpoint, {}), IsEmpty());
}

TEST(KubeletCheckpoint, OfAKubeletWithoutPodsIsEmpty) {
  for (const char* text :
       {R"({"Data":{"PodDeviceEntries":null,"RegisteredDevices":{}},"Checksum":1})",
        R"({"Data":{"PodDeviceEntries":[]}})", R"({"Data":{}})"}) {
    const auto read = read_kubelet_checkpoint(text, {""});
    ASSERT_TRUE(read) << text << ": " << read.error().text();
    EXPECT_THAT(*read, IsEmpty());
  }
}

TEST(KubeletCheckpoint, ThatIsDamagedIsAnErrorThatNamesThePlace) {
  const auto problem = [](const std::string& text) {
    const auto read = read_kubelet_checkpoint(text, {""});
    return read ? "" : read.error().text();
  };
  EXPECT_THAT(problem(""), HasSubstr("line 1"));
  EXPECT_THAT(problem("[]"), HasSubstr("object"));
  EXPECT_THAT(problem("{}"), HasSubstr("Data"));
  EXPECT_THAT(problem(R"({"Data":{"PodDeviceEntries":[{"DeviceIDs":{}}]}})"), HasSubstr("PodUID"));
  EXPECT_THAT(problem(R"({"Data":{"PodDeviceEntries":[{"PodUID":"u","DeviceIDs":{"0":[7]}}]}})"),
              HasSubstr("DeviceIDs"));
  std::string many = R"({"Data":{"PodDeviceEntries":[{"PodUID":"u","DeviceIDs":{"0":[)";
  for (std::size_t i = 0; i <= kMaxCheckpointedDevices; ++i) many += (i > 0 ? ",\"d\"" : "\"d\"");
  EXPECT_THAT(problem(many + "]}}]}}"), HasSubstr("more than 16384"));
}

}  // namespace
}  // namespace chipweave::codec

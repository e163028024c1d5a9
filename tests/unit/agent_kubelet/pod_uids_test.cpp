// Devices of pods by PodResources and by the kubelet's checkpoint together.
#include "node-agent/kubelet/pod_uids.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace chipweave::agent {
namespace {

using codec::CheckpointedDevice;
using testing::ElementsAre;

const std::string kGpu = "nvidia.com/gpu";

CheckpointedDevice saved(const std::string& uid, const std::string& id) {
  return {kGpu, id, "main", uid};
}
AllocatedDevice of_uid(const std::string& uid, const std::string& id) {
  return {kGpu, id, "", "", "main", uid};
}
AllocatedDevice of_pod(const std::string& pod, const std::string& id, const std::string& uid = "") {
  return {kGpu, id, "ns", pod, "main", uid};
}

TEST(PodUids, AreThoseOfTheSameDeviceInAContainerOfThatName) {
  const codec::CheckpointedDevices checkpoint = {saved("u1", "GPU-0"), saved("u2", "GPU-1")};
  EXPECT_THAT(with_uids({of_pod("a", "GPU-0"), of_pod("b", "GPU-2")}, checkpoint),
              ElementsAre(of_pod("a", "GPU-0", "u1"), of_uid("u2", "GPU-1"), of_pod("b", "GPU-2")));
  EXPECT_THAT(with_uids({}, checkpoint), ElementsAre(of_uid("u1", "GPU-0"), of_uid("u2", "GPU-1")));
  EXPECT_THAT(with_uids({of_pod("a", "GPU-0")}, {}), ElementsAre(of_pod("a", "GPU-0")));
}

// A pod that has ended and the one after it, both with the chip and a container of that name.
TEST(PodUids, AreNotGuessed) {
  const codec::CheckpointedDevices checkpoint = {saved("u1", "GPU-0"), saved("u2", "GPU-0")};
  EXPECT_THAT(with_uids({of_pod("a", "GPU-0")}, checkpoint),
              ElementsAre(of_uid("u1", "GPU-0"), of_uid("u2", "GPU-0"), of_pod("a", "GPU-0")));
}

}  // namespace
}  // namespace chipweave::agent

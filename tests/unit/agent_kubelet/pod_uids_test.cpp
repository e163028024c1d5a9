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

using codec::KubeletClaimDevice;

KubeletClaimDevice prepared(const std::string& uid, const std::string& id,
                            const std::string& claim) {
  return {"gpu.nvidia.com", "n1", id, "ns", claim, uid};
}
AllocatedDevice claimed(const std::string& pod, const std::string& id, const std::string& claim,
                        const std::string& uid = "") {
  return {
      "",   id,   pod.empty() ? "" : "ns", pod, pod.empty() ? "" : "main", uid, "gpu.nvidia.com",
      "n1", claim};
}

// The checkpoint is the newer word.
TEST(ClaimUids, AreThoseOfTheSameClaimAndClaimsThatHaveEndedAreGone) {
  const codec::KubeletClaimDevices now = {prepared("u1", "gpu-0", "c1"),
                                          prepared("u2", "gpu-1", "c2")};
  EXPECT_THAT(
      with_claims({claimed("a", "gpu-0", "c1"), claimed("b", "gpu-1", "ended"),
                   claimed("b", "gpu-2", "c2"), of_pod("d", "GPU-7")},
                  now),
      testing::UnorderedElementsAre(claimed("a", "gpu-0", "c1", "u1"),
                                    claimed("", "gpu-1", "c2", "u2"), of_pod("d", "GPU-7")));
  EXPECT_THAT(with_claims({claimed("a", "gpu-0", "c1")}, {}), testing::IsEmpty());
}

TEST(ClaimUids, OfPodsThatShareAClaimAreNotGuessed) {
  const codec::KubeletClaimDevices now = {prepared("u1", "gpu-0", "c"),
                                          prepared("u2", "gpu-0", "c")};
  EXPECT_THAT(with_claims({claimed("a", "gpu-0", "c"), claimed("b", "gpu-0", "c")}, now),
              ElementsAre(claimed("a", "gpu-0", "c"), claimed("b", "gpu-0", "c")));
  EXPECT_THAT(
      with_claims({claimed("a", "gpu-0", "c")}, now),
      testing::UnorderedElementsAre(claimed("a", "gpu-0", "c"), claimed("", "gpu-0", "c", "u1"),
                                    claimed("", "gpu-0", "c", "u2")));
}

}  // namespace
}  // namespace chipweave::agent

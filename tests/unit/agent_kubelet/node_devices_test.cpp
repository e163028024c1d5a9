// The devices of the own node while slices come and go.
#include "node-agent/reporting/node_devices.hpp"

#include <gtest/gtest.h>

#include "tests/fakes/agent/fake_api.hpp"
#include "tests/support/manual_clock.hpp"

namespace chipweave::agent {
namespace {

using Json = nlohmann::json;

const std::string kSlicePath = "/apis/resource.k8s.io/v1/resourceslices/";

Json slice_of(const std::string& name, const std::string& pool, const std::string& device) {
  return {
      {"metadata", {{"name", name}, {"uid", name}}},
      {"spec",
       {{"driver", "gpu.nvidia.com"},
        {"nodeName", "n1"},
        {"pool", {{"name", pool}, {"generation", 1}, {"resourceSliceCount", 1}}},
        {"devices", Json::array({Json{{"name", device},
                                      {"attributes", {{"uuid", {{"string", "U-" + name}}}}}}})}}}};
}

class NodeDevicesTest : public testing::Test {
 protected:
  NodeDevicesTest() {
    put("s1", "p1", "gpu-0");
    put("s2", "p1", "gpu-1");
    put("s3", "p2", "gpu-2");
    devices_.start();
    settle();
  }
  void put(const std::string& name, const std::string& pool, const std::string& device) {
    api_.put(kSlicePath + name, slice_of(name, pool, device));
  }
  void remove(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const Json& metadata = api_.objects[kSlicePath + name]["metadata"];
      const Json options = {
          {"preconditions",
           {{"uid", metadata["uid"]}, {"resourceVersion", metadata["resourceVersion"]}}}};
      EXPECT_EQ(api_.answer(kube::call_of("DELETE", kSlicePath + name, options.dump())).status,
                200);
    }
    settle();
  }
  void settle() { api_.advance(std::chrono::seconds(60)); }
  // The id of the chip; "": it is not known.
  std::string uuid(const std::string& pool, const std::string& device) const {
    const auto* found = devices_.catalog()->find({"gpu.nvidia.com", pool, device});
    return found == nullptr ? "" : found->uuid;
  }

  ManualClock clock_;
  FakeApi api_{clock_};
  int changes_ = 0;
  NodeDevices devices_{api_, "n1", 1, [this] { ++changes_; }};
};

TEST_F(NodeDevicesTest, OfAPoolThatIsAwayStay) {
  ASSERT_NE(devices_.catalog(), nullptr);
  EXPECT_EQ(uuid("p1", "gpu-0"), "U-s1");
  remove({"s1", "s2"});
  EXPECT_EQ(uuid("p2", "gpu-2"), "U-s3");
  EXPECT_EQ(uuid("p1", "gpu-0"), "U-s1");
  EXPECT_EQ(uuid("p1", "gpu-1"), "U-s2");
  // Offered again, by another slice: what it does not have is gone.
  put("s4", "p1", "gpu-9");
  settle();
  EXPECT_EQ(uuid("p1", "gpu-9"), "U-s4");
  EXPECT_EQ(uuid("p1", "gpu-0"), "");
  EXPECT_EQ(uuid("p1", "gpu-1"), "");
}

TEST_F(NodeDevicesTest, OfASliceThatIsDeletedGoWithTheNextNewsOfItsPool) {
  remove({"s1"});
  put("s3", "p2", "gpu-2");
  settle();
  EXPECT_EQ(uuid("p1", "gpu-0"), "U-s1");
  put("s2", "p1", "gpu-1");
  settle();
  EXPECT_EQ(uuid("p1", "gpu-0"), "");
  EXPECT_EQ(uuid("p1", "gpu-1"), "U-s2");
}

}  // namespace
}  // namespace chipweave::agent

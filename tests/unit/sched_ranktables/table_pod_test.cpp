// What pods say about rank tables, and the devices that annotations name.
#include "scheduler-plugin/ranktables/table_pod.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/codec/mindcluster/pod/pod_devices.hpp"
#include "tests/unit/sched_ranktables/table_world.hpp"

namespace chipweave::sched::test {
namespace {

using codec::mindcluster::read_pod_devices;
using testing::HasSubstr;

TEST(PodDevices, AreReadInBothSpellingsAndByPhysicalId) {
  const auto read = read_pod_devices(R"({"pod_name":"w-0","server_id":"x","super_pod_id":3,
      "devices":[{"device_id":"5","device_ip":"192.0.2.15","super_device_id":"589829"},
                 {"device_id":4,"device_ip":"-1"}],"server_index":"0"})");
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(read->super_pod, "3");
  ASSERT_EQ(read->devices.size(), 2U);
  EXPECT_EQ(read->devices[0].device_id, 4);
  EXPECT_EQ(read->devices[0].ip, "");
  EXPECT_FALSE(read->devices[0].super_device_id.has_value());
  EXPECT_EQ(read->devices[1].ip, "192.0.2.15");
  EXPECT_EQ(*read->devices[1].super_device_id, 589829);
}

// As MindCluster's device plugin writes them.
TEST(PodDevices, OfAnAscend950HaveLayers) {
  const auto read = read_pod_devices(R"({"devices":[{"device_id":"0","device_ip":"","levelList":[
      {"level":0,"info":{"UB":{"net_layer":0,"net_instance_id":"sp0_rack1",
        "net_type":"TOPO_FILE_DESC","net_attr":"","rank_addr_list":[{"addr_type":"EID",
        "addr":"000000000000000000100000dfdf0020","ports":["1/0"],"plane_id":""}]}}},
      {"level":1,"info":{"UB":{"net_layer":1,"net_instance_id":"sp0","net_type":"CLOS","net_attr":"",
        "rank_addr_list":null}}},
      {"level":2,"info":{
        "UBOE":{"net_layer":2,"net_instance_id":"CLUSTER1","net_type":"CLOS","net_attr":"",
          "rank_addr_list":[{"addr_type":"IP","addr":"192.0.2.1","ports":["0/7"],"plane_id":"p"}]},
        "UBG":{"net_layer":2,"net_instance_id":"CLUSTER1","net_type":"CLOS","net_attr":"",
          "rank_addr_list":[]}}}]}]})");
  ASSERT_TRUE(read.ok()) << read.error().text();
  const auto& device = read->devices.at(0);
  ASSERT_EQ(device.layers.size(), 2U);
  EXPECT_EQ(device.layers[0].instance_id, "sp0_rack1");
  EXPECT_EQ(device.layers[0].addresses.at(0).ports, std::vector<std::string>{"1/0"});
  EXPECT_EQ(device.layers[1].layer, 1);
  ASSERT_EQ(device.outer.size(), 2U);
  EXPECT_EQ(device.outer[0].type, "UBOE");
  EXPECT_EQ(device.outer[0].layer.addresses.at(0).address, "192.0.2.1");
  EXPECT_EQ(device.outer[1].type, "UBG");
}

TEST(PodDevices, WhatIsWrongIsNamed) {
  const auto why = [](const std::string& text) {
    const auto read = read_pod_devices(text);
    return read.ok() ? "" : read.error().text();
  };
  EXPECT_THAT(why(""), testing::Not(testing::IsEmpty()));
  EXPECT_THAT(why("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(why("{}"), HasSubstr("devices"));
  EXPECT_THAT(why(R"({"devices":[{}]})"), HasSubstr("device_id"));
  EXPECT_THAT(why(R"({"devices":[{"device_id":"-1"}]})"), HasSubstr("devices[0].device_id"));
  EXPECT_THAT(why(R"({"devices":[{"device_id":"99999999999999999999"}]})"), HasSubstr("device_id"));
  EXPECT_THAT(why(R"({"devices":[{"device_id":"1"},{"device_id":"1"}]})"),
              HasSubstr("device 1 is listed twice"));
  EXPECT_THAT(why(R"({"devices":[{"device_id":"1","levelList":[{"level":9}]}]})"),
              HasSubstr("level"));
  EXPECT_THAT(why(R"({"devices":[{"device_id":"1","levelList":[
                  {"level":0,"info":{"UB":{"net_layer":9}}}]}]})"),
              HasSubstr("net_layer"));
  EXPECT_THAT(why("{\"devices\":[" + std::string(300'000, ' ') + "]}"),
              HasSubstr("larger than 256 KiB"));
}

TEST(TablePod, AsksByTheMarksThatUsersKnow) {
  TestPod pod;
  pod.name = "w-0";
  pod.labels.clear();
  EXPECT_FALSE(read_table_pod(kube_pod(pod)).has_value());
  pod.labels = {{"ring-controller.atlas", "ascend-910b"}};
  ASSERT_TRUE(read_table_pod(kube_pod(pod)).has_value());
  EXPECT_TRUE(read_table_pod(kube_pod(pod))->asks);
  EXPECT_EQ(read_table_pod(kube_pod(pod))->job, "w-0") << "a pod alone is its own job";
  // Volcano's svc plugin
  pod.labels = {{"volcano.sh/job-name", "train"}};
  codec::KubePod of_volcano = kube_pod(pod);
  EXPECT_FALSE(read_table_pod(of_volcano).has_value());
  of_volcano.subdomain = "train";
  ASSERT_TRUE(read_table_pod(of_volcano).has_value());
  EXPECT_EQ(read_table_pod(of_volcano)->job, "train");
  of_volcano.annotations[kRankTableMark] = "off";
  EXPECT_FALSE(read_table_pod(of_volcano).has_value());
}

TEST(TablePod, PodsThatFailedOrEndBelongToNoTable) {
  TestPod pod;
  pod.name = "w-0";
  codec::KubePod seen = kube_pod(pod);
  seen.phase = "Succeeded";
  EXPECT_TRUE(read_table_pod(seen).has_value());
  seen.phase = "Failed";
  EXPECT_FALSE(read_table_pod(seen).has_value());
  seen.phase = "Running";
  seen.ending = true;
  EXPECT_FALSE(read_table_pod(seen).has_value());
}

TEST(TablePod, PartsOfADeploymentAreThoseWithBothLabels) {
  TestPod pod;
  pod.name = "c";
  pod.chips = 0;
  pod.labels = {{"app", "mindie-ms-controller"}};
  EXPECT_FALSE(read_table_pod(kube_pod(pod)).has_value());
  pod.labels["jobID"] = "chat";
  ASSERT_TRUE(read_table_pod(kube_pod(pod)).has_value());
  EXPECT_EQ(read_table_pod(kube_pod(pod))->role, DeploymentRole::controller);
  EXPECT_EQ(read_table_pod(kube_pod(pod))->deployment, "chat");
  EXPECT_FALSE(read_table_pod(kube_pod(pod))->asks);
}

}  // namespace
}  // namespace chipweave::sched::test

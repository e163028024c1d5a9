// Free accelerators and places of nodes, from the objects of an API server.
#include "cli/plan/kube_objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/codec/network/import.hpp"

namespace chipweave::cli::kube_objects_test {
namespace {

using ::testing::HasSubstr;

const std::string kNodes =
    R"({"metadata":{"name":"n1","labels":{"topology.kubernetes.io/zone":"z","kubernetes.io/hostname":"n1"}},
        "status":{"allocatable":{"cpu":"64","nvidia.com/gpu":"8"},"conditions":[{"type":"Ready","status":"True"}]}},
       {"metadata":{"name":"n2","labels":{"topology.kubernetes.io/zone":"z"}},"spec":{"unschedulable":true},
        "status":{"allocatable":{"huawei.com/Ascend910":"16"},"conditions":[{"type":"Ready","status":"True"}]}},
       {"metadata":{"name":"n3"},"status":{"allocatable":{"nvidia.com/gpu":"4","x.io/fpga":"2"},
        "conditions":[{"type":"Ready","status":"Unknown"}]}})";

std::string pod(const std::string& node, const std::string& phase, const std::string& spec) {
  return R"({"metadata":{},"status":{"phase":")" + phase + R"("},"spec":{"nodeName":")" + node +
         R"(",)" + spec + "}}";
}

TEST(KubeObjects, CountWhatPodsLeave) {
  KubeLists lists;
  lists.nodes = kNodes;
  const std::string two = R"({"resources":{"limits":{"nvidia.com/gpu":"2"}}})";
  lists.pods =
      pod("n1", "Running", R"("containers":[)" + two + "," + two + "]") + "," +
      pod("n1", "Succeeded", R"("containers":[)" + two + "]") + "," +
      pod("n1", "Pending",
          R"("containers":[{}],"initContainers":[{"resources":{"requests":{"nvidia.com/gpu":"3"}}}])") +
      "," + pod("", "Pending", R"("containers":[)" + two + "]") + "," +
      pod("n2", "Running",
          R"("containers":[{"resources":{"limits":{"huawei.com/Ascend910":"20"}}}])");
  const auto out = kube_objects_of(lists, "");
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->nodes.at("n1").free, 1);
  EXPECT_TRUE(out->nodes.at("n1").schedulable);
  EXPECT_EQ(out->nodes.at("n2").free, 0);
  EXPECT_FALSE(out->nodes.at("n2").schedulable);
  EXPECT_EQ(out->nodes.at("n3").free, 4);
  EXPECT_FALSE(out->nodes.at("n3").schedulable);
  EXPECT_EQ(kube_objects_of(lists, "x.io/fpga")->nodes.at("n3").free, 2);
}

TEST(KubeObjects, AreADescriptionOfTheNetwork) {
  KubeLists lists;
  lists.nodes = kNodes;
  lists.topologies =
      R"({"metadata":{"name":"t"},"spec":{"levels":[{"nodeLabel":"topology.kubernetes.io/zone"}]}})";
  const auto out = kube_objects_of(lists, "");
  ASSERT_TRUE(out);
  const auto network = codec::import_network(out->description, {});
  ASSERT_TRUE(network) << network.error().text();
  EXPECT_EQ(network->table.levels, (std::vector<std::string>{"topology.kubernetes.io/zone"}));
  EXPECT_EQ(network->table.nodes.size(), 3U);
  // Labels alone, where the user names them.
  lists.topologies.clear();
  codec::NetworkImportOptions levels;
  levels.levels = {"topology.kubernetes.io/zone", "kubernetes.io/hostname"};
  const auto labels = codec::import_network(kube_objects_of(lists, "")->description, levels);
  ASSERT_TRUE(labels) << labels.error().text();
  EXPECT_EQ(labels->table.levels.size(), 2U);
}

TEST(KubeObjects, WhatIsNoJsonIsAnError) {
  KubeLists lists;
  lists.nodes = "{";
  const auto out = kube_objects_of(lists, "");
  ASSERT_FALSE(out);
  EXPECT_THAT(out.error().text(), HasSubstr("nodes"));
}

TEST(KubeObjects, OddValuesCountAsNothing) {
  KubeLists lists;
  lists.nodes = R"({"metadata":{"name":"n"},"status":{"allocatable":{"nvidia.com/gpu":"-3"}}},
                   {"metadata":{"name":"m"},"status":{"allocatable":{"nvidia.com/gpu":{}}}},
                   {"metadata":7},[],"x",{"metadata":{"name":"k"},"status":{"allocatable":[1]}})";
  lists.pods = R"([],{"spec":{"nodeName":"n","containers":{"a":1}}},4)";
  const auto out = kube_objects_of(lists, "");
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_EQ(out->nodes.at("n").free, 0);
  EXPECT_EQ(out->nodes.at("m").free, 0);
}

}  // namespace
}  // namespace chipweave::cli::kube_objects_test

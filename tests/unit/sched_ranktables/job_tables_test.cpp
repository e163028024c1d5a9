// The tables of jobs (hccl.json), from pods as the API server shows them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler-plugin/ranktables/rank_tables.hpp"
#include "tests/unit/sched_ranktables/table_world.hpp"

namespace chipweave::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Json kEmpty = Json::parse(kInitializing);

TEST(JobTables, AreCompleteExactlyWhenEveryPodHasAll) {
  TableWorld w;
  TestPod second = w.member("train", 1, 2);
  second.node = "";
  w.see(w.member("train", 0, 2));
  EXPECT_EQ(w.table("train"), kEmpty);
  EXPECT_THAT(w.missing("train"), ElementsAre("1 of 2 pods"));
  w.see(second);
  EXPECT_THAT(w.missing("train"), ElementsAre("pod train-1: its node"));
  second.node = "n1";
  second.addresses = false;
  second.pod_ip = false;
  w.see(second);
  EXPECT_THAT(w.missing("train"),
              ElementsAre("pod train-1: its address", "pod train-1: its devices"));
  second.addresses = true;
  w.see(second);
  EXPECT_EQ(w.table("train"), kEmpty);
  second.pod_ip = true;
  w.see(second);
  EXPECT_TRUE(w.complete("train"));
  EXPECT_THAT(w.missing("train"), IsEmpty());
  const Json table = w.table("train");
  EXPECT_EQ(table.at("status"), "completed");
  EXPECT_EQ(table.at("version"), "1.0");
  EXPECT_EQ(table.at("server_count"), "2");
  EXPECT_THAT(servers(table), ElementsAre(std::pair("10.0.0.0", "0"), std::pair("10.0.0.1", "8")));
  EXPECT_EQ(table.at("server_list").at(1).at("device").at(7),
            Json({{"device_id", "7"}, {"device_ip", "192.168.1.8"}, {"rank_id", "15"}}));
  EXPECT_EQ(table.at("server_list").at(1).at("container_ip"), "10.244.1.1");
}

TEST(JobTables, AreEmptyAgainWithFewerPods) {
  TableWorld w;
  w.job("train", 2);
  ASSERT_TRUE(w.complete("train"));
  const Json before = w.table("train");
  w.gone("train-1");
  EXPECT_EQ(w.table("train"), kEmpty);
  TestPod again = w.member("train", 1, 2);
  again.annotations["life"] = "2";
  w.see(again);
  EXPECT_EQ(w.table("train"), before);
  w.gone("train-0");
  w.gone("train-1");
  EXPECT_FALSE(w.jobs.contains("train"));
  EXPECT_EQ(w.tables.jobs(), 0U);
}

TEST(JobTables, AReplacementElsewhereHasTheRanksOfThePodBefore) {
  TableWorld w;
  w.job("train", 3);
  TestPod again = w.member("train", 1, 3);
  again.node = "n7";
  again.annotations["life"] = "2";
  // the replacement comes before the other one is gone
  again.name = "train-1b";
  w.see(again);
  EXPECT_THAT(servers(w.table("train")),
              ElementsAre(std::pair("10.0.0.0", "0"), std::pair("10.0.0.1", "8"),
                          std::pair("10.0.0.2", "16")));
  w.gone("train-1");
  EXPECT_THAT(servers(w.table("train")),
              ElementsAre(std::pair("10.0.0.0", "0"), std::pair("10.0.0.7", "8"),
                          std::pair("10.0.0.2", "16")));
}

TEST(JobTables, MorePodsThanTheJobHasMakeNoTable) {
  TableWorld w;
  for (int i = 0; i < 3; ++i) {
    TestPod pod = w.member("train", i, 2);
    if (i == 0) pod.node = "";
    w.see(pod);
  }
  EXPECT_EQ(w.table("train"), kEmpty);
  EXPECT_THAT(w.missing("train"), ElementsAre("the end of 1 pod beyond its 2"));
  w.gone("train-0");
  EXPECT_TRUE(w.complete("train"));
}

TEST(JobTables, TheRanksOfThePlanCountBeforeThoseOfTheOperator) {
  TableWorld w;
  for (int i = 0; i < 2; ++i) {
    TestPod pod = w.member("train", i, 2);
    pod.annotations["chipweave.dev/rank"] = std::to_string(1 - i);
    w.see(pod);
  }
  EXPECT_THAT(servers(w.table("train")),
              ElementsAre(std::pair("10.0.0.1", "0"), std::pair("10.0.0.0", "8")));
}

TEST(JobTables, WithoutRanksTheOrderIsThatOfTheNetworkAndIsKept) {
  TableWorld w;
  const std::vector<std::string> racks{"b", "a", "b", "a"};
  for (std::size_t i = 0; i < racks.size(); ++i)
    w.add_node("n" + std::to_string(i), "ascend-910b-8");
  for (std::size_t i = 0; i < racks.size(); ++i)
    w.scheduler.network().set_labels("n" + std::to_string(i),
                                     {{"cloud.provider.com/topology-block", "one"},
                                      {"cloud.provider.com/topology-rack", racks[i]}});
  for (int i = 0; i < 4; ++i) {
    TestPod pod = w.member("train", i, 4);
    pod.annotations.erase("hccl/rankIndex");
    w.see(pod);
  }
  EXPECT_THAT(servers(w.table("train")),
              ElementsAre(std::pair("10.0.0.1", "0"), std::pair("10.0.0.3", "8"),
                          std::pair("10.0.0.0", "16"), std::pair("10.0.0.2", "24")));
  w.gone("train-3");
  TestPod other = w.member("train", 3, 4);
  other.annotations.erase("hccl/rankIndex");
  other.name = "train-x";
  other.node = "n9";
  w.see(other);
  EXPECT_THAT(servers(w.table("train")),
              ElementsAre(std::pair("10.0.0.1", "0"), std::pair("10.0.0.9", "8"),
                          std::pair("10.0.0.0", "16"), std::pair("10.0.0.2", "24")));
}

TEST(JobTables, PodsOnOneMachineAreOneServerUnlessPodsAreServers) {
  for (const bool merged : {true, false}) {
    RankTables::Options options;
    if (!merged) options.names = domain::ranktable::ServerNames::pod_uid;
    TableWorld w(options);
    for (int i = 0; i < 2; ++i) {
      TestPod pod = w.member("train", i, 2, 4);
      pod.node = "n0";
      pod.first = 4 * i;
      w.see(pod);
    }
    const Json table = w.table("train");
    EXPECT_EQ(table.at("server_count"), merged ? "1" : "2");
    EXPECT_EQ(table.at("server_list").at(0).at("server_id"), merged ? "10.0.0.0" : "uid-train-0");
  }
}

TEST(JobTables, WhatCannotBeSaysWhyAndIsNeverComplete) {
  const auto problem_with = [](auto&& change) {
    TableWorld w;
    w.see(w.member("train", 0, 2));
    TestPod pod = w.member("train", 1, 2);
    change(pod);
    w.see(pod);
    EXPECT_EQ(w.table("train"), kEmpty);
    EXPECT_FALSE(w.complete("train"));
    return w.problem("train");
  };
  EXPECT_EQ(problem_with([](TestPod& pod) { pod.annotations["hccl/rankIndex"] = "0"; }),
            "pods train-0 and train-1 both have rank 0");
  EXPECT_THAT(problem_with([](TestPod& pod) { pod.annotations["hccl/rankIndex"] = "first"; }),
              HasSubstr("hccl/rankIndex is \"first\""));
  EXPECT_EQ(problem_with([](TestPod& pod) { pod.node = "n0"; }),
            "pods train-0 and train-1 both have device 0 of 10.0.0.0");
  EXPECT_EQ(
      problem_with([](TestPod& pod) { pod.annotations["chipweave.dev/ranktable"] = "hccl-1.0"; }),
      "pods train-0 and train-1 differ in chipweave.dev/ranktable");
  EXPECT_THAT(problem_with([](TestPod& pod) { pod.annotations["chipweave.dev/ranktable"] = "2"; }),
              HasSubstr("known: auto, off, hccl-1.0"));
  EXPECT_THAT(
      problem_with([](TestPod& pod) { pod.annotations["huawei.com/AscendReal"] = "Ascend910-1"; }),
      HasSubstr("huawei.com/AscendReal is \"Ascend910-1\""));
  EXPECT_THAT(problem_with([](TestPod& pod) {
                pod.annotations["ascend.kubectl.kubernetes.io/ascend-910-configuration"] = "{";
              }),
              HasSubstr("ascend-910-configuration"));
  EXPECT_THAT(problem_with([](TestPod& pod) {
                TestPod other = pod;
                other.node = "n0";
                pod.annotations["ascend.kubectl.kubernetes.io/ascend-910-configuration"] =
                    configuration(other);
              }),
              HasSubstr("both have the address 192.168.0.1"));
}

TEST(JobTables, AnAddressThatIsNoneIsAwaited) {
  TableWorld w;
  w.see(w.member("train", 0, 2));
  TestPod pod = w.member("train", 1, 2, 1);
  pod.annotations["ascend.kubectl.kubernetes.io/ascend-910-configuration"] =
      R"({"devices":[{"device_id":"3","device_ip":"-1"}]})";
  w.see(pod);
  EXPECT_THAT(w.missing("train"), ElementsAre("pod train-1: the address of device 3"));
  EXPECT_EQ(w.table("train"), kEmpty);
}

TEST(JobTables, AJobWhoseSizeIsNotKnownSaysWhatToDo) {
  TableWorld w;
  w.see(w.member("train", 0, 0));
  EXPECT_THAT(w.problem("train"), HasSubstr("list its framework in gang-kinds"));
  GangSpec spec;
  spec.size = 1;
  w.scheduler.owner_says("ns/trainer/train", spec);
  w.tables.tick();
  EXPECT_TRUE(w.complete("train"));
}

// `kubectl delete` of the job: its object goes first.
TEST(JobTables, AJobThatIsBeingRemovedHasNoProblem) {
  TableWorld w;
  GangSpec spec;
  spec.size = 2;
  w.scheduler.owner_says("ns/trainer/train", spec);
  for (int i = 0; i < 2; ++i) {
    TestPod pod = w.member("train", i, 0);
    w.see(pod);
  }
  w.tables.tick();
  ASSERT_TRUE(w.complete("train")) << w.problem("train");
  w.scheduler.owner_says("ns/trainer/train", std::nullopt);
  w.tables.tick();
  EXPECT_TRUE(w.complete("train"));
  w.gone("train-0");
  EXPECT_EQ(w.problem("train"), "");
  EXPECT_EQ(w.table("train"), kEmpty);
  w.gone("train-1");
  EXPECT_FALSE(w.jobs.contains("train"));
}

TEST(JobTables, OnlyJobsThatAskHaveOne) {
  TableWorld w;
  TestPod pod = w.member("train", 0, 1);
  pod.labels.clear();
  w.see(pod);
  EXPECT_FALSE(w.jobs.contains("train"));
  pod.annotations["chipweave.dev/ranktable"] = "auto";
  w.see(pod);
  EXPECT_TRUE(w.complete("train"));
  pod.annotations["chipweave.dev/ranktable"] = "off";
  pod.labels["ring-controller.atlas"] = "ascend-910b";
  w.see(pod);
  EXPECT_FALSE(w.jobs.contains("train"));
}

TEST(JobTables, PodsWithoutChipsHaveNoRankAndAreWaitedFor) {
  TableWorld w;
  TestPod scheduler = w.member("train", 0, 3, 0);
  w.see(w.member("train", 1, 3));
  w.see(w.member("train", 2, 3));
  EXPECT_EQ(w.table("train"), kEmpty);
  w.see(scheduler);
  EXPECT_THAT(servers(w.table("train")),
              ElementsAre(std::pair("10.0.0.1", "0"), std::pair("10.0.0.2", "8")));
}

TEST(JobTables, OfSuperPodsHaveTheirVersion) {
  const auto devices = [](int node, const char* super_pod) {
    Json list = Json::array();
    for (int i = 0; i < 2; ++i)
      list.push_back(
          {{"device_id", std::to_string(i)},
           {"device_ip", "192.168." + std::to_string(node) + "." + std::to_string(i + 1)},
           {"super_device_id", std::to_string(node * 4194304 + i * 65537)}});
    return Json{{"super_pod_id", std::stoi(super_pod)}, {"devices", list}}.dump();
  };
  for (const bool logical : {false, true}) {
    TableWorld w;
    for (int i = 0; i < 4; ++i) {
      TestPod pod = w.member("train", i, 4, 2);
      pod.annotations["ascend.kubectl.kubernetes.io/ascend-910-configuration"] =
          devices(i, i < 3 ? "5" : "6");
      if (logical) pod.annotations["sp-block"] = "4";
      w.see(pod);
    }
    const Json table = w.table("train");
    EXPECT_EQ(table.at("version"), "1.2");
    const Json& sets = table.at("super_pod_list");
    ASSERT_EQ(sets.size(), 2U);
    EXPECT_EQ(sets.at(0).at("super_pod_id"), logical ? "0" : "5");
    EXPECT_EQ(sets.at(0).at("server_list").size(), logical ? 2U : 3U);
    EXPECT_EQ(table.at("server_list").at(3).at("device").at(1).at("super_device_id"),
              std::to_string(3 * 4194304 + 65537));
  }
}

TEST(JobTables, TooLargeOnesAreNotComplete) {
  RankTables::Options options;
  options.max_bytes = 500;
  TableWorld w(options);
  w.job("train", 1);
  EXPECT_EQ(w.table("train"), kEmpty);
  EXPECT_THAT(w.problem("train"), HasSubstr("a ConfigMap holds 500"));
}

// Chips that the scheduler chose itself need no annotation of a device plugin.
TEST(JobTables, DevicesAreThoseThatTheSchedulerChose) {
  TableWorld w;
  w.add_node("n0", "ascend-910b-8", {"huawei.com/Ascend910"});
  TestPod pod = w.member("train", 0, 1, 2);
  pod.node = "";
  w.see(pod);
  PodRequest request = w.cluster.find({"ns", "train-0"})->request;
  ASSERT_TRUE(w.bind(request, "n0").ok());
  pod.node = "n0";
  pod.addresses = false;
  w.see(pod);
  const Json table = w.table("train");
  ASSERT_TRUE(w.complete("train")) << w.jobs.at("train").text;
  std::vector<int> devices;
  for (const Json& device : table.at("server_list").at(0).at("device"))
    devices.push_back(std::stoi(device.at("device_id").get<std::string>()));
  EXPECT_EQ(devices, w.chips(request));
}

}  // namespace
}  // namespace chipweave::sched::test

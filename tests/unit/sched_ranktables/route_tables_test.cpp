// The tables of jobs on ModelArts and CCE (jobstart_hccl.json, ranktable_tor.json) and their route
// plan, from pods as the API server shows them.
#include "scheduler-plugin/ranktables/tables/route_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/codec/ranktable/modelarts/job_table.hpp"
#include "tests/unit/sched_ranktables/table_world.hpp"

namespace chipweave::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RouteWorld : public TableWorld {
 public:
  explicit RouteWorld(const std::vector<std::string>& racks = {}) {
    for (std::size_t i = 0; i < racks.size(); ++i)
      add_node("n" + std::to_string(i), "ascend-910b-8");
    for (std::size_t i = 0; i < racks.size(); ++i) {
      if (racks[i].empty()) continue;
      scheduler.network().set_labels("n" + std::to_string(i),
                                     {{"cloud.provider.com/topology-block", "one"},
                                      {"cloud.provider.com/topology-rack", racks[i]}});
    }
  }
  TestPod pod(int index, int size, bool cabinet = true) const {
    TestPod out = member("train", index, size);
    out.labels = {{"ring-controller.cce", "ascend-1980"}};
    out.annotations.erase("hccl/rankIndex");
    if (cabinet) out.annotations["cabinet"] = "cabinet";
    return out;
  }
  void job(int pods, bool cabinet = true) {
    for (int i = 0; i < pods; ++i) see(pod(i, pods, cabinet));
  }
  const PublishedTable& published() const { return jobs.at("train"); }
  Json tors() const { return Json::parse(published().route->tors); }
  Json plan() const {
    return published().route->plan.empty() ? Json() : Json::parse(published().route->plan);
  }
};

TEST(RouteTables, PodsAreNumberedAlongTheNetwork) {
  RouteWorld w({"b", "a", "b", "a", "a"});
  w.job(5);
  ASSERT_TRUE(w.complete("train")) << w.problem("train");
  EXPECT_EQ(w.published().kind, TableKind::modelarts);
  // Machines by index: rank_id does not follow the plan.
  EXPECT_THAT(servers(w.table("train")),
              ElementsAre(std::pair("10.0.0.0", "0"), std::pair("10.0.0.1", "8"),
                          std::pair("10.0.0.2", "16"), std::pair("10.0.0.3", "24"),
                          std::pair("10.0.0.4", "32")));
  EXPECT_EQ(w.plan().at("ranks"), Json({3, 0, 4, 1, 2})) << "the larger rack first";
  EXPECT_EQ(w.plan().at("master_index"), 1);
  const Json first = w.tors().at("server_list").at(0);
  EXPECT_EQ(first.at("pod_name"), "train-0");
  EXPECT_EQ(first.at("device").at(0).at("tor_ip"), "one/b");
  EXPECT_EQ(first.at("device").at(0).at("device_ip"), "192.168.0.1");
}

TEST(RouteTables, ANetworkThatBecomesKnownIsUsed) {
  RouteWorld w({"", ""});
  w.job(2);
  EXPECT_TRUE(w.plan().is_null());
  for (int i = 0; i < 2; ++i)
    w.scheduler.network().set_labels(
        "n" + std::to_string(i), {{"cloud.provider.com/topology-block", "b" + std::to_string(i)}});
  w.tables.tick();
  EXPECT_EQ(w.plan().at("ranks"), Json({0, 1}));
  EXPECT_EQ(w.tors().at("server_list").at(1).at("device").at(0).at("tor_ip"), "b1");
}

TEST(RouteTables, TwoPodsAreEnough) {
  RouteWorld w({"b", "a"});
  w.job(2);
  EXPECT_EQ(w.plan().at("ranks"), Json({0, 1}));
}

TEST(RouteTables, TheRanksOfThePlanCountFirst) {
  RouteWorld w({"b", "a", "b"});
  for (int i = 0; i < 3; ++i) {
    TestPod pod = w.pod(i, 3);
    pod.annotations["chipweave.dev/rank"] = std::to_string((i + 1) % 3);
    w.see(pod);
  }
  EXPECT_EQ(w.plan().at("ranks"), Json({1, 2, 0}));
  EXPECT_EQ(w.plan().at("master_index"), 2);
}

// As the device plugin of CCE reports them; the network knows none of the machines.
TEST(RouteTables, SwitchesThatDevicesReportCount) {
  RouteWorld w;
  const std::vector<std::string> tors{"10.9.0.2", "10.9.0.1", "10.9.0.2"};
  for (int i = 0; i < 3; ++i) {
    TestPod pod = w.pod(i, 3);
    Json devices = Json::array();
    for (int d = 0; d < 8; ++d)
      devices.push_back({{"device_id", std::to_string(d)},
                         {"device_ip", device_ip(pod.node, d)},
                         {"tor_ip", tors.at(static_cast<std::size_t>(i))},
                         {"tor_port", "p" + std::to_string(d)}});
    pod.addresses = false;
    pod.annotations["cce.kubectl.kubernetes.io/ascend-1980-configuration"] = Json{
        {"pod_name", pod.name},
        {"server_id", "192.0.2." + std::to_string(i)},
        {"devices", devices}}.dump();
    w.see(pod);
  }
  ASSERT_TRUE(w.complete("train")) << w.problem("train");
  EXPECT_EQ(w.plan().at("ranks"), Json({0, 2, 1}));
  EXPECT_EQ(w.tors().at("server_list").at(1).at("server_id"), "192.0.2.1");
  EXPECT_EQ(w.tors().at("server_list").at(1).at("device").at(7).at("tor_port"), "p7");
}

TEST(RouteTables, WithoutTheAnnotationCabinetThereAreNoSwitches) {
  RouteWorld w({"b", "a", "b"});
  w.job(3, false);
  ASSERT_TRUE(w.complete("train"));
  EXPECT_FALSE(w.published().route.has_value());
  EXPECT_FALSE(w.table("train").dump().find("tor_ip") != std::string::npos);
}

TEST(RouteTables, OnOneMachineThereIsNothingToPlan) {
  RouteWorld w({"a"});
  for (int i = 0; i < 2; ++i) {
    TestPod pod = w.pod(i, 2);
    pod.node = "n0";
    pod.chips = 4;
    pod.first = 4 * i;
    w.see(pod);
  }
  ASSERT_TRUE(w.complete("train")) << w.problem("train");
  EXPECT_TRUE(w.plan().is_null());
  EXPECT_EQ(w.table("train").at("server_count"), "1");
}

// The list of the table before stays, so that its ranks can be kept; only the status changes.
TEST(RouteTables, AReplacementTakesTheRanksThatAreFree) {
  RouteWorld w({"a", "a", "b", "b", "a"});
  w.job(3);
  const Json before = w.table("train");
  w.gone("train-1");
  EXPECT_EQ(w.table("train").at("status"), "initializing");
  EXPECT_EQ(w.table("train").at("server_list"), before.at("server_list"));
  EXPECT_EQ(w.tors(), Json::parse(kInitializing));
  EXPECT_TRUE(w.plan().is_null());
  TestPod again = w.pod(1, 3);
  again.annotations["life"] = "2";
  again.node = "n4";
  w.see(again);
  EXPECT_THAT(servers(w.table("train")),
              ElementsAre(std::pair("10.0.0.0", "0"), std::pair("10.0.0.4", "8"),
                          std::pair("10.0.0.2", "16")));
  EXPECT_EQ(w.table("train").at("status"), "completed");
}

// Those that run have read their ranks; all that are new are numbered along the network.
TEST(RouteTables, APlanStaysForPodsThatRun) {
  RouteWorld w({"a", "b", "a", "b", "a"});
  w.job(4);
  ASSERT_EQ(w.plan().at("ranks"), Json({0, 2, 1, 3}));
  w.gone("train-3");
  TestPod again = w.pod(3, 4);
  again.annotations["life"] = "2";
  again.node = "n4";
  w.see(again);
  EXPECT_EQ(w.plan().at("ranks"), Json({0, 2, 1, 3}))
      << "though it is in the rack of the first now";
  const RouteFiles stored = *w.published().route;
  for (int i = 0; i < 4; ++i) w.gone("train-" + std::to_string(i));
  for (int i = 0; i < 4; ++i) {
    TestPod pod = w.pod(i, 4);
    pod.annotations["life"] = "3";
    if (i == 3) pod.node = "n4";
    w.see(pod);
  }
  EXPECT_EQ(w.plan().at("ranks"), Json({0, 3, 1, 2})) << "the job has begun again";
  w.tables.continue_from("ns", "train", stored);
  EXPECT_EQ(w.plan().at("ranks"), Json({0, 2, 1, 3})) << "as another process has planned it";
  for (const char* bad : {"", "x", R"({"ranks":[0,1,2],"master_index":0})"})
    w.tables.continue_from("ns", "train", RouteFiles{stored.tors, bad});
  w.tables.continue_from("ns", "train", RouteFiles{"x", stored.plan});
  EXPECT_EQ(w.plan().at("ranks"), Json({0, 2, 1, 3}));
}

// After a restart the ranks go on from the table that is stored.
TEST(RouteTables, GoOnFromTheTableThatIsStored) {
  RouteWorld first({"a", "a"});
  first.job(2);
  Json stored = first.table("train");
  for (Json& server : stored["server_list"]) {
    for (Json& device : server["device"])
      device["rank_id"] = std::to_string(15 - std::stoi(device["rank_id"].get<std::string>()));
  }
  RouteWorld second({"a", "a"});
  second.job(2);
  second.tables.continue_from("ns", "train", stored.dump());
  EXPECT_EQ(second.table("train").at("server_list"), stored.at("server_list"));
  const Json kept = second.table("train");
  for (const char* bad :
       {"", "no JSON", "{}", R"({"status":"initializing"})", R"({"server_list":7})"})
    second.tables.continue_from("ns", "train", bad);
  second.tables.continue_from("ns", "other", stored.dump());
  EXPECT_EQ(second.table("train"), kept);
}

TEST(RouteTables, WhatIsWrongIsNamed) {
  {
    RouteWorld w;
    w.see(w.pod(0, 2));
    TestPod same = w.pod(1, 2);
    same.annotations["volcano.sh/task-index"] = "0";
    w.see(same);
    EXPECT_EQ(w.problem("train"), "pods train-0 and train-1 both have index 0");
    same.annotations["volcano.sh/task-index"] = "7";
    w.see(same);
    EXPECT_EQ(w.problem("train"), "pod train-1 has index 7, and 2 pods request chips");
    same.annotations["volcano.sh/task-index"] = "x";
    w.see(same);
    EXPECT_THAT(w.problem("train"), HasSubstr("volcano.sh/task-index is \"x\""));
    same.annotations["volcano.sh/task-index"] = "1";
    same.annotations["volcano.sh/task-spec"] = "other";
    w.see(same);
    EXPECT_THAT(w.problem("train"), HasSubstr("indexes count inside one task"));
    same.annotations.erase("volcano.sh/task-spec");
    same.annotations["cce.kubectl.kubernetes.io/ascend-1980-configuration"] = "[";
    w.see(same);
    EXPECT_THAT(w.problem("train"), HasSubstr("ascend-1980-configuration"));
    same.annotations.erase("cce.kubectl.kubernetes.io/ascend-1980-configuration");
    same.labels.clear();
    same.labels["ring-controller.atlas"] = "ascend-910b";
    w.see(same);
    EXPECT_THAT(w.problem("train"), HasSubstr("train-1 does not ask for tables of ModelArts"));
  }
  RouteWorld w;
  TestPod pod = w.pod(0, 1);
  pod.addresses = false;
  w.see(pod);
  EXPECT_THAT(w.missing("train"), ElementsAre("pod train-0: its devices"));
  pod.node = "";
  w.see(pod);
  EXPECT_THAT(w.missing("train"), ElementsAre("pod train-0: its node"));
}

TEST(RouteTables, TheResourceOfCceIsCounted) {
  TestPod pod;
  pod.name = "train-worker-3";
  pod.chips = 0;
  pod.labels = {{"ring-controller.cce", "ascend-1980"}};
  codec::KubePod seen = kube_pod(pod);
  codec::KubeContainer container;
  container.requests["huawei.com/ascend-1980"] = "8";
  seen.containers.push_back(container);
  const auto read = read_table_pod(seen);
  ASSERT_TRUE(read && read->route);
  EXPECT_EQ(read->chips, 8);
  EXPECT_EQ(read->route->index, 3U);
  seen.labels["chipweave.dev/ranktable"] = "off";
  EXPECT_FALSE(read_table_pod(seen).has_value());
  seen.labels["chipweave.dev/ranktable"] = "hccl-1.0";
  EXPECT_FALSE(read_table_pod(seen)->route.has_value());
  seen.labels = {{"chipweave.dev/ranktable", "modelarts-1980"}};
  EXPECT_TRUE(read_table_pod(seen)->route.has_value());
}

}  // namespace
}  // namespace chipweave::sched::test

// The table of a MindIE deployment (global-ranktable), from its pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/sched_ranktables/table_world.hpp"

namespace chipweave::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class MindieTables : public testing::Test {
 protected:
  TestPod head(const std::string& role, const std::string& node) const {
    TestPod pod;
    pod.name = role;
    pod.node = node;
    pod.chips = 0;
    pod.labels = labels("mindie-ms-" + role);
    return pod;
  }
  static std::map<std::string, std::string> labels(const std::string& app) {
    return {{"app", app}, {"jobID", "chat"}, {"ring-controller.atlas", "ascend-910b"}};
  }
  TestPod server(int job, int index, int pods = 2) const {
    TestPod pod = w_.member("server-" + std::to_string(job), index, pods);
    pod.node = "n" + std::to_string(10 * job + index);
    pod.labels = labels("mindie-ms-server");
    return pod;
  }
  void deploy(int jobs = 2) {
    w_.see(head("coordinator", "n90"));
    w_.see(head("controller", "n91"));
    for (int job = 0; job < jobs; ++job) {
      for (int i = 0; i < 2; ++i) w_.see(server(job, i));
    }
  }
  const PublishedTable& table() const { return w_.deployments.at("chat"); }
  // server_ids of each group.
  std::vector<std::string> groups() const {
    std::vector<std::string> out;
    const Json parsed = Json::parse(table().text);
    for (const Json& group : parsed.at("server_group_list")) {
      std::string ids = group.at("group_id").get<std::string>() + ":";
      for (const Json& server : group.at("server_list"))
        ids += " " + server.at("server_id").get<std::string>();
      out.push_back(ids);
    }
    return out;
  }
  TableWorld w_;
};

TEST_F(MindieTables, HaveCoordinatorControllerAndAGroupForEachServerJob) {
  deploy();
  ASSERT_TRUE(table().complete) << table().problem;
  EXPECT_THAT(groups(), ElementsAre("0: 10.0.0.90", "1: 10.0.0.91", "2: 10.0.0.0 10.0.0.1",
                                    "3: 10.0.0.10 10.0.0.11"));
  const Json parsed = Json::parse(table().text);
  EXPECT_EQ(parsed.at("version"), "1.0");
  EXPECT_EQ(parsed.at("status"), "completed");
  EXPECT_EQ(parsed.at("server_group_list").at(3).at("server_list").at(1).at("device").at(7),
            Json({{"device_id", "7"},
                  {"device_ip", "192.168.11.8"},
                  {"device_logical_id", "7"},
                  {"rank_id", "15"}}));
  EXPECT_TRUE(w_.complete("server-0")) << "each server job has its own table, too";
  EXPECT_FALSE(w_.jobs.contains("controller"));
  EXPECT_NE(w_.tables.deployment("chat"), nullptr);
  EXPECT_EQ(w_.tables.deployment("other"), nullptr);
}

TEST_F(MindieTables, NoPartOfOneIsEverShown) {
  w_.see(head("coordinator", "n90"));
  EXPECT_EQ(table().text, "");
  EXPECT_THAT(table().missing, ElementsAre("the pod of the controller", "a server job"));
  w_.see(head("controller", "n91"));
  w_.see(server(0, 0));
  EXPECT_EQ(table().text, "");
  EXPECT_THAT(table().missing, ElementsAre("job server-0: 1 of 2 pods"));
  w_.see(server(0, 1));
  EXPECT_TRUE(table().complete);
  ASSERT_EQ(w_.pushed.size(), 1U);
}

// After a start, pods come one after the other, of which some would make a table.
TEST_F(MindieTables, NoneIsMadeBeforeTheClusterIsKnown) {
  w_.scheduler.authority().set_waiting_for("waiting for the list of pods");
  deploy(2);
  EXPECT_THAT(w_.deployments, IsEmpty());
  w_.scheduler.authority().set_waiting_for("");
  w_.tables.tick();
  ASSERT_EQ(w_.pushed.size(), 1U);
  EXPECT_EQ(groups().size(), 4U);
}

TEST_F(MindieTables, TheOneBeforeStaysUntilTheNextIsComplete) {
  deploy();
  const std::string before = table().text;
  const std::size_t pushed = w_.pushed.size();
  w_.gone("server-1-0");
  EXPECT_EQ(table().text, before);
  EXPECT_FALSE(table().complete);
  TestPod again = server(1, 0);
  again.node = "n77";
  again.annotations["life"] = "2";
  w_.see(again);
  EXPECT_TRUE(table().complete);
  EXPECT_EQ(groups().at(3), "3: 10.0.0.77 10.0.0.11");
  EXPECT_EQ(w_.pushed.size(), pushed + 1) << "one change, one table";
}

TEST_F(MindieTables, AnInstanceThatIsRemovedIsLeftOutAndOneThatIsAddedComes) {
  deploy(3);
  w_.gone("server-1-0");
  EXPECT_FALSE(table().complete);
  w_.gone("server-1-1");
  EXPECT_TRUE(table().complete);
  EXPECT_THAT(groups(), ElementsAre("0: 10.0.0.90", "1: 10.0.0.91", "2: 10.0.0.0 10.0.0.1",
                                    "3: 10.0.0.20 10.0.0.21"));
  w_.see(server(3, 0));
  EXPECT_FALSE(table().complete);
  w_.see(server(3, 1));
  EXPECT_EQ(groups().size(), 5U);
}

// Of a job that is made again all pods are gone for a while.
TEST_F(MindieTables, AJobWhoseOwnerIsThereIsAwaited) {
  GangSpec spec;
  spec.size = 2;
  w_.scheduler.owner_says("ns/trainer/server-1", spec);
  deploy();
  w_.gone("server-1-0");
  w_.gone("server-1-1");
  EXPECT_FALSE(table().complete);
  EXPECT_EQ(groups().size(), 4U);
  w_.scheduler.owner_says("ns/trainer/server-1", std::nullopt);
  w_.tables.tick();
  EXPECT_TRUE(table().complete);
  EXPECT_EQ(groups().size(), 3U);
}

TEST_F(MindieTables, WhatCannotBeSaysWhy) {
  deploy(1);
  const std::string before = table().text;
  TestPod second = head("coordinator", "n92");
  second.name = "coordinator-2";
  w_.see(second);
  EXPECT_EQ(table().problem, "pods coordinator and coordinator-2 are both its coordinator");
  EXPECT_EQ(table().text, before);
  w_.gone("coordinator-2");
  EXPECT_EQ(table().problem, "");
  EXPECT_TRUE(table().complete);
  TestPod labelled = server(5, 0, 1);
  labelled.labels["grt-group/deploy-server"] = "1";
  w_.see(labelled);
  labelled = server(6, 0, 1);
  labelled.labels["grt-server/deploy-server"] = "1";
  w_.see(labelled);
  EXPECT_THAT(table().problem, HasSubstr("grt-server/deploy-server"));
  w_.gone("server-6-0");
  EXPECT_TRUE(table().complete);
  // the same device in two jobs
  TestPod twice = server(7, 0, 1);
  twice.node = "n0";
  w_.see(twice);
  EXPECT_THAT(table().problem, HasSubstr("both have device 0 of 10.0.0.0"));
}

TEST_F(MindieTables, OfAnotherIdAreOthers) {
  deploy(1);
  TestPod stray = server(4, 0, 1);
  stray.labels["jobID"] = "other";
  w_.see(stray);
  EXPECT_EQ(groups().size(), 3U);
  EXPECT_THAT(w_.deployments.at("other").missing,
              ElementsAre("the pod of the coordinator", "the pod of the controller"));
  w_.gone("server-4-0");
  EXPECT_FALSE(w_.deployments.contains("other"));
}

// Its ConfigMap must not go with one pod.
TEST_F(MindieTables, BelongToTheJobOfTheController) {
  TestPod controller = head("controller", "n91");
  controller.job = "chat-controller";
  w_.see(controller);
  EXPECT_EQ(table().about.framework, "trainer");
  EXPECT_EQ(table().about.name, "chat-controller");
}

// The wire has the id of a deployment alone.
TEST_F(MindieTables, AnIdInTwoNamespacesIsNotFound) {
  deploy(1);
  codec::KubePod other = kube_pod(head("controller", "n93"));
  other.ns = "other";
  w_.tables.pod_seen(other);
  w_.tables.update();
  EXPECT_EQ(w_.tables.deployment("chat"), nullptr);
}

}  // namespace
}  // namespace chipweave::sched::test

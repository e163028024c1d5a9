// The tables of deployments of prefill and decode instances, from their pods.
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
using testing::Key;

class PdTables : public testing::Test {
 protected:
  static TestPod pod(const std::string& role, int index, const std::string& node, int first = 0) {
    TestPod out;
    out.name = role + "-" + std::to_string(index);
    out.node = node;
    out.chips = role == "scheduler" ? 0 : 2;
    out.first = first;
    out.labels = {{"chipweave.dev/pd-deployment", "chat"}, {"chipweave.dev/pd-role", role}};
    return out;
  }
  void deploy() {
    w_.see(pod("scheduler", 0, "n0"));
    w_.see(pod("prefill", 0, "n0"));
    w_.see(pod("prefill", 1, "n1"));
    w_.see(pod("decode", 0, "n0", 2));
  }
  const PublishedTable& table() const { return w_.deployments.at("chat"); }
  // Role group: hosts and first device of each instance.
  static std::vector<std::string> groups(const std::string& text) {
    std::vector<std::string> out;
    const Json parsed = Json::parse(text);
    for (const Json& group : parsed.at("server_group_list")) {
      std::string line = group.at("group_id").get<std::string>() + ":";
      for (const Json& server : group.at("server_list")) {
        line += " " + server.at("server_id").get<std::string>();
        if (server.contains("device"))
          line += "/" + server["device"][0]["device_id"].get<std::string>();
      }
      out.push_back(line);
    }
    return out;
  }
  TableWorld w_;
};

TEST_F(PdTables, AreAGlobalOneAndOneForEachPod) {
  deploy();
  ASSERT_TRUE(table().complete) << table().problem << testing::PrintToString(table().missing);
  EXPECT_EQ(table().kind, TableKind::pd);
  EXPECT_THAT(groups(table().text),
              ElementsAre("0: 10.0.0.0", "1: 10.0.0.0/0 10.0.0.1/0", "2: 10.0.0.0/2"));
  ASSERT_TRUE(table().pd);
  EXPECT_THAT(table().pd->locals,
              ElementsAre(Key("decode-0"), Key("prefill-0"), Key("prefill-1"), Key("scheduler-0")));
  const Json local = Json::parse(table().pd->locals.at("prefill-1"));
  EXPECT_EQ(local.at("group_id"), "0");
  EXPECT_EQ(local.at("server_list").at(0).at("device").at(1),
            Json({{"device_id", "1"}, {"device_ip", "192.168.1.2"}, {"rank_id", "1"}}));
  EXPECT_THAT(w_.jobs, IsEmpty()) << "no pod is a job with a table of its own";
  EXPECT_EQ(w_.tables.deployment("chat"), nullptr) << "none of MindIE";
}

TEST_F(PdTables, OfVllmIsOneTable) {
  for (TestPod one : {pod("prefill", 0, "n0"), pod("decode", 0, "n1")}) {
    one.annotations["chipweave.dev/ranktable"] = "vllm-ascend";
    w_.see(one);
  }
  ASSERT_TRUE(table().complete) << table().problem << testing::PrintToString(table().missing);
  EXPECT_EQ(Json::parse(table().text).at("decode_device_list").at(0).at("device_ip"),
            "192.168.1.1");
  EXPECT_TRUE(table().pd->vllm);
  EXPECT_THAT(table().pd->locals, IsEmpty());
}

TEST_F(PdTables, TheOneBeforeStaysUntilTheNextIsComplete) {
  deploy();
  const std::string before = table().text;
  TestPod waits = pod("decode", 1, "n2");
  waits.addresses = false;
  w_.see(waits);
  EXPECT_FALSE(table().complete);
  EXPECT_EQ(table().text, before);
  EXPECT_TRUE(table().pd);
  EXPECT_THAT(table().missing, ElementsAre("pod decode-1: its devices"));
  waits.addresses = true;
  w_.see(waits);
  EXPECT_THAT(groups(table().text),
              ElementsAre("0: 10.0.0.0", "1: 10.0.0.0/0 10.0.0.1/0", "2: 10.0.0.0/2 10.0.0.2/0"));
  w_.gone("prefill-0");
  EXPECT_THAT(groups(table().text),
              ElementsAre("0: 10.0.0.0", "1: 10.0.0.1/0", "2: 10.0.0.0/2 10.0.0.2/0"));
}

TEST_F(PdTables, WaitForThePodsThatTheRoleHas) {
  for (int i = 0; i < 2; ++i) {
    TestPod one = pod("prefill", i, "n" + std::to_string(i));
    one.annotations["chipweave.dev/pd-pods"] = "2";
    w_.see(pod("scheduler", 0, "n0"));
    w_.see(pod("decode", 0, "n2"));
    w_.see(one);
    if (i == 0) {
      EXPECT_FALSE(table().complete);
      EXPECT_THAT(table().missing, ElementsAre("1 of 2 pods with the role prefill"));
      EXPECT_EQ(table().text, "");
      EXPECT_EQ(table().pd->locals.at("prefill-0"), kInitializing);
    }
  }
  EXPECT_TRUE(table().complete);
}

TEST_F(PdTables, AreNotMixedWithADeploymentOfMindIeOfTheSameName) {
  deploy();
  TestPod other;
  other.name = "controller";
  other.node = "n5";
  other.chips = 0;
  other.labels = {{"app", "mindie-ms-controller"}, {"jobID", "chat"}};
  w_.see(other);
  EXPECT_EQ(table().kind, TableKind::mindie);
  EXPECT_EQ(w_.tables.deployment("chat")->kind, TableKind::mindie);
  EXPECT_EQ(w_.tables.all().size(), 2U);
}

TEST_F(PdTables, GoWithTheirPods) {
  deploy();
  for (const char* name : {"scheduler-0", "prefill-0", "prefill-1", "decode-0"}) w_.gone(name);
  EXPECT_THAT(w_.deployments, IsEmpty());
  EXPECT_EQ(w_.tables.jobs(), 0U);
}

TEST_F(PdTables, WhatIsWrongIsNamed) {
  deploy();
  w_.see(pod("scheduler", 1, "n1"));
  EXPECT_EQ(table().problem, "pods scheduler-0 and scheduler-1 are both its scheduler");
  w_.gone("scheduler-1");
  EXPECT_EQ(table().problem, "");
  TestPod odd = pod("decode", 1, "n3");
  odd.annotations["chipweave.dev/ranktable"] = "vllm-ascend";
  w_.see(odd);
  EXPECT_THAT(table().problem, HasSubstr("differ in chipweave.dev/ranktable"));
  odd.annotations["chipweave.dev/ranktable"] = "hccl-1.0";
  w_.see(odd);
  EXPECT_THAT(table().problem, HasSubstr("known for prefill and decode: modelarts-global"));
  odd.annotations.clear();
  odd.labels["chipweave.dev/pd-role"] = "both";
  w_.see(odd);
  EXPECT_TRUE(table().complete) << "a pod that is no part of it";
  TestPod twice = pod("decode", 2, "n0", 2);
  w_.see(twice);
  EXPECT_THAT(table().problem, HasSubstr("both have device 2 of 10.0.0.0"));
}

}  // namespace
}  // namespace chipweave::sched::test

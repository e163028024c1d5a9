// Rank tables in ConfigMaps of an API server in memory.
#include "scheduler-plugin/kube/ranktables/table_config_maps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/codec/kube/base64.hpp"
#include "common/io/gzip.hpp"
#include "tests/fakes/agent/fake_api.hpp"
#include "tests/unit/sched_ranktables/table_world.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::SizeIs;

const std::string kMap = "/api/v1/namespaces/ns/configmaps/rings-config-train";
const std::string kGlobal = "/api/v1/namespaces/ns/configmaps/global-ranktable-chat";

class TableMaps : public testing::Test {
 protected:
  void SetUp() override { start(); }
  // As a new process, or a new term.
  void start(TableConfigMaps::Which which = {true, true, true, true}) {
    TableConfigMaps::Ways ways;
    ways.fence = [this] { return [this, term = term_] { return term == term_; }; };
    ways.owner = [this](const GangRef&) { return owner_; };
    ways.found = [this](const std::string& ns, const std::string& job, const std::string& text) {
      w_.tables.continue_from(ns, job, text);
      tell();
    };
    ways.found_beside = [this](const std::string& ns, const std::string& job,
                               const RouteFiles& files) {
      w_.tables.continue_from(ns, job, files);
      tell();
    };
    ways.completed = [this](const GangRef&, const std::string& what) { told_.push_back(what); };
    ways.failed = [this](const GangRef&, const std::string& why) { failures_.push_back(why); };
    maps_ = std::make_unique<TableConfigMaps>(api_, w_.clock, which, std::move(ways));
  }
  void pass(milliseconds time = seconds(2)) {
    for (int i = 0; i < 2; ++i) {
      if (maps_->tick(leads_ ? std::optional(term_) : std::nullopt)) w_.tables.tell(*maps_);
      tell();
      api_.advance(time / 2);
    }
  }
  // What the tables have told since.
  void tell() { w_.tables.tell(*maps_); }
  void made_by_user(const std::string& text = R"({"status":"initializing"})") {
    api_.put(kMap, Json{{"metadata",
                         {{"name", "rings-config-train"},
                          {"uid", "uid-1"},
                          {"resourceVersion", "1"},
                          {"namespace", "ns"},
                          {"labels", {{"app.kubernetes.io/managed-by", "Helm"}, {"team", "a"}}}}},
                        {"data", {{"hccl.json", text}}}});
  }
  Json& object() { return api_.objects.at(kMap); }
  std::string file() { return object()["data"].value("hccl.json", ""); }

  TableWorld w_;
  agent::FakeApi api_{w_.clock};
  std::optional<codec::EventObject> owner_;
  std::vector<std::string> told_;
  std::vector<std::string> failures_;
  std::uint64_t term_ = 1;
  bool leads_ = true;
  std::unique_ptr<TableConfigMaps> maps_;
};

TEST_F(TableMaps, AreMadeBeforeThePodsRunAndThenCompleted) {
  owner_ = codec::EventObject{"AscendJob", "ns", "train", "job-1", "mindxdl.gitee.com/v1"};
  w_.see(w_.member("train", 0, 2));
  pass();
  EXPECT_EQ(file(), kInitializing);
  EXPECT_EQ(object()["metadata"]["ownerReferences"][0]["uid"], "job-1");
  EXPECT_EQ(object()["metadata"]["labels"]["mx-consumer-cim"], "true");
  EXPECT_EQ(object()["metadata"]["labels"]["ring-controller.atlas"], "ascend-910b");
  EXPECT_THAT(told_, IsEmpty());
  const std::string version = object()["data"]["version"];
  w_.see(w_.member("train", 1, 2));
  pass();
  EXPECT_EQ(Json::parse(file())["status"], "completed");
  EXPECT_GT(std::stoll(object()["data"]["version"].get<std::string>()), std::stoll(version));
  EXPECT_THAT(told_, ElementsAre("The rank table is complete: ConfigMap ns/rings-config-train"));
}

TEST_F(TableMaps, ThoseOfUsersKeepWhatIsTheirs) {
  made_by_user();
  w_.job("train", 2);
  pass();
  EXPECT_EQ(Json::parse(file())["status"], "completed");
  EXPECT_EQ(object()["metadata"]["labels"]["app.kubernetes.io/managed-by"], "Helm");
  EXPECT_EQ(object()["metadata"]["labels"]["team"], "a");
  EXPECT_FALSE(object()["metadata"].contains("ownerReferences"));
  EXPECT_FALSE(object()["metadata"]["labels"].contains("mx-consumer-cim"));
  w_.gone("train-1");
  pass();
  EXPECT_EQ(file(), kInitializing);
  w_.gone("train-0");
  maps_->job_table_gone("ns", "train");
  api_.advance(seconds(2));
  EXPECT_EQ(file(), kInitializing);
}

TEST_F(TableMaps, ARestartChangesNothing) {
  w_.job("train", 2);
  pass();
  const Json before = object();
  ++term_;
  start();
  pass();
  EXPECT_EQ(object(), before);
  EXPECT_THAT(failures_, IsEmpty());
  EXPECT_THAT(told_, SizeIs(1)) << "by the process that wrote it";
}

TEST_F(TableMaps, WhatAnotherProgramWritesIsLeftAlone) {
  const std::string foreign = R"({"status":"completed","server_list":[]})";
  made_by_user(foreign);
  w_.job("train", 2);
  pass();
  EXPECT_EQ(file(), foreign);
  EXPECT_THAT(failures_, ElementsAre(HasSubstr("is written by another program")));
  made_by_user("no JSON");
  pass(minutes(10));
  EXPECT_EQ(file(), "no JSON");
  EXPECT_THAT(told_, IsEmpty()) << "it was not written";
  made_by_user();
  pass(minutes(10));
  EXPECT_EQ(Json::parse(file())["server_count"], "2");
  EXPECT_THAT(told_, SizeIs(1));
}

TEST_F(TableMaps, ASecondWriterIsNoticed) {
  w_.job("train", 2);
  pass();
  ASSERT_EQ(Json::parse(file())["status"], "completed");
  Json other = object();
  const std::string theirs = R"({"status":"completed","version":"1.0","server_list":[]})";
  other["data"]["hccl.json"] = theirs;
  api_.put(kMap, other);
  pass(minutes(10));
  EXPECT_EQ(file(), theirs);
  EXPECT_THAT(failures_, ElementsAre(HasSubstr("is written by another program")));
  w_.gone("train-1");
  pass(minutes(10));
  EXPECT_EQ(file(), theirs);
}

// `kubectl apply` of the manifest again.
TEST_F(TableMaps, OneThatTheUserResetsIsWrittenAgain) {
  made_by_user();
  w_.job("train", 2);
  pass();
  const std::string complete = file();
  Json reset = object();
  reset["data"]["hccl.json"] = "{\n  \"status\":\"initializing\"\n}";
  api_.put(kMap, reset);
  pass(minutes(10));
  EXPECT_EQ(file(), complete);
  EXPECT_THAT(failures_, IsEmpty());
}

TEST_F(TableMaps, OnlyTheLeaderWrites) {
  leads_ = false;
  w_.job("train", 1);
  pass();
  EXPECT_THAT(api_.objects, Not(Contains(Key(kMap))));
  leads_ = true;
  pass();
  EXPECT_THAT(api_.objects, Contains(Key(kMap)));
}

TEST_F(TableMaps, OnlyWhatIsSwitchedOnIsWritten) {
  start({false, true});
  w_.job("train", 1);
  for (const char* role : {"coordinator", "controller"}) {
    TestPod pod;
    pod.name = role;
    pod.chips = 0;
    pod.node = "n5";
    pod.labels = {{"app", std::string("mindie-ms-") + role}, {"jobID", "chat"}};
    w_.see(pod);
  }
  TestPod server = w_.member("server", 0, 1);
  server.node = "n7";
  server.labels = {{"app", "mindie-ms-server"}, {"jobID", "chat"}};
  pass();
  EXPECT_THAT(api_.objects, IsEmpty()) << "no part of a deployment";
  w_.see(server);
  pass();
  EXPECT_THAT(api_.objects, Not(Contains(Key(kMap))));
  ASSERT_THAT(api_.objects, Contains(Key(kGlobal)));
  const Json text = api_.objects.at(kGlobal)["data"]["global_ranktable.json"];
  EXPECT_EQ(Json::parse(text.get<std::string>())["server_group_list"].size(), 3U);
}

TEST_F(TableMaps, ProblemsAreToldOnce) {
  w_.see(w_.member("train", 0, 2));
  TestPod second = w_.member("train", 1, 2);
  second.node = "n0";
  w_.see(second);
  pass();
  pass();
  EXPECT_THAT(failures_, ElementsAre(HasSubstr("both have device 0 of 10.0.0.0")));
  EXPECT_EQ(file(), kInitializing);
}

// A job whose pods are gone must not get its ConfigMap back, which went with it.
TEST_F(TableMaps, WhatWentWithItsJobIsNotMadeAgain) {
  w_.job("train", 1);
  pass();
  api_.objects.erase(kMap);
  w_.gone("train-0");
  maps_->job_table_gone("ns", "train");
  pass(minutes(10));
  EXPECT_THAT(api_.objects, Not(Contains(Key(kMap))));
}

// Ranks that no pod has go on from the table that is stored, whatever this process had given.
TEST_F(TableMaps, RanksOfTheTableThatIsStoredStay) {
  for (int i = 0; i < 2; ++i) {
    TestPod pod = w_.member("train", i, 2);
    pod.annotations.erase("hccl/rankIndex");
    w_.see(pod);
  }
  pass();
  const Json before = object();
  const std::string stored = file();
  Json swapped = Json::parse(stored);
  for (Json& server : swapped["server_list"]) {
    for (Json& device : server["device"])
      device["rank_id"] =
          std::to_string((std::stoi(device["rank_id"].get<std::string>()) + 8) % 16);
  }
  w_.tables.continue_from("ns", "train", swapped.dump());
  ASSERT_EQ(servers(w_.table("train")).front().first, "10.0.0.1");
  ++term_;
  start();
  pass();
  EXPECT_EQ(object(), before);
}

TEST_F(TableMaps, OfModelArtsAreTwoWithTheSwitchesPacked) {
  const std::string tables = "/api/v1/namespaces/ns/configmaps/ranktable-train";
  const std::string tors = "/api/v1/namespaces/ns/configmaps/torlist-train";
  const auto see = [&](int index) {
    TestPod pod = w_.member("train", index, 2);
    pod.labels = {{"ring-controller.cce", "ascend-1980"}};
    pod.annotations["cabinet"] = "cabinet";
    w_.see(pod);
  };
  w_.add_node("n0", "ascend-910b-8");
  w_.add_node("n1", "ascend-910b-8");
  for (const char* node : {"n0", "n1"})
    w_.scheduler.network().set_labels(node, {{"cloud.provider.com/topology-block", node}});
  see(0);
  pass();
  const auto unpack = [&] {
    const auto bytes = codec::decode_base64(
        api_.objects.at(tors)["data"]["ranktable_tor.json"].get<std::string>());
    return Json::parse(io::gunzip(bytes.value(), 1U << 20U).value());
  };
  EXPECT_EQ(unpack(), Json::parse(kInitializing));
  EXPECT_EQ(api_.objects.at(tors)["data"]["route_plan.json"], "");
  EXPECT_EQ(Json::parse(
                api_.objects.at(tables)["data"]["jobstart_hccl.json"].get<std::string>())["status"],
            "initializing");
  see(1);
  pass();
  EXPECT_EQ(unpack()["server_list"].size(), 2U);
  EXPECT_EQ(
      Json::parse(api_.objects.at(tors)["data"]["route_plan.json"].get<std::string>())["ranks"],
      Json({0, 1}));
  EXPECT_EQ(api_.objects.at(tables)["metadata"]["labels"]["ring-controller.cce"], "ascend-1980");
  EXPECT_FALSE(api_.objects.at(tables)["metadata"]["labels"].contains("mx-consumer-cim"));
  EXPECT_THAT(told_, ElementsAre("The rank table is complete: ConfigMap ns/ranktable-train"));
  EXPECT_THAT(api_.objects, Not(Contains(Key(kMap))));
  const auto before = api_.objects;
  // As another replica would have planned it.
  w_.tables.continue_from(
      "ns", "train",
      RouteFiles{unpack().dump(),
                 R"({"version":"1.0","status":"completed","master_index":1,"ranks":[1,0]})"});
  ASSERT_NE(w_.jobs.at("train").route->plan, before.at(tors)["data"]["route_plan.json"]);
  ++term_;
  start();
  pass();
  EXPECT_EQ(api_.objects, before);
  start({true, true, false});
  api_.objects.clear();
  pass();
  EXPECT_THAT(api_.objects, IsEmpty());
}

TEST_F(TableMaps, OfPrefillAndDecodeHaveALocalTableForEachPod) {
  const std::string path = "/api/v1/namespaces/ns/configmaps/pd-ranktable-chat";
  const auto see = [&](const std::string& role, const std::string& node, int first) {
    TestPod pod;
    pod.name = role + "-0";
    pod.node = node;
    pod.chips = role == "scheduler" ? 0 : 2;
    pod.first = first;
    pod.labels = {{"chipweave.dev/pd-deployment", "chat"}, {"chipweave.dev/pd-role", role}};
    w_.see(pod);
  };
  see("scheduler", "n0", 0);
  see("prefill", "n0", 0);
  pass();
  EXPECT_EQ(api_.objects.at(path)["data"]["global_ranktable.json"], kInitializing);
  EXPECT_EQ(api_.objects.at(path)["data"]["local_ranktable_prefill-0.json"], kInitializing);
  EXPECT_THAT(told_, IsEmpty());
  see("decode", "n0", 2);
  pass();
  const Json& data = api_.objects.at(path)["data"];
  EXPECT_EQ(data.size(), 5U) << data;
  EXPECT_EQ(
      Json::parse(data["global_ranktable.json"].get<std::string>())["server_group_list"].size(),
      3U);
  EXPECT_EQ(Json::parse(data["local_ranktable_decode-0.json"].get<std::string>())["group_id"], "0");
  EXPECT_THAT(told_, ElementsAre("The rank table is complete: ConfigMap ns/pd-ranktable-chat"));
  w_.gone("decode-0");
  see("decode", "n1", 0);
  pass();
  EXPECT_THAT(api_.objects.at(path)["data"]["local_ranktable_decode-0.json"].get<std::string>(),
              HasSubstr("10.0.0.1"));
  for (const char* name : {"scheduler-0", "prefill-0", "decode-0"}) w_.gone(name);
  maps_->deployment_table_gone(TableKind::pd, "ns", "chat");
  pass();
  EXPECT_EQ(api_.objects.at(path)["data"]["global_ranktable.json"], kInitializing);
  EXPECT_EQ(api_.objects.at(path)["data"]["local_ranktable_decode-0.json"], "");
}

// The ConfigMap of a user stays, so the next job of the name would begin with its table.
TEST_F(TableMaps, OfAJobThatEndedWhileNoReplicaLedIsEmptied) {
  made_by_user();
  w_.job("train", 2);
  pass();
  ASSERT_EQ(Json::parse(file())["status"], "completed");
  leads_ = false;
  pass();
  w_.gone("train-0");
  w_.gone("train-1");
  maps_->job_table_gone("ns", "train");
  pass();
  EXPECT_EQ(Json::parse(file())["status"], "completed");
  leads_ = true;
  ++term_;
  pass();
  EXPECT_EQ(file(), kInitializing);
  EXPECT_THAT(failures_, IsEmpty());
}

TEST_F(TableMaps, OfAJobThatALeaderBeforeWroteIsEmptiedWhenItsPodsEnd) {
  made_by_user();
  w_.job("train", 1);
  pass();
  TableWorld other;  // of a new process, which sees the pod when it ends
  ++term_;
  start();
  other.tables.add(*maps_);
  maps_->tick(term_);
  codec::KubePod ending = kube_pod(w_.member("train", 0, 1));
  ending.ending = true;
  other.tables.pod_seen(ending);
  api_.advance(seconds(2));
  EXPECT_EQ(file(), kInitializing);
}

TEST_F(TableMaps, OfAJobThatComesBackBeforeAReplicaLeadsIsNotEmptied) {
  made_by_user();
  w_.job("train", 1);
  pass();
  const Json before = object();
  leads_ = false;
  pass();
  maps_->job_table_gone("ns", "train");
  tell();
  leads_ = true;
  ++term_;
  pass();
  EXPECT_EQ(object(), before);
}

}  // namespace
}  // namespace chipweave::sched::test

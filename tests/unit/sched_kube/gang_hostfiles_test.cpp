// The hostfile and rankfile of gangs, in ConfigMaps of an API server in memory.
#include "scheduler-plugin/kube/gangs/hostfiles/gang_hostfiles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/fakes/agent/fake_api.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/sched/preempting_world.hpp"

namespace chipweave::sched::test {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kMaps = "/api/v1/namespaces/ns/configmaps";
const std::string kMap = kMaps + "/hosts";

class Hostfiles : public testing::Test {
 protected:
  void SetUp() override {
    w_.nodes(4);
    start();
  }
  // As a new process.
  void start(std::size_t max_bytes = GangHostfiles::kMaxBytes) {
    GangHostfiles::Ways ways;
    ways.fence = [this] { return [this, term = term_] { return term == term_; }; };
    ways.owner = [this](const GangRef&) { return owner_; };
    ways.failed = [this](const GangRef& gang, const std::string& why) {
      failures_.push_back(gang.text() + ": " + why);
    };
    files_ =
        std::make_unique<GangHostfiles>(api_, w_.clock, w_.scheduler, std::move(ways), max_bytes);
    for (const auto& [key, pod] : seen_) files_->pod_seen(pod);
  }
  void see(const PodRequest& pod, const std::string& wanted = "hosts",
           const std::string& subdomain = "train", const std::string& hostname = {}) {
    codec::KubePod out;
    out.ns = pod.key.ns;
    out.name = pod.key.name;
    out.uid = pod.uid;
    out.subdomain = subdomain;
    out.hostname = hostname;
    if (!wanted.empty()) out.annotations[kHostfileAnnotation] = wanted;
    seen_[pod.key.text()] = out;
    files_->pod_seen(out);
  }
  void gone(const PodRequest& pod) {
    w_.gone(pod.key.name);
    seen_.erase(pod.key.text());
    files_->pod_gone(pod.key.text());
  }
  void pass(milliseconds time = seconds(2)) {
    for (int i = 0; i < 2; ++i) {
      files_->tick(leads_);
      api_.advance(time / 2);
    }
  }
  // A planned gang whose pods ask for the file.
  std::vector<PodRequest> gang(const std::string& name, int size, int chips = 8) {
    auto pods = w_.gang_of(name, size, 0, chips);
    w_.settle();
    for (const PodRequest& pod : pods) see(pod);
    return pods;
  }
  Json& object() { return api_.objects[kMap]; }
  std::string file(const char* key) {
    return api_.objects.contains(kMap) ? object()["data"].value(key, "") : "";
  }
  std::ptrdiff_t requests() const { return static_cast<std::ptrdiff_t>(api_.log.size()); }

  PreemptingWorld w_;
  agent::FakeApi api_{w_.clock};
  std::map<std::string, codec::KubePod> seen_;
  std::optional<codec::EventObject> owner_;
  std::vector<std::string> failures_;
  int term_ = 1;
  bool leads_ = true;
  std::unique_ptr<GangHostfiles> files_;
};

TEST_F(Hostfiles, AreWrittenAsTheGoldenFile) {
  owner_ = codec::EventObject{"MPIJob", "ns", "train", "job-1", "kubeflow.org/v2beta1"};
  auto pods = w_.gang_of("train", 3, 0, 2);
  w_.settle();
  see(pods[0], "hosts", "train", "train-worker-0");
  see(pods[1], "hosts", "train", "train-worker-1");
  pass();
  EXPECT_THAT(api_.objects, testing::Not(testing::Contains(testing::Key(kMap))))
      << "one pod has not been seen";
  see(pods[2], "hosts", "");
  pass();
  Json made = object();
  for (const char* key : {"uid", "resourceVersion", "generation", "creationTimestamp"})
    made["metadata"].erase(key);
  const auto golden = chipweave::test::file_content(
      chipweave::test::source_path("tests/unit/sched_kube/golden") + "/hostfile.json");
  ASSERT_TRUE(golden);
  EXPECT_EQ(made.dump(2) + "\n", *golden);
  EXPECT_THAT(failures_, ElementsAre(HasSubstr("ns/train: The hostfile is not written: pod "
                                               "ns/train-2 has no annotation")));
}

TEST_F(Hostfiles, BelongToThePodOfRankZeroWhereTheOwnerIsNotKnown) {
  const auto pods = gang("train", 2);
  pass();
  const Json owner = object()["metadata"]["ownerReferences"];
  ASSERT_THAT(owner, SizeIs(1));
  EXPECT_EQ(
      owner[0],
      Json({{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "train-0"}, {"uid", pods[0].uid}}));
  owner_ = codec::EventObject{"Job", "ns", "train", "job-1", "batch/v1"};
  see(pods[0], "hosts", "other");
  pass();
  EXPECT_EQ(object()["metadata"]["ownerReferences"][0]["uid"], "job-1");
  EXPECT_THAT(object()["metadata"]["ownerReferences"], SizeIs(1));
}

TEST_F(Hostfiles, FollowTheRepairAndKeepTheOldContentUntilThePodIsReplaced) {
  auto pods = gang("train", 2);
  for (const auto& pod : pods) ASSERT_TRUE(w_.bind(pod, *w_.fit(pod).begin()).ok());
  pass();
  const std::string before = file("hostfile");
  EXPECT_EQ(before, "train-0.train.ns.svc slots=8\ntrain-1.train.ns.svc slots=8\n");
  gone(pods[1]);
  w_.settle();
  pass();
  EXPECT_EQ(file("hostfile"), before);
  ClusterPod again = w_.gang_pod("train", 1, 2, 8, 0);
  again.request.key.name = "train-1-again";
  again.request.uid = "uid-again";
  ASSERT_TRUE(w_.cluster.add(again, "{}").ok());
  w_.settle();
  see(again.request);
  pass();
  EXPECT_EQ(file("hostfile"), "train-0.train.ns.svc slots=8\ntrain-1-again.train.ns.svc slots=8\n");
  EXPECT_THAT(failures_, IsEmpty());
}

TEST_F(Hostfiles, AfterARestartWhatIsStoredIsComparedAndNotWrittenAgain) {
  const auto pods = gang("train", 2);
  pass();
  const std::string version = object()["metadata"]["resourceVersion"];
  start();
  pass();
  EXPECT_EQ(object()["metadata"]["resourceVersion"], version);
  // changed between the two processes
  object()["data"]["hostfile"] = "somebody's";
  api_.put(kMap, object());
  start();
  pass();
  EXPECT_THAT(file("hostfile"), HasSubstr("train-0.train.ns.svc slots=8"));
  // and deleted
  api_.objects.erase(kMap);
  pass(2 * GangHostfiles::kCheckEvery);
  EXPECT_THAT(file("hostfile"), HasSubstr("train-0.train.ns.svc slots=8"));
}

TEST_F(Hostfiles, AnObjectOfOthersIsLeftAlone) {
  api_.put(kMap, Json{{"metadata", {{"uid", "u0"}}}, {"data", {{"hostfile", "theirs"}}}});
  gang("train", 2);
  pass();
  EXPECT_EQ(file("hostfile"), "theirs");
  EXPECT_FALSE(object()["metadata"].contains("labels"));
  ASSERT_THAT(failures_, SizeIs(1));
  EXPECT_THAT(failures_[0], HasSubstr("ConfigMap ns/hosts is not written: "));
  EXPECT_THAT(failures_[0], HasSubstr("is left as it is"));
  pass(minutes(5));
  EXPECT_THAT(failures_, SizeIs(1)) << "once";
  // it is made once the name is free
  api_.objects.erase(kMap);
  pass(minutes(1));
  EXPECT_THAT(file("hostfile"), HasSubstr("train-0"));
}

TEST_F(Hostfiles, AnotherGangsIsLeftAlone) {
  gang("one", 2);
  pass();
  const std::string of_one = file("hostfile");
  gang("two", 2);
  pass();
  EXPECT_EQ(file("hostfile"), of_one);
  ASSERT_THAT(failures_, SizeIs(1));
  EXPECT_THAT(failures_[0], testing::StartsWith("ns/two: ConfigMap ns/hosts is not written"));
}

TEST_F(Hostfiles, OfAnEarlierGangOfThisNameGetANewOwner) {
  gang("train", 2);
  pass();
  object()["metadata"]["ownerReferences"] = Json::array({{{"uid", "job-of-yesterday"}}});
  object()["data"]["hostfile"] = "yesterday's";
  api_.put(kMap, object());
  start();
  pass();
  EXPECT_THAT(file("hostfile"), HasSubstr("train-0"));
  EXPECT_EQ(object()["metadata"]["ownerReferences"][0]["name"], "train-0");
}

TEST_F(Hostfiles, WhatPodsSayWrongIsReportedOnce) {
  struct Case {
    std::string wanted;
    std::string subdomain;
    std::string hostname;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"", "train", "", "pod ns/NAME-1 has no annotation chipweave.dev/hostfile, which all"},
      {"other", "train", "", "pod ns/NAME-1 names the hostfile other, and the pod of rank 0 hosts"},
      {"Hosts/../x", "train", "", "has the annotation chipweave.dev/hostfile: \"Hosts/../x\", "},
      {std::string(400, 'a'), "train", "", "which is not the name of a ConfigMap"},
      {"hosts", "a b", "", "pod ns/NAME-1 has the host name \"NAME-1.a b.ns.svc\", which is none"},
      {"hosts", "train", "NAME-0", "has the host name NAME-0.train.ns.svc, as another pod"}};
  int number = 0;
  for (const Case& one : cases) {
    failures_.clear();
    const std::string name = "g" + std::to_string(number++);
    const auto named = [&](std::string text) {
      for (auto at = text.find("NAME"); at != std::string::npos; at = text.find("NAME"))
        text.replace(at, 4, name);
      return text;
    };
    const auto pods = w_.gang_of(name, 2, 0, 1);
    w_.settle();
    see(pods[0]);
    see(pods[1], one.wanted, one.subdomain, named(one.hostname));
    pass();
    pass();
    ASSERT_THAT(failures_, SizeIs(1)) << one.message;
    EXPECT_THAT(failures_[0], HasSubstr(named(one.message)));
  }
  EXPECT_FALSE(api_.objects.contains(kMap));
}

TEST_F(Hostfiles, ARankfileWithoutRoomIsLeftOutAndReported) {
  start(300);
  gang("train", 2);
  pass();
  EXPECT_EQ(file("hostfile"), "train-0.train.ns.svc slots=8\ntrain-1.train.ns.svc slots=8\n");
  EXPECT_EQ(file("rankfile"), "# left out: the rankfile would have more than 242 bytes\n");
  ASSERT_THAT(failures_, SizeIs(1));
  EXPECT_THAT(failures_[0], HasSubstr("The rankfile is not written: "));
}

TEST_F(Hostfiles, AHostfileWithoutRoomIsNotWritten) {
  start(50);
  gang("train", 2);
  pass();
  EXPECT_FALSE(api_.objects.contains(kMap));
  ASSERT_THAT(failures_, SizeIs(1));
  EXPECT_THAT(failures_[0], HasSubstr("the hostfile would have more than 50 bytes"));
}

TEST_F(Hostfiles, AStandbyWritesNothingAndANewTermLooksAgain) {
  leads_ = false;
  gang("train", 2);
  pass();
  EXPECT_THAT(api_.log, IsEmpty());
  leads_ = true;
  pass();
  EXPECT_THAT(file("hostfile"), HasSubstr("train-0"));
  // a request that waits when the term ends is not sent
  api_.objects.erase(kMap);
  leads_ = false;
  pass();
  const auto before = requests();
  pass(minutes(10));
  EXPECT_EQ(requests(), before);
}

TEST_F(Hostfiles, WithoutARightItIsReportedAndTriedAgain) {
  gang("train", 2);
  api_.down = true;
  pass();
  EXPECT_THAT(failures_, IsEmpty()) << "that passes by itself";
  api_.set_down(false);
  pass(seconds(30));
  EXPECT_THAT(file("hostfile"), HasSubstr("train-0"));
}

TEST_F(Hostfiles, EndWithTheirGangAndAreNotDeleted) {
  const auto pods = gang("train", 2);
  pass();
  for (const PodRequest& pod : pods) gone(pod);
  w_.settle();
  pass();
  const auto before = requests();
  pass(minutes(30));
  EXPECT_EQ(requests(), before);
  EXPECT_TRUE(api_.objects.contains(kMap));
}

TEST_F(Hostfiles, PodsThatDoNotAskCostNothing) {
  auto pods = w_.gang_of("train", 2, 0);
  w_.settle();
  for (const PodRequest& pod : pods) see(pod, "");
  pass();
  EXPECT_THAT(api_.log, IsEmpty());
  EXPECT_THAT(failures_, IsEmpty());
}

TEST(HostOf, APodIsWhatDnsCallsIt) {
  codec::KubePod pod;
  pod.ns = "team";
  pod.name = "train-workers-0-1-m4tqd";
  EXPECT_EQ(host_of(pod), "train-workers-0-1-m4tqd");
  pod.hostname = "train-workers-0-1";
  EXPECT_EQ(host_of(pod), "train-workers-0-1-m4tqd") << "without a Service DNS has no name";
  pod.subdomain = "train";
  EXPECT_EQ(host_of(pod), "train-workers-0-1.train.team.svc");
  pod.hostname.clear();
  EXPECT_EQ(host_of(pod), "train-workers-0-1-m4tqd.train.team.svc");
}

}  // namespace
}  // namespace chipweave::sched::test

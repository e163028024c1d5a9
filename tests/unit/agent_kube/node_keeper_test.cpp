// A Node and its agent: labels, annotations and commands in both directions.
#include "node-agent/publish/node/node_keeper.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fakes/agent/api_answers.hpp"
#include "tests/fakes/agent/fake_api.hpp"
#include "tests/support/manual_clock.hpp"

namespace chipweave::agent {
namespace {

using Json = nlohmann::json;
using codec::StringMap;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;

const std::string kPath = "/api/v1/nodes/n1";
const std::string kPatch = "PATCH " + kPath;
constexpr const char* kClear = "chipweave.dev/clear-faults";

class KeptNode : public testing::Test {
 protected:
  KeptNode() {
    node({{"kubernetes.io/hostname", "n1"}}, Json::object());
    NodeKeeper::Options options;
    options.node = "n1";
    options.chain.what = "node n1";
    keeper_ = std::make_unique<NodeKeeper>(
        api_, options,
        NodeKeeper::Events{[this](const codec::KubeNodeMetadata& node) {
                             ++seen_;
                             last_ = node;
                             if (on_seen_) on_seen_(node);
                           },
                           [this](bool yes) { works_ = yes; }});
  }
  void node(const Json& labels, const Json& annotations) {
    api_.put(kPath,
             {{"metadata",
               {{"name", "n1"}, {"uid", "u1"}, {"labels", labels}, {"annotations", annotations}}},
              {"spec", {{"podCIDR", "10.0.0.0/24"}}}});
  }
  void begin(const StringMap& labels) {
    keeper_->want({labels, {}});
    keeper_->start();
    api_.advance(seconds(2));
    api_.log.clear();
  }
  Json& labels() { return api_.objects[kPath]["metadata"]["labels"]; }
  Json& annotations() { return api_.objects[kPath]["metadata"]["annotations"]; }
  std::ptrdiff_t patches() const { return std::count(api_.log.begin(), api_.log.end(), kPatch); }

  ManualClock clock_;
  FakeApi api_{clock_};
  int seen_ = 0;
  codec::KubeNodeMetadata last_;
  std::function<void(const codec::KubeNodeMetadata&)> on_seen_;
  bool works_ = false;
  std::unique_ptr<NodeKeeper> keeper_;
};

TEST_F(KeptNode, OnlyItsOwnIsWatchedAndWrittenOnce) {
  keeper_->want({{{"chipweave.dev/chips", "8"}}, {{"superPodID", "3"}}});
  keeper_->start();
  api_.advance(minutes(60));
  EXPECT_EQ(patches(), 1);
  for (const std::string& each : api_.log) {
    EXPECT_TRUE(each == kPatch ||
                each.find("fieldSelector=metadata.name%3Dn1") != std::string::npos)
        << each;
  }
  EXPECT_EQ(labels(), Json::parse(R"({"kubernetes.io/hostname":"n1","chipweave.dev/chips":"8"})"));
  EXPECT_EQ(annotations(), Json::parse(R"({"superPodID":"3",
              "chipweave.dev/agent-keys":"labels=chipweave.dev/chips;annotations=superPodID"})"));
  EXPECT_EQ(api_.objects[kPath]["spec"], Json::parse(R"({"podCIDR":"10.0.0.0/24"})"));
  EXPECT_TRUE(works_);
}

TEST_F(KeptNode, ReportsEachVersion) {
  begin({});
  const int before = seen_;
  node({{"a", "b"}}, {{"chipweave.dev/cordon-chips", "3"}});
  api_.advance(milliseconds(0));
  EXPECT_EQ(seen_, before + 1);
  EXPECT_EQ(last_.labels, (StringMap{{"a", "b"}}));
  EXPECT_EQ(last_.annotations, (StringMap{{"chipweave.dev/cordon-chips", "3"}}));
}

TEST_F(KeptNode, OnlyMetadataIsRequested) {
  begin({});
  EXPECT_EQ(api_.accepts.at("/api/v1/nodes"),
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
  EXPECT_EQ(seen_, 1);
}

TEST_F(KeptNode, OursComesBackAndWhatIsWantedNoMoreGoes) {
  begin({{"chipweave.dev/chips", "8"}, {"chipweave.dev/vendor", "amd"}});
  labels()["chipweave.dev/chips"] = "9";
  api_.put(kPath, api_.objects[kPath]);
  api_.advance(seconds(2));
  EXPECT_EQ(labels()["chipweave.dev/chips"], "8");
  keeper_->want({{{"chipweave.dev/chips", "8"}}, {}});
  api_.advance(seconds(2));
  EXPECT_FALSE(labels().contains("chipweave.dev/vendor"));
  EXPECT_EQ(annotations()["chipweave.dev/agent-keys"], "labels=chipweave.dev/chips;annotations=");
}

TEST_F(KeptNode, AnAgentOfAnotherVersionRemovesWhatItDoesNotWant) {
  node({{"chipweave.dev/old", "x"}},
       {{"chipweave.dev/agent-keys", "labels=chipweave.dev/old;annotations="}});
  begin({{"chipweave.dev/chips", "8"}});
  EXPECT_EQ(labels(), Json::parse(R"({"chipweave.dev/chips":"8"})"));
}

TEST_F(KeptNode, ALabelOfSomebodyElseStays) {
  node({{"accelerator", "theirs"}}, Json::object());
  begin({{"accelerator", "huawei-npu"}, {"chipweave.dev/chips", "8"}});
  EXPECT_EQ(labels()["accelerator"], "theirs");
  EXPECT_EQ(labels()["chipweave.dev/chips"], "8");
  EXPECT_EQ(annotations()["chipweave.dev/agent-keys"], "labels=chipweave.dev/chips;annotations=");
  api_.advance(minutes(10));
  EXPECT_EQ(patches(), 0);
}

TEST_F(KeptNode, AThousandChangesAreAWriteASecond) {
  begin({{"chipweave.dev/chips", "8"}});
  std::vector<std::chrono::steady_clock::time_point> when;
  for (int i = 0; i < 1000; ++i) {
    const std::ptrdiff_t before = patches();
    keeper_->want({{{"chipweave.dev/chips", std::to_string(i)}}, {}});
    api_.advance(milliseconds(10));
    if (patches() > before) when.push_back(clock_.now());
  }
  ASSERT_GE(when.size(), 9U);
  EXPECT_LE(when.size(), 11U);
  for (std::size_t i = 1; i < when.size(); ++i) EXPECT_GE(when[i] - when[i - 1], milliseconds(990));
  api_.advance(seconds(1));
  EXPECT_EQ(labels()["chipweave.dev/chips"], "999");
}

TEST_F(KeptNode, AConflictIsReadAgain) {
  begin({{"chipweave.dev/chips", "8"}});
  labels()["somebody"] = "else";
  api_.put(kPath, api_.objects[kPath]);
  keeper_->want({{{"chipweave.dev/chips", "4"}}, {}});
  api_.advance(seconds(2));
  EXPECT_THAT(api_.log, ElementsAre(kPatch, "GET " + kPath, kPatch));
  EXPECT_EQ(labels()["chipweave.dev/chips"], "4");
  EXPECT_EQ(labels()["somebody"], "else");
}

TEST_F(KeptNode, AnHourWithoutTheServer) {
  begin({{"chipweave.dev/chips", "8"}});
  api_.set_down(true);
  std::size_t most = 0;
  for (int i = 0; i < 3600; ++i) {
    keeper_->want({{{"chipweave.dev/chips", std::to_string(i)}}, {}});
    api_.advance(seconds(1));
    most = std::max(most, api_.in_flight());
  }
  EXPECT_LE(most, 2U) << "its watch and its write";
  EXPECT_FALSE(works_);
  api_.set_down(false);
  api_.log.clear();
  api_.advance(seconds(60));
  EXPECT_EQ(labels()["chipweave.dev/chips"], "3599");
  EXPECT_EQ(patches(), 1);
  EXPECT_TRUE(works_);
}

TEST_F(KeptNode, ANodeThatIsNotThereYet) {
  api_.objects.clear();
  begin({{"chipweave.dev/chips", "8"}});
  EXPECT_EQ(seen_, 0);
  node(Json::object(), Json::object());
  api_.advance(seconds(2));
  EXPECT_EQ(labels()["chipweave.dev/chips"], "8");
}

TEST_F(KeptNode, WhatIsWantedOnSeeingTheNodeIsOnePatch) {
  on_seen_ = [this](const codec::KubeNodeMetadata&) {
    keeper_->want({{{"chipweave.dev/chips", "1"}}, {}});
    keeper_->want({{{"chipweave.dev/chips", "2"}}, {}});
  };
  keeper_->start();
  api_.advance(seconds(10));
  EXPECT_EQ(patches(), 1);
  EXPECT_EQ(labels()["chipweave.dev/chips"], "2");
}

TEST_F(KeptNode, ACommandThatWasCarriedOutIsRemoved) {
  begin({});
  annotations()[kClear] = "3";
  api_.put(kPath, api_.objects[kPath]);
  api_.advance(seconds(1));
  EXPECT_EQ(annotations()[kClear], "3");
  keeper_->carried_out(kClear, "3");
  api_.advance(seconds(1));
  EXPECT_FALSE(annotations().contains(kClear));
  annotations()[kClear] = "5";  // the next one
  api_.put(kPath, api_.objects[kPath]);
  api_.advance(seconds(10));
  EXPECT_EQ(annotations()[kClear], "5");
}

TEST_F(KeptNode, WhoUndoesItInTheServerIsNotFoughtEachSecond) {
  begin({});
  api_.admission = [](Json& node) { node["metadata"]["labels"].erase("chipweave.dev/chips"); };
  keeper_->want({{{"chipweave.dev/chips", "8"}}, {}});
  api_.advance(minutes(5));
  EXPECT_GE(patches(), 1);
  EXPECT_LE(patches(), 12);
  EXPECT_FALSE(works_);
  api_.admission = nullptr;
  api_.advance(seconds(31));
  EXPECT_EQ(labels()["chipweave.dev/chips"], "8");
  EXPECT_TRUE(works_);
}

TEST_F(KeptNode, OthersAreNotListenedTo) {
  begin({});
  const int before = seen_;
  api_.put("/api/v1/nodes/n2", {{"metadata", {{"name", "n2"}, {"uid", "u2"}}}});
  api_.advance(seconds(1));
  EXPECT_EQ(seen_, before);
}

TEST_F(KeptNode, NothingComesAfterTheStop) {
  begin({{"chipweave.dev/chips", "8"}});
  keeper_->stop();
  const int before = seen_;
  keeper_->want({{{"chipweave.dev/chips", "4"}}, {}});
  node(Json::object(), Json::object());
  api_.advance(minutes(10));
  EXPECT_EQ(seen_, before);
  EXPECT_EQ(api_.in_flight(), 0U);
  EXPECT_EQ(patches(), 0);
}

}  // namespace
}  // namespace chipweave::agent

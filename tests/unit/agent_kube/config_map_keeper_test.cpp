// One ConfigMap over its whole life, although others write or delete it.
#include "common/kube/config_map_keeper.hpp"

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
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

const std::string kMap = "/api/v1/namespaces/kube-system/configmaps/cm-n1";
const std::string kPost = "POST /api/v1/namespaces/kube-system/configmaps";

class KeptMap : public testing::Test {
 protected:
  void make(const std::function<void(kube::ConfigMapKeeper::Options&)>& change = nullptr) {
    kube::ConfigMapKeeper::Options options;
    options.ns = "kube-system";
    options.name = "cm-n1";
    options.managed_by = "chipweave-agent";
    options.chain.what = "configmap";
    if (change) change(options);
    keeper_ = std::make_unique<kube::ConfigMapKeeper>(
        api_, clock_, options,
        kube::ConfigMapKeeper::Events{[this](const StringMap& edited) { seen_.push_back(edited); },
                                      [this](bool yes) { works_ = yes; }});
  }
  void begin(const std::function<void(kube::ConfigMapKeeper::Options&)>& change = nullptr) {
    make(change);
    keeper_->want(wanted("a"));
    keeper_->start();
    api_.advance(milliseconds(0));
    ASSERT_EQ(data()["Cfg"], "a");
    api_.log.clear();
  }
  static kube::ConfigMapKeeper::Wanted wanted(const std::string& text) {
    return {{{"app", "x"}}, [text](std::int64_t) { return StringMap{{"Cfg", text}}; }, {"People"}};
  }
  // A text that contains the time.
  static kube::ConfigMapKeeper::Wanted stamped(const std::string& text) {
    return {{},
            [text](std::int64_t stamp) {
              return StringMap{{"Cfg", text + "@" + std::to_string(stamp)}};
            },
            {}};
  }
  Json& object() { return api_.objects[kMap]; }
  Json& data() { return object()["data"]; }
  bool there() const { return api_.objects.contains(kMap); }
  std::ptrdiff_t writes() const {
    return std::count_if(api_.log.begin(), api_.log.end(), [](const std::string& each) {
      return !each.starts_with("GET ") && !each.starts_with("WATCH ");
    });
  }
  // A pre-existing object, without our label unless `ours`.
  void there_before(const Json& data, bool ours) {
    Json object{{"metadata", {{"uid", "u0"}}}, {"data", data}};
    object["metadata"]["labels"]["their"] = "label";
    if (ours) object["metadata"]["labels"]["app.kubernetes.io/managed-by"] = "chipweave-agent";
    api_.put(kMap, object);
  }

  ManualClock clock_;
  FakeApi api_{clock_};
  std::vector<StringMap> seen_;
  bool works_ = false;
  std::unique_ptr<kube::ConfigMapKeeper> keeper_;
};

TEST_F(KeptMap, IsMadeWithItsLabels) {
  make();
  keeper_->want(wanted("a"));
  keeper_->start();
  api_.advance(milliseconds(0));
  EXPECT_THAT(api_.log, ElementsAre("GET " + kMap, kPost));
  EXPECT_EQ(object()["metadata"]["labels"],
            Json::parse(R"({"app":"x","app.kubernetes.io/managed-by":"chipweave-agent"})"));
  EXPECT_EQ(data(), Json::parse(R"({"Cfg":"a","People":""})"));
  EXPECT_TRUE(works_);
}

TEST_F(KeptMap, AQuietHourIsAReadAMinuteAndNoWrite) {
  begin();
  api_.advance(minutes(60));
  EXPECT_EQ(writes(), 0);
  EXPECT_THAT(api_.log, Each("GET " + kMap + "?resourceVersion=0"));
  EXPECT_GE(api_.log.size(), 59U);
  EXPECT_LE(api_.log.size(), 121U);
}

// With the rights of an agent, which may not GET.
TEST_F(KeptMap, WithoutTheRightToReadItIsReadByEmptyPatches) {
  begin([](kube::ConfigMapKeeper::Options& options) { options.read_by_patch = true; });
  api_.advance(minutes(60));
  EXPECT_THAT(api_.log, Each("PATCH " + kMap));
  EXPECT_GE(api_.log.size(), 59U);
  EXPECT_LE(api_.log.size(), 121U);
  EXPECT_EQ(object()["metadata"]["resourceVersion"], "2") << "none of them changed anything";

  data()["Cfg"] = "somebody's";
  api_.put(kMap, object());
  api_.advance(minutes(1));
  EXPECT_EQ(data()["Cfg"], "a");
  api_.objects.erase(kMap);
  api_.advance(minutes(1));
  EXPECT_TRUE(there()) << "a deleted one is made again";
}

TEST_F(KeptMap, AChangeIsPatchedAndKeysOfOthersStay) {
  begin();
  api_.advance(seconds(10));
  object()["data"]["Foreign"] = "f";
  object()["metadata"]["labels"]["their"] = "label";
  api_.put(kMap, object());
  api_.log.clear();
  keeper_->want(wanted("b"));
  api_.advance(seconds(2));
  EXPECT_THAT(api_.log, ElementsAre("PATCH " + kMap, "GET " + kMap, "PATCH " + kMap))
      << "the first write conflicts";
  EXPECT_EQ(data(), Json::parse(R"({"Cfg":"b","Foreign":"f","People":""})"));
  EXPECT_EQ(object()["metadata"]["labels"]["their"], "label");
}

TEST_F(KeptMap, AThousandChangesAreAWriteASecond) {
  begin();
  std::vector<std::chrono::steady_clock::time_point> when;
  std::ptrdiff_t before = 0;
  for (int i = 0; i < 1000; ++i) {
    keeper_->want(wanted(std::to_string(i)));
    api_.advance(milliseconds(10));
    for (; before < writes(); ++before) when.push_back(clock_.now());
  }
  ASSERT_GE(when.size(), 9U);
  EXPECT_LE(when.size(), 11U);
  for (std::size_t i = 1; i < when.size(); ++i) EXPECT_GE(when[i] - when[i - 1], milliseconds(990));
  api_.advance(seconds(1));
  EXPECT_EQ(data()["Cfg"], "999");
  EXPECT_EQ(api_.in_flight(), 1U);
}

TEST_F(KeptMap, ConflictsWithoutEndAreAWriteASecondToo) {
  begin();
  keeper_->want(wanted("b"));
  for (int i = 0; i < 200; ++i) {
    object()["data"]["Foreign"] = std::to_string(i);
    api_.put(kMap, object());
    api_.advance(milliseconds(50));
  }
  EXPECT_LE(writes(), 11);
  api_.advance(seconds(10));
  EXPECT_EQ(data()["Cfg"], "b");
  EXPECT_EQ(data()["Foreign"], "199");
}

TEST_F(KeptMap, WhatSomebodyDeletesOrChangesComesBackWithinAMinute) {
  begin();
  api_.advance(seconds(5));
  api_.objects.erase(kMap);
  api_.advance(seconds(61));
  ASSERT_TRUE(there());
  EXPECT_EQ(data()["Cfg"], "a");
  object()["data"]["Cfg"] = "by hand";
  object()["metadata"]["labels"].erase("app");
  api_.put(kMap, object());
  api_.advance(seconds(61));
  EXPECT_EQ(data()["Cfg"], "a");
  EXPECT_EQ(object()["metadata"]["labels"]["app"], "x");
}

TEST_F(KeptMap, EditsAreReportedAndKeptEvenOverADeletion) {
  begin();
  EXPECT_THAT(seen_, IsEmpty());
  object()["data"]["People"] = "Ascend910-3";
  api_.put(kMap, object());
  api_.advance(seconds(61));
  EXPECT_THAT(seen_, ElementsAre(StringMap{{"People", "Ascend910-3"}}));
  EXPECT_EQ(writes(), 0);
  keeper_->want(wanted("b"));
  api_.advance(seconds(2));
  EXPECT_EQ(data()["People"], "Ascend910-3");
  api_.objects.erase(kMap);
  api_.advance(seconds(61));
  EXPECT_EQ(data()["People"], "Ascend910-3");
  object()["data"]["People"] = "";
  api_.put(kMap, object());
  api_.advance(seconds(61));
  EXPECT_EQ(seen_.size(), 2U);
  EXPECT_EQ(seen_.back().at("People"), "");
  EXPECT_EQ(data()["People"], "");
}

TEST_F(KeptMap, EditsBeforeTheAgentStartedAreReported) {
  there_before({{"Cfg", "old"}, {"People", "Ascend910-1"}}, true);
  make();
  keeper_->want(wanted("a"));
  keeper_->start();
  api_.advance(milliseconds(0));
  EXPECT_THAT(seen_, ElementsAre(StringMap{{"People", "Ascend910-1"}}));
  EXPECT_EQ(data(), Json::parse(R"({"Cfg":"a","People":"Ascend910-1"})"));
}

TEST_F(KeptMap, IsRewrittenWithANewTimeAlthoughNothingChanged) {
  make([](auto& options) { options.rewrite_every = minutes(5); });
  keeper_->want(stamped("a"));
  keeper_->start();
  api_.advance(milliseconds(0));
  EXPECT_EQ(data()["Cfg"], "a@1767323045");
  api_.advance(minutes(5) - milliseconds(1));
  EXPECT_EQ(data()["Cfg"], "a@1767323045");
  api_.advance(milliseconds(1));
  EXPECT_EQ(data()["Cfg"], "a@1767323345");
  api_.log.clear();
  api_.advance(minutes(60));
  EXPECT_EQ(writes(), 12);
  EXPECT_EQ(data()["Cfg"], "a@1767326945");
}

TEST_F(KeptMap, TheTimeAloneIsNoChange) {
  make();
  keeper_->want(stamped("a"));
  keeper_->start();
  api_.advance(seconds(1));
  api_.log.clear();
  keeper_->want(stamped("a"));
  api_.advance(minutes(10));
  EXPECT_EQ(writes(), 0);
  keeper_->want(stamped("b"));
  api_.advance(milliseconds(0));
  EXPECT_EQ(data()["Cfg"], "b@1767323646");
}

TEST_F(KeptMap, AKeyThatIsWantedNoMoreGoes) {
  begin();
  api_.advance(seconds(2));
  keeper_->want(kube::ConfigMapKeeper::Wanted{{},
                                              [](std::int64_t) {
                                                return StringMap{{"Other", "o"}};
                                              },
                                              {}});
  api_.advance(milliseconds(0));
  EXPECT_EQ(data(), Json::parse(R"({"Other":"o","People":""})"));
}

TEST_F(KeptMap, AnHourWithoutTheServerLeavesOnlyTheNewest) {
  begin();
  api_.down = true;
  std::size_t most = 0;
  for (int i = 0; i < 3600; ++i) {
    keeper_->want(wanted(std::to_string(i)));
    api_.advance(seconds(1));
    most = std::max(most, api_.in_flight());
  }
  EXPECT_EQ(most, 1U);
  EXPECT_FALSE(works_);
  EXPECT_LE(api_.log.size(), 3601U);
  api_.down = false;
  api_.log.clear();
  api_.advance(seconds(6));
  EXPECT_EQ(data()["Cfg"], "3599");
  EXPECT_EQ(writes(), 1);
  EXPECT_TRUE(works_);
}

TEST_F(KeptMap, IsDeletedWhenItIsWantedNoMore) {
  begin();
  keeper_->want(std::nullopt);
  api_.advance(seconds(2));
  EXPECT_FALSE(there());
  api_.log.clear();
  api_.advance(minutes(60));
  EXPECT_THAT(api_.log, IsEmpty()) << "no reads while nothing is wanted";
  keeper_->want(wanted("c"));
  api_.advance(milliseconds(0));
  EXPECT_EQ(data()["Cfg"], "c");
}

TEST_F(KeptMap, OneOfAnEarlierRunIsDeletedAtTheStart) {
  there_before({{"Cfg", "old"}}, true);
  make();
  keeper_->start();
  api_.advance(milliseconds(0));
  EXPECT_FALSE(there());
}

TEST_F(KeptMap, OneOfSomebodyElseIsNeverDeleted) {
  there_before({{"Cfg", "theirs"}}, false);
  make();
  keeper_->start();
  api_.advance(minutes(10));
  EXPECT_EQ(data()["Cfg"], "theirs");
  keeper_->want(wanted("a"));
  api_.advance(minutes(10));
  EXPECT_EQ(data(), Json::parse(R"({"Cfg":"theirs"})")) << "nor written";
  EXPECT_EQ(writes(), 0);
  EXPECT_FALSE(works_);
  api_.objects.erase(kMap);
  api_.advance(seconds(31));
  EXPECT_EQ(data()["Cfg"], "a") << "the keys were removed";
}

TEST_F(KeptMap, OneOfSomebodyElseIsTakenOverWhereThatIsMeant) {
  there_before({{"Cfg", "theirs"}, {"Foreign", "f"}}, false);
  make([](auto& options) { options.take_over = true; });
  keeper_->want(wanted("a"));
  keeper_->start();
  api_.advance(milliseconds(0));
  EXPECT_EQ(data(), Json::parse(R"({"Cfg":"a","Foreign":"f","People":""})"));
  EXPECT_EQ(object()["metadata"]["labels"]["app.kubernetes.io/managed-by"], "chipweave-agent");
  EXPECT_EQ(object()["metadata"]["labels"]["their"], "label");
}

TEST_F(KeptMap, WhoUndoesItInTheServerIsNotFoughtEachSecond) {
  begin();
  for (const auto& undo : std::vector<std::function<void(Json&)>>{
           [](Json& object) { object["data"]["Cfg"] = "mine"; },
           [](Json& object) {
             object["metadata"]["labels"].erase("app.kubernetes.io/managed-by");
           }}) {
    api_.admission = undo;
    api_.log.clear();
    keeper_->want(wanted("b"));
    api_.advance(minutes(5));
    EXPECT_GE(writes(), 1);
    EXPECT_LE(writes(), 11);
    EXPECT_FALSE(works_);
    api_.admission = nullptr;
    object()["metadata"]["labels"]["app.kubernetes.io/managed-by"] = "chipweave-agent";
    api_.put(kMap, object());
    api_.advance(minutes(1));
    EXPECT_EQ(data()["Cfg"], "b");
    EXPECT_TRUE(works_);
    keeper_->want(wanted("a"));
    api_.advance(minutes(1));
  }
}

TEST_F(KeptMap, NothingComesAfterTheStop) {
  for (const char* unanswered : {"", "configmaps"}) {
    api_.unanswered = unanswered;
    make();
    keeper_->want(wanted("a"));
    keeper_->start();
    api_.advance(milliseconds(0));
    keeper_->stop();
    keeper_->want(wanted("b"));
    api_.log.clear();
    api_.unanswered = "";
    api_.advance(minutes(10));
    EXPECT_THAT(api_.log, IsEmpty());
    EXPECT_EQ(api_.in_flight(), 0U);
  }
}

TEST_F(KeptMap, HasItsOwnersAndGetsThemBack) {
  make();
  kube::ConfigMapKeeper::Wanted with_owner = wanted("a");
  with_owner.owners = {{"batch/v1", "Job", "train", "job-1"}};
  keeper_->want(with_owner);
  keeper_->start();
  api_.advance(milliseconds(0));
  const Json owners =
      Json::parse(R"([{"apiVersion":"batch/v1","kind":"Job","name":"train","uid":"job-1"}])");
  EXPECT_EQ(object()["metadata"]["ownerReferences"], owners);
  object()["metadata"]["ownerReferences"] = Json::array({{{"uid", "another"}}});
  api_.put(kMap, object());
  api_.advance(minutes(1));
  EXPECT_EQ(object()["metadata"]["ownerReferences"], owners);
}

TEST_F(KeptMap, WithoutAllOfItsMarksItIsNotOurs) {
  there_before({{"Cfg", "theirs"}}, true);
  make([](kube::ConfigMapKeeper::Options& options) { options.marks["of"] = "us"; });
  keeper_->want(wanted("a"));
  keeper_->start();
  api_.advance(milliseconds(0));
  EXPECT_EQ(data()["Cfg"], "theirs");
  EXPECT_FALSE(works_);
  object()["metadata"]["labels"]["of"] = "us";
  api_.put(kMap, object());
  api_.advance(minutes(1));
  EXPECT_EQ(data()["Cfg"], "a");
  EXPECT_TRUE(works_);
}

TEST_F(KeptMap, ARefusalIsReportedOnceUntilItWorks) {
  std::vector<std::string> refusals;
  kube::ConfigMapKeeper::Options options;
  options.ns = "kube-system";
  options.name = "cm-n1";
  options.managed_by = "chipweave-agent";
  kube::ConfigMapKeeper::Events events{nullptr, [](bool) {}};
  events.refused = [&](const std::string& why) { refusals.push_back(why); };
  there_before({{"Cfg", "theirs"}}, false);
  kube::ConfigMapKeeper keeper(api_, clock_, options, events);
  keeper.want(wanted("a"));
  keeper.start();
  api_.advance(minutes(5));
  EXPECT_THAT(refusals,
              ElementsAre("kube-system/cm-n1 was made by another program and is left as it is"));
}

}  // namespace
}  // namespace chipweave::agent

// Plans of gangs that are kept in ConfigMaps of a simulated API server.
#include "scheduler-plugin/kube/gangs/config_map_plans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include <nlohmann/json.hpp>

#include "scheduler-plugin/kube/gangs/plan_object.hpp"
#include "scheduler-plugin/kube/kubernetes.hpp"
#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kGang = "team/job/train";

StoredPlan plan_of(const std::string& gang, const std::string& id) {
  return {gang, id, {{"worker", 0, 8, "uid-1", "n1", {0, 1, 2, 3, 4, 5, 6, 7}}}};
}

Json object_of(const std::string& gang, const std::string& text) {
  return Json{
      {"metadata",
       {{"labels", {{kPlanObjectLabel, "1"}}}, {"annotations", {{kPlanObjectAnnotation, gang}}}}},
      {"data", {{"plan", text}}}};
}

class StoredPlans : public testing::Test {
 protected:
  void SetUp() override { restart(); }
  // As a new process.
  void restart() {
    store_.reset();
    wire_ = api_.connect(process_);
    ConfigMapPlans::Events events;
    events.known = [this] { ++known_; };
    events.failed = [this](const kube::WatchFailure& failure) {
      failures_.push_back(failure.what);
    };
    events.unusable = [this](const std::string& object, const Error& why) {
      unusable_.push_back(object + ": " + why.text());
    };
    const auto fence = [this] { return [this, term = term_] { return term == term_; }; };
    store_ = std::make_unique<ConfigMapPlans>(*wire_, "chipweave-system", fence, std::move(events),
                                              [] { return 1.0; });
    store_->start();
  }
  std::shared_ptr<std::string> put(const std::string& id, const std::string& gang = kGang) {
    auto out = std::make_shared<std::string>();
    store_->put(plan_of(gang, id), [out](const Result<void>& result) {
      *out += result ? "stored" : to_string(result.error().code);
    });
    return out;
  }
  // Ids of what the store knows.
  std::vector<std::string> known_plans() const {
    std::vector<std::string> out;
    store_->each([&](const StoredPlan& plan) { out.push_back(plan.plan); });
    return out;
  }
  // Id of what the API server has under that name.
  std::string stored(const std::string& name) const {
    const auto object = api_.config_maps.all.find(name);
    if (object == api_.config_maps.all.end()) return "none";
    return Json::parse(object->second["data"]["plan"].get<std::string>())["plan"];
  }
  std::string stored() const { return stored(plan_object_name(kGang, 1)); }
  void pass(seconds time) {
    for (milliseconds left = time; left.count() > 0; left -= milliseconds(100)) {
      api_.pass(milliseconds(100));
      api_.settle();
    }
  }

  SimulatedApi api_;
  std::shared_ptr<SimulatedProcess> process_ = std::make_shared<SimulatedProcess>();
  std::unique_ptr<kube::Transport> wire_;
  std::unique_ptr<ConfigMapPlans> store_;
  int term_ = 1;
  int known_ = 0;
  std::vector<std::string> failures_;
  std::vector<std::string> unusable_;
};

TEST_F(StoredPlans, AreMadeReplacedAndRemoved) {
  EXPECT_FALSE(store_->known());
  api_.settle();
  EXPECT_TRUE(store_->known());
  EXPECT_EQ(known_, 1);
  const auto first = put("a");
  EXPECT_EQ(*first, "");
  api_.take(0, SimulatedApi::Fate::answered);
  EXPECT_EQ(*first, "stored");
  EXPECT_THAT(known_plans(), ElementsAre("a"));  // before the watch tells it
  const Json made = api_.config_maps.all.at(plan_object_name(kGang, 1));
  EXPECT_EQ(
      made["metadata"]["labels"],
      Json({{kPlanObjectLabel, "1"}, {"app.kubernetes.io/managed-by", "chipweave-scheduler"}}));
  EXPECT_EQ(made["metadata"]["annotations"], Json({{kPlanObjectAnnotation, kGang}}));
  const auto second = put("b");
  api_.settle();
  EXPECT_EQ(*second, "stored");
  EXPECT_EQ(stored(), "b");
  EXPECT_THAT(known_plans(), ElementsAre("b"));
  store_->remove(kGang);
  EXPECT_THAT(known_plans(), IsEmpty());  // before it is deleted
  api_.settle();
  EXPECT_EQ(stored(), "none");
  EXPECT_EQ(*put("c"), "");
  api_.settle();
  EXPECT_EQ(stored(), "c");
  EXPECT_THAT(unusable_, IsEmpty());
}

TEST_F(StoredPlans, AreSeenByTheNextProcess) {
  api_.settle();
  put("a");
  put("b", "team/volcano/other");
  api_.settle();
  restart();
  EXPECT_THAT(known_plans(), IsEmpty());
  api_.settle();
  std::vector<StoredPlan> seen;
  store_->each([&](const StoredPlan& plan) { seen.push_back(plan); });
  EXPECT_THAT(seen, ElementsAre(plan_of(kGang, "a"), plan_of("team/volcano/other", "b")));
  put("c");  // a replacement: it knows the version
  api_.settle();
  EXPECT_EQ(stored(), "c");
}

TEST_F(StoredPlans, OfSeveralTheLatestCounts) {
  api_.settle();
  const auto a = put("a");
  const auto b = put("b");
  const auto c = put("c");
  EXPECT_EQ(api_.waiting(), 1U);
  api_.take(0, SimulatedApi::Fate::answered);
  EXPECT_EQ(*a, "stored");
  EXPECT_EQ(*b + *c, "");
  api_.take(0, SimulatedApi::Fate::answered);
  EXPECT_EQ(*b, "stored");
  EXPECT_EQ(*c, "stored");
  EXPECT_EQ(api_.waiting(), 0U);
  EXPECT_EQ(stored(), "c");
}

TEST_F(StoredPlans, ARemovalAlsoEndsWhatWaits) {
  api_.settle();
  const auto a = put("a");
  store_->remove(kGang);
  EXPECT_EQ(*a, "unavailable");
  api_.settle();
  EXPECT_EQ(stored(), "none");
  EXPECT_THAT(known_plans(), IsEmpty());
}

TEST_F(StoredPlans, SurviveLostRequestsAndAnswers) {
  for (const auto fate : {SimulatedApi::Fate::lost_before, SimulatedApi::Fate::lost_after}) {
    api_.settle();
    const auto made = put("a");
    api_.take(0, fate);
    EXPECT_EQ(*made, "");
    pass(seconds(1));
    EXPECT_EQ(*made, "stored");
    EXPECT_EQ(stored(), "a");
    const auto replaced = put("b");
    api_.take(0, fate);
    pass(seconds(1));
    EXPECT_EQ(*replaced, "stored");
    EXPECT_EQ(stored(), "b");
    store_->remove(kGang);
    api_.take(0, fate);
    pass(seconds(1));
    EXPECT_EQ(stored(), "none");
  }
}

// It may be there although neither the answer nor the watch has told it.
TEST_F(StoredPlans, ARemovalFindsWhatALostAnswerHasMade) {
  api_.settle();
  put("a");
  api_.take(0, SimulatedApi::Fate::lost_after);
  store_->remove(kGang);
  api_.pass(seconds(1));
  while (api_.waiting() > 0) api_.take(0, SimulatedApi::Fate::answered);
  EXPECT_EQ(stored(), "none");
}

TEST_F(StoredPlans, AConflictIsReadAgain) {
  api_.settle();
  put("a");
  api_.settle();
  api_.set_config_map(plan_object_name(kGang, 1),
                      object_of(kGang, *plan_text(plan_of(kGang, "x"))));
  const auto b = put("b");  // the watch has not told the other version yet
  while (api_.waiting() > 0) api_.take(0, SimulatedApi::Fate::answered);
  EXPECT_EQ(*b, "stored");
  EXPECT_EQ(stored(), "b");
  // and what others have deleted is made again
  api_.set_config_map(plan_object_name(kGang, 1), nullptr);
  const auto c = put("c");
  while (api_.waiting() > 0) api_.take(0, SimulatedApi::Fate::answered);
  EXPECT_EQ(*c, "stored");
  EXPECT_EQ(stored(), "c");
}

TEST_F(StoredPlans, AnOverloadedServerIsAskedAgain) {
  api_.settle();
  api_.config_maps.refuse_writes = 429;
  const auto a = put("a");
  pass(ConfigMapPlans::kPatience - seconds(5));
  EXPECT_EQ(*a, "");
  pass(seconds(15));
  EXPECT_EQ(*a, "unavailable");
  api_.config_maps.refuse_writes = 0;
  pass(seconds(6));
  EXPECT_EQ(stored(), "a");  // it was still tried
}

TEST_F(StoredPlans, WithoutTheRightToListGangsGoOn) {
  api_.config_maps.refuse_lists = 403;
  restart();
  api_.settle();
  EXPECT_TRUE(store_->known());
  EXPECT_EQ(*put("a"), "stored");
  EXPECT_EQ(*put("b"), "stored");
  EXPECT_EQ(api_.waiting(), 0U);
  pass(seconds(300));
  EXPECT_THAT(unusable_, ElementsAre(HasSubstr("HTTP 403")));  // once
  EXPECT_THAT(failures_, IsEmpty());
  EXPECT_THAT(known_plans(), IsEmpty());
  put("o", "team/job/other");
  store_->remove("team/job/other");
  api_.config_maps.refuse_lists = 0;
  pass(seconds(60));
  EXPECT_EQ(stored(), "b");
  EXPECT_EQ(api_.config_maps.all.size(), 1U);
}

TEST_F(StoredPlans, WithoutTheRightToWriteGangsGoOn) {
  api_.settle();
  api_.config_maps.refuse_writes = 403;
  const auto a = put("a");
  const auto other = put("o", "team/job/other");
  api_.settle();
  EXPECT_EQ(*a, "stored");
  EXPECT_EQ(*other, "stored");
  EXPECT_EQ(*put("b"), "stored");
  EXPECT_THAT(unusable_, ElementsAre(HasSubstr("HTTP 403")));  // once
  EXPECT_THAT(known_plans(), IsEmpty());
  store_->remove("team/job/other");
  store_->remove("team/job/third");
  pass(seconds(61));  // which ends the pauses
  api_.config_maps.refuse_writes = 0;
  api_.pass(seconds(61));
  EXPECT_EQ(api_.waiting(), 1U);  // removals are not tried again
  api_.settle();
  EXPECT_EQ(stored(), "b");
}

TEST_F(StoredPlans, WhatTheServerFindsInvalidIsGivenUp) {
  api_.settle();
  api_.config_maps.refuse_writes = 422;
  const auto a = put("a");
  api_.settle();
  EXPECT_EQ(*a, "invalid_argument");
  api_.config_maps.refuse_writes = 0;
  pass(seconds(100));
  EXPECT_EQ(stored(), "none");
  StoredPlan large = plan_of(kGang, "l");
  large.slots.resize(100'000);
  Errc code{};
  store_->put(large, [&](const Result<void>& result) { code = result.error().code; });
  EXPECT_EQ(code, Errc::limit_exceeded);
}

TEST_F(StoredPlans, NothingIsSentAfterTheTerm) {
  api_.settle();
  const auto a = put("a");
  api_.take(0, SimulatedApi::Fate::lost_before);
  ++term_;
  api_.pass(seconds(10));
  EXPECT_EQ(api_.waiting(), 0U);
  EXPECT_EQ(*a, "unavailable");
  EXPECT_EQ(stored(), "none");
  put("b");  // in the next term
  api_.settle();
  EXPECT_EQ(stored(), "b");
  // a removal of a former term does not hide what is stored
  store_->remove(kGang);
  api_.take(0, SimulatedApi::Fate::lost_before);
  EXPECT_THAT(known_plans(), IsEmpty());
  ++term_;
  EXPECT_THAT(known_plans(), ElementsAre("b"));
}

TEST_F(StoredPlans, AskedForBeforeTheListTheyAreWrittenAfterIt) {
  const auto a = put("a");
  EXPECT_EQ(api_.waiting(), 0U);
  api_.settle();
  EXPECT_EQ(*a, "stored");
  put("b");
  api_.take(0, SimulatedApi::Fate::answered);
  restart();
  const auto c = put("c");
  api_.settle();
  EXPECT_EQ(*c, "stored");
  EXPECT_EQ(stored(), "c");
}

TEST_F(StoredPlans, ThatAreHostileAreSkippedAndStay) {
  const std::string name = plan_object_name(kGang, 1);
  const std::string good = *plan_text(plan_of(kGang, "a"));
  api_.set_config_map(name, object_of(kGang, "[["));
  api_.set_config_map("chipweave-gang-x", object_of(kGang, good));
  api_.set_config_map(plan_object_name("team/job/b", 1), object_of("team/job/b", good));
  api_.set_config_map("empty", Json{{"metadata", {{"labels", {{kPlanObjectLabel, "1"}}}}}});
  api_.set_config_map(plan_object_name("team/job/v", 1),
                      object_of("team/job/v", R"({"v":2,"gang":"team/job/v"})"));
  api_.settle();
  EXPECT_THAT(known_plans(), IsEmpty());
  EXPECT_EQ(unusable_.size(), 5U);
  EXPECT_THAT(unusable_, testing::Contains(HasSubstr("version 2")));
  for (int minute = 0; minute < 3; ++minute) {
    store_->sweep([](const std::string&) { return false; }, Clock::Steady(seconds(60 * minute)));
  }
  store_->remove(kGang);
  api_.settle();
  EXPECT_EQ(api_.config_maps.all.size(), 5U);
  const auto a = put("a");  // in place of the broken one
  api_.settle();
  EXPECT_EQ(*a, "stored");
  EXPECT_THAT(known_plans(), ElementsAre("a"));
  EXPECT_EQ(api_.config_maps.all.size(), 5U);
}

// As if another gang had the same hash.
TEST_F(StoredPlans, TwoGangsMayHaveOneHash) {
  const auto others = object_of("team/job/other", *plan_text(plan_of("team/job/other", "o")));
  api_.set_config_map(plan_object_name(kGang, 1), others);
  Json unlabelled = others;
  unlabelled["metadata"].erase("labels");
  api_.set_config_map(plan_object_name(kGang, 2), unlabelled);  // which the watch does not show
  api_.settle();
  const auto a = put("a");
  api_.settle();
  EXPECT_EQ(*a, "stored");
  EXPECT_EQ(stored(plan_object_name(kGang, 1)), "o");
  EXPECT_EQ(stored(plan_object_name(kGang, 2)), "o");
  EXPECT_EQ(stored(plan_object_name(kGang, 3)), "a");
  restart();
  api_.settle();
  EXPECT_THAT(known_plans(), ElementsAre("a"));
  put("b");
  api_.settle();
  EXPECT_EQ(stored(plan_object_name(kGang, 3)), "b");
  store_->remove(kGang);
  api_.settle();
  EXPECT_EQ(api_.config_maps.all.size(), 2U);
  for (int nth = 3; nth <= kMaxPlanNames; ++nth)
    api_.set_config_map(plan_object_name(kGang, nth), others);
  api_.settle();
  const auto c = put("c");
  api_.settle();
  EXPECT_EQ(*c, "limit_exceeded");
}

TEST_F(StoredPlans, OfGangsThatAreGoneAreSweptAfterAMinute) {
  api_.settle();
  put("a");
  put("o", "team/job/other");
  api_.settle();
  Clock::Steady now{};
  bool there = false;
  const auto look = [&](seconds later) {
    now += later;
    store_->sweep([&](const std::string& gang) { return there || gang != kGang; }, now);
    api_.settle();
    return stored();
  };
  EXPECT_EQ(look(seconds(0)), "a");
  EXPECT_EQ(look(seconds(30)), "a");
  there = true;  // a pod comes
  EXPECT_EQ(look(seconds(29)), "a");
  there = false;
  EXPECT_EQ(look(seconds(6)), "a");
  EXPECT_EQ(look(seconds(30)), "a");
  EXPECT_EQ(look(seconds(29)), "a");
  // While this replica does not lead, nothing is counted.
  EXPECT_EQ(look(seconds(100)), "a");
  EXPECT_EQ(look(seconds(30)), "a");
  EXPECT_EQ(look(seconds(30)), "none");
  EXPECT_THAT(known_plans(), ElementsAre("o"));
}

// Whatever is lost, and in whatever order things happen.
TEST_F(StoredPlans, EndAsTheyWereLastAskedFor) {
  const std::vector<std::string> gangs{"a/job/x", "a/job/y", "b/volcano/z"};
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&random](std::size_t n) { return random() % n; };
    std::map<std::string, std::string> wanted;  // "none": no plan; absent: anything
    std::size_t asked = 0;
    std::size_t answered = 0;
    for (int i = 0; i < 60; ++i) {
      const std::string& gang = gangs[below(gangs.size())];
      const std::string name = plan_object_name(gang, 1);
      const std::size_t what = below(12);
      if (what < 3) {
        wanted[gang] = "p" + std::to_string(i);
        ++asked;
        store_->put(plan_of(gang, wanted[gang]), [&answered](const Result<void>&) { ++answered; });
      } else if (what == 3) {
        wanted[gang] = "none";
        store_->remove(gang);
      } else if (what < 8 && api_.waiting() > 0) {
        api_.take(below(api_.waiting()), static_cast<SimulatedApi::Fate>(below(3)));
      } else if (what == 8 && api_.watches() > 0) {
        api_.feed(0, 1 + below(3));
      } else if (what == 9 && api_.watches() > 0) {
        api_.cut(0);
      } else if (what == 10) {
        api_.pass(milliseconds(below(2'000)));
      } else if (below(8) == 0) {
        wanted.clear();
        asked = answered = 0;
        restart();
      } else if (below(4) == 0) {  // a person
        wanted.erase(gang);
        const bool there = api_.config_maps.all.contains(name);
        if (there || below(2) == 0)
          api_.set_config_map(name,
                              there ? Json() : object_of(gang, *plan_text(plan_of(gang, "q"))));
      }
    }
    pass(seconds(60));
    EXPECT_EQ(answered, asked) << seed;
    for (const auto& [gang, id] : wanted) EXPECT_EQ(stored(plan_object_name(gang, 1)), id) << seed;
    std::vector<std::string> there;
    for (const auto& [name, object] : api_.config_maps.all) there.push_back(stored(name));
    EXPECT_THAT(known_plans(), testing::UnorderedElementsAreArray(there)) << seed;
    ASSERT_THAT(unusable_, IsEmpty());
    if (HasFailure()) return;
  }
}

TEST(KubernetesWithPlans, WaitsForTheirListAndSweeps) {
  KubeWorld world;
  world.kill();
  world.shared->store_gang_plans = true;
  world.api.config_maps.refuse_lists = 500;
  world.start();
  world.api.settle();
  world.tick();
  EXPECT_EQ(world.scheduler->authority().waiting_for(),
            "chipweave-scheduler is starting: waiting for the list of gang plans");
  world.api.config_maps.refuse_lists = 403;
  world.come_to_rest();
  EXPECT_EQ(world.scheduler->authority().waiting_for(), "");
  world.api.config_maps.refuse_lists = 0;
  world.kill();
  world.start();
  world.api.settle();
  world.kubernetes->plans().put(plan_of(kGang, "a"), [](const Result<void>&) {});
  world.api.settle();
  EXPECT_EQ(world.api.config_maps.all.size(), 1U);
  world.come_to_rest();  // no pod of it was ever seen
  EXPECT_EQ(world.api.config_maps.all.size(), 0U);
  world.kill();
  world.shared->store_gang_plans = false;
  world.start();
  world.kubernetes->plans().put(plan_of(kGang, "a"), [](const Result<void>&) {});
  world.api.settle();
  EXPECT_EQ(world.api.config_maps.all.size(), 0U);
}

}  // namespace
}  // namespace chipweave::sched::test

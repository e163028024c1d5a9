// kube-scheduler's own gangs: it evaluates all members, and then binds all or none of them.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <utility>
#include <vector>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Speculation : public ::testing::Test {
 protected:
  void SetUp() override { w_.add_node("n1", "hgx-v100-8"); }
  PodRequest member(const std::string& name, int chips, const std::string& gang = "ns/train") {
    PodRequest a = World::request(name, chips);
    a.gang = gang;
    return w_.submit(a);
  }
  // With one node prioritize is not called.
  void request(const PodRequest& pod) { EXPECT_EQ(w_.fit(pod), std::set<std::string>{"n1"}); }
  void pass(milliseconds time) {
    w_.clock.advance(time);
    w_.scheduler.heartbeat("n1", "boot");
    w_.scheduler.tick();
    w_.expect_sound();
  }
  World w_;
};

TEST_F(Speculation, KeepsItsReservationsAsLongAsAnyAndTogether) {
  const auto a = member("a", 2);
  const auto b = member("b", 2);
  request(a);
  pass(seconds(20));
  request(b);
  pass(seconds(20));
  request(w_.submit("alone", 1));
  pass(seconds(9));
  for (const auto& pod : {a, b}) EXPECT_EQ(w_.chips(pod).size(), 2U) << pod.key.name;
  pass(seconds(1));
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 1U) << "the attempt was dropped";
}

// Permit and volumes take their time, while kube-scheduler goes on with other pods.
TEST_F(Speculation, IsBoundAsPlannedAlthoughAnotherPodAskedInBetween) {
  const auto a = member("a", 4);
  const auto b = member("b", 4);
  request(a);
  request(b);
  const auto planned_a = w_.chips(a);
  const auto planned_b = w_.chips(b);
  const auto other = w_.submit("other", 2);
  EXPECT_TRUE(w_.fit(other).empty());
  pass(seconds(3));
  EXPECT_TRUE(w_.fit(other).empty());
  EXPECT_TRUE(w_.fit(member("x", 4, "ns/other")).empty());
  pass(seconds(2));
  ASSERT_TRUE(w_.bind(a, "n1").ok());
  pass(seconds(5));
  EXPECT_TRUE(w_.fit(other).empty());
  ASSERT_TRUE(w_.bind(b, "n1").ok());
  EXPECT_EQ(w_.chips(a), planned_a);
  EXPECT_EQ(w_.chips(b), planned_b);
  w_.expect_sound();
}

TEST_F(Speculation, WithAMemberThatFitsNowhereEndsForTheNextPod) {
  const auto a = member("a", 4);
  const auto b = member("b", 2);
  request(a);
  request(b);
  EXPECT_TRUE(w_.fit(member("c", 4)).empty()) << "a member must not take it";
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 2U) << "members are evaluated beside each other";
  const auto d = member("d", 2);
  request(d);
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 3U);
  const auto next = w_.submit("next", 8);
  request(next);
  EXPECT_EQ(w_.chips(next).size(), 8U);
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 1U);
  EXPECT_TRUE(w_.fit(a).empty()) << "reservations for others stay";
  EXPECT_FALSE(w_.bind(a, "n1").ok());
  w_.expect_sound();
}

TEST_F(Speculation, WithAMemberThatFitsNowhereEndsAfterASecond) {
  request(member("a", 4));
  EXPECT_TRUE(w_.fit(member("b", 8)).empty());
  pass(milliseconds(900));
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 1U);
  pass(milliseconds(100));
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 0U);
}

// First on its nominated node, then on all.
TEST_F(Speculation, AMemberThatFitsOnAnotherNodeFailsNothing) {
  w_.add_node("n2", "hgx-v100-8");
  const auto a = member("a", 8);
  const auto b = member("b", 8);
  const std::vector<std::string_view> first{"n1"};
  const std::vector<std::string_view> second{"n2"};
  EXPECT_EQ(fitting(w_.scheduler, a, first).size(), 1U);
  EXPECT_EQ(fitting(w_.scheduler, b, first).size(), 0U);
  EXPECT_EQ(fitting(w_.scheduler, b, second).size(), 1U);
  EXPECT_TRUE(w_.fit(w_.submit("other", 1)).empty());
  pass(seconds(20));
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 2U);
}

TEST_F(Speculation, ThatTheClusterReportsAsUnschedulableEndsForTheNextPod) {
  const auto a = member("a", 4);
  request(a);
  request(member("b", 4));
  w_.scheduler.reconciler().pod_unschedulable(w_.pod(a));
  request(w_.submit("next", 8));
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 1U);
}

// kube-scheduler finds no CPU for a third member, which it does not report, again and again.
TEST_F(Speculation, RepeatedInVainEndsForAPodThatFitsNowhere) {
  const auto a = member("a", 4);
  const auto b = member("b", 2);
  const auto small = w_.submit("small", 2);
  const auto other = w_.submit("other", 4);
  request(a);
  request(b);
  EXPECT_TRUE(w_.fit(other).empty()) << "it may be bound";
  request(a);
  request(b);
  request(small);
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 3U);
  request(other);
  EXPECT_EQ(w_.chips(a).size() + w_.chips(b).size(), 0U);
  EXPECT_TRUE(w_.fit(a).empty());
  w_.expect_sound();
}

// Of the other members kube-scheduler asks nothing, since the node has too few GPUs for them.
TEST_F(Speculation, RepeatedForOneMemberOnlyEndsForAPodThatFitsNowhere) {
  const auto a = member("a", 4);
  const auto other = w_.submit("other", 8);
  request(a);
  w_.scores(a);
  EXPECT_TRUE(w_.fit(other).empty()) << "it may be bound";
  request(a);
  request(other);
}

TEST_F(Speculation, RepeatedInVainEndsAfterASecond) {
  const auto a = member("a", 4);
  const auto b = member("b", 2);
  for (int i = 0; i < 10; ++i) {
    request(a);
    request(b);
    pass(milliseconds(900));
  }
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 2U);
  pass(milliseconds(100));
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 0U);
}

TEST_F(Speculation, InWhichMoreMembersFitThanBeforeMayBeBound) {
  const auto a = member("a", 4);
  const auto b = member("b", 4);
  const auto earlier = w_.submit("earlier", 4);
  ASSERT_TRUE(w_.bind(earlier, "n1").ok());
  for (int i = 0; i < 3; ++i) {
    request(a);
    EXPECT_TRUE(w_.fit(b).empty());
  }
  ASSERT_TRUE(w_.cluster.end(earlier.key).ok());
  request(a);
  request(b);
  const auto planned = w_.chips(b);
  pass(seconds(20));
  EXPECT_TRUE(w_.fit(w_.submit("other", 2)).empty());
  ASSERT_TRUE(w_.bind(b, "n1").ok());
  EXPECT_EQ(w_.chips(b), planned);
}

TEST_F(Speculation, MembersThatAreBoundShowThatTheAttemptSucceeded) {
  const auto a = member("a", 2);
  const auto b = member("b", 2);
  const auto c = member("c", 2);
  for (const auto& pod : {a, b, c}) request(pod);
  ASSERT_TRUE(w_.bind(a, "n1").ok());
  request(c);  // its binding failed
  EXPECT_TRUE(w_.fit(w_.submit("other", 4)).empty());
  EXPECT_EQ(w_.chips(b).size(), 2U);
  pass(seconds(29));
  ASSERT_TRUE(w_.bind(b, "n1").ok());
  ASSERT_TRUE(w_.bind(c, "n1").ok());
}

// Its members are evaluated in the same order each time, and `a` is not.
TEST_F(Speculation, MembersThatAreNotEvaluatedAgainAreBeingBound) {
  const auto a = member("a", 4);
  const auto b = member("b", 2);
  request(a);
  request(b);
  const auto planned = w_.chips(a);
  pass(seconds(2));
  request(b);
  pass(seconds(2));
  EXPECT_TRUE(w_.fit(w_.submit("other", 4)).empty());
  EXPECT_EQ(w_.chips(a), planned);
}

TEST_F(Speculation, WithANominatedMemberIsBeingBound) {
  const auto a = member("a", 4);
  const auto b = member("b", 4);
  request(a);
  request(b);
  request(a);
  request(b);
  ClusterPod nominated = w_.pod(a);
  nominated.nominated = "n1";
  w_.scheduler.reconciler().pod_nominated(nominated);
  pass(seconds(20));
  EXPECT_TRUE(w_.fit(w_.submit("other", 1)).empty());
  pass(seconds(9));
  ASSERT_TRUE(w_.bind(a, "n1").ok());
  ASSERT_TRUE(w_.bind(b, "n1").ok());
}

// The address sanitizer fails this if the evaluation keeps what the job held before.
TEST_F(Speculation, EndsForAPodOfTheSameJobOutsideOfTheGang) {
  PodRequest a = World::request("a", 4);
  a.gang = "ns/train";
  a.job = "ns/job";
  a = w_.submit(a);
  const auto b = member("b", 1);
  for (int i = 0; i < 2; ++i) {
    request(a);
    request(b);
  }
  PodRequest large = World::request("large", 6);
  large.job = "ns/job";
  large = w_.submit(large);
  request(large);
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 1U);
  EXPECT_EQ(w_.chips(large).size(), 6U);
  w_.expect_sound();
}

TEST_F(Speculation, BeginsAgainWithAMemberThatWasEvaluatedBefore) {
  const auto a = member("a", 4);
  const auto b = member("b", 4);
  const auto c = member("c", 4);
  request(a);
  request(b);
  EXPECT_TRUE(w_.fit(c).empty());
  pass(milliseconds(10));
  request(b);  // in another order, as after a change of priorities
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 1U) << "reservations of the earlier attempt are gone";
  request(a);
  request(a);
  w_.scores(a);
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 2U) << "b, which is not evaluated, may be bound";
  EXPECT_EQ(w_.chips(b).size(), 4U);
}

TEST_F(Speculation, LastsNoLongerThanAnyReservation) {
  World w;
  Scheduler hasty(w.clock, w.cluster, w.observer, {milliseconds(200), std::chrono::hours(1)});
  w.cluster.set_listener(&hasty.reconciler());
  InventoryReport r;
  r.node = "n1";
  r.boot_id = "boot";
  r.sequence = 1;
  r.topology = profile("hgx-v100-8");
  hasty.report(std::move(r));
  PodRequest a = World::request("a", 2);
  a.gang = "ns/train";
  a = w.submit(a);
  const std::vector<std::string_view> names{"n1"};
  (void)hasty.extender().filter(a, names);
  EXPECT_EQ(hasty.ledger().reserved(), 1U);
  w.clock.advance(milliseconds(200));
  hasty.tick();
  EXPECT_EQ(hasty.ledger().reserved(), 0U);
}

// A gRPC caller releases its reservation itself.
TEST_F(Speculation, DoesNotApplyToPlace) {
  const auto a = member("a", 2);
  const std::vector<std::string_view> names{"n1"};
  ASSERT_TRUE(w_.scheduler.placements().place(a, names, true).ok());
  pass(milliseconds(5000));
  EXPECT_EQ(w_.scheduler.ledger().reserved(), 1U);
}

TEST_F(Speculation, ItsMembersAreOneJobUnlessALabelNamesIt) {
  PodRequest a = World::request("a", 2);
  a.gang = "ns/train";
  EXPECT_EQ(job_identity(a), "ns/train");
  a.labels["volcano.sh/job-name"] = "mnist";
  EXPECT_NE(job_identity(a), "ns/train");
}

// kube-scheduler with three gangs and other pods. Gangs fail for reasons of its own, too; those
// that it binds, late, must get what was planned for them.
class GangWalk {
 public:
  explicit GangWalk(unsigned seed) : random_(seed) {
    for (const char* node : {"n1", "n2"}) w_.add_node(node, "hgx-v100-8");
    for (Gang& gang : gangs_) renew(gang);
  }
  void step() {
    switch (pick(6)) {
      case 0:
      case 1:
        attempt(gangs_[random_() % gangs_.size()]);
        break;
      case 2:
      case 3:
        schedule_single();
        break;
      case 4:
        end_single();
        break;
      default:
        pass();
    }
    w_.expect_sound();
  }
  int bound() const { return bound_; }

 private:
  struct Gang {
    std::vector<PodRequest> pods;
    std::vector<std::pair<std::string, std::vector<int>>> planned;  // while it is being bound
    Clock::Steady bind_at{};
    bool unpromising = false;  // it has failed although all fitted
  };
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  void renew(Gang& gang) {
    for (const PodRequest& pod : gang.pods) ASSERT_TRUE(w_.cluster.end(pod.key).ok());
    gang = {};
    const std::string name = "g" + std::to_string(++names_);
    const int members = 2 + pick(2);
    for (int i = 0; i < members; ++i) {
      PodRequest pod = World::request(name + "-" + std::to_string(i), 1 + pick(5));
      pod.gang = "ns/" + name;
      gang.pods.push_back(w_.submit(pod));
    }
  }
  // Whether a node was found. The chips are then reserved there.
  bool evaluate(const PodRequest& pod) {
    const std::size_t fit = w_.fit(pod).size();
    if (fit > 1) w_.scores(pod);
    return fit > 0;
  }
  void attempt(Gang& gang) {
    if (!gang.planned.empty()) return;
    bool fits = true;
    for (const PodRequest& pod : gang.pods) fits = evaluate(pod) && fits;
    if (!fits) return;
    if (pick(4) == 0) {
      gang.unpromising = true;
      return;
    }
    for (const PodRequest& pod : gang.pods)
      gang.planned.emplace_back(w_.node_of(pod), w_.chips(pod));
    gang.bind_at = w_.clock.now() + seconds(pick(25));
  }
  void schedule_single() {
    PodRequest pod = w_.submit("single-" + std::to_string(++names_), 1 + pick(4));
    if (evaluate(pod) && w_.bind(pod, w_.node_of(pod)).ok()) {
      singles_.push_back(pod);
    } else {
      ASSERT_TRUE(w_.cluster.end(pod.key).ok());
    }
  }
  void end_single() {
    if (singles_.empty()) return;
    ASSERT_TRUE(w_.cluster.end(singles_.back().key).ok());
    singles_.pop_back();
  }
  void pass() {
    w_.clock.advance(seconds(1 + pick(3)));
    for (const char* node : {"n1", "n2"}) w_.scheduler.heartbeat(node, "boot");
    w_.scheduler.tick();
    for (Gang& gang : gangs_) {
      if (!gang.planned.empty() && gang.bind_at <= w_.clock.now()) bind(gang);
    }
  }
  void bind(Gang& gang) {
    for (std::size_t i = 0; i < gang.pods.size(); ++i) {
      const bool ok = w_.bind(gang.pods[i], gang.planned[i].first).ok();
      if (gang.unpromising) continue;  // others may have taken its chips
      EXPECT_TRUE(ok);
      EXPECT_EQ(w_.chips(gang.pods[i]), gang.planned[i].second);
      ++bound_;
    }
    renew(gang);
  }

  std::mt19937 random_;
  World w_;
  std::array<Gang, 3> gangs_;
  std::vector<PodRequest> singles_;
  int names_ = 0;
  int bound_ = 0;
};

TEST(SpeculationWalk, GangsAreBoundAsPlanned) {
  int bound = 0;
  for (unsigned seed = 1; seed <= 20 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GangWalk walk(seed);
    for (int i = 0; i < 300 && !::testing::Test::HasFailure(); ++i) walk.step();
    bound += walk.bound();
  }
  EXPECT_GT(bound, 50);
}

}  // namespace
}  // namespace chipweave::sched::test

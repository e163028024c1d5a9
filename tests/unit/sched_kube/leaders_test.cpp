// Two replicas and one Lease: which one decides, what the other knows, and the effects of a change
// of leader.
#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler-plugin/kube/kubernetes.hpp"
#include "tests/unit/sched_kube/two_replicas.hpp"

namespace chipweave::sched::test {
namespace {

using Fate = SimulatedApi::Fate;
using std::chrono::milliseconds;
using std::chrono::seconds;

bool has_part(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Leaders : public ::testing::Test {
 protected:
  Leaders() {
    a.add_node("n1", "hgx-v100-8");
    a.add_node("n2", "hgx-v100-8");
    api.settle();
    two.pass(milliseconds(100));  // a was first
  }
  void TearDown() override {
    for (KubeWorld* each : two.all()) {
      if (each->process->paused) each->process->resume();
    }
    two.come_to_rest();
    a.expect_no_chip_twice();
    for (KubeWorld* each : two.all()) {
      if (each->scheduler) each->expect_ledger_is_the_truth();
    }
  }
  void kill_a() { a.kill(); }
  // According to the API server.
  bool bound(const std::string& name) const { return !a.pod(name).node.empty(); }
  bool labelled(const std::string& pod) const {
    const auto it = api.labelled.find(pod);
    return it != api.labelled.end() && it->second.contains(kLeaderLabel);
  }
  std::size_t sent(const std::string& end) const {
    return api.count([&](const kube::Call& call) { return call.target.ends_with(end); });
  }
  std::size_t bindings_sent() const { return sent("/binding"); }
  void take_where(const std::string& end, Fate fate) {
    const auto n = api.find([&](const kube::Call& call) { return call.target.ends_with(end); });
    ASSERT_TRUE(n.has_value()) << end;
    api.take(*n, fate);
  }

  TwoReplicas two;
  KubeWorld& a = two.a;
  KubeWorld& b = two.b;
  SimulatedApi& api = two.a.api;
};

TEST_F(Leaders, OneDecidesAndTheOtherLooksOn) {
  EXPECT_EQ(a.scheduler->authority().cannot_decide(), "");
  EXPECT_TRUE(b.scheduler->authority().cannot_decide().starts_with("standby: the leader is a_"))
      << b.scheduler->authority().cannot_decide();
  EXPECT_EQ(b.scheduler->authority().waiting_for(), "");
  EXPECT_TRUE(labelled("a"));
  EXPECT_FALSE(labelled("b"));
  a.create("p", 2);
  api.settle();
  const auto refused = b.bind("p", "n1");
  EXPECT_TRUE(refused->starts_with("standby: the leader is a_")) << *refused;
  EXPECT_EQ(api.waiting(), 0U) << "nothing was sent";
  const PodRequest request = a.request(a.pod("p"));
  const auto nodes = a.all_nodes();
  EXPECT_EQ(b.scheduler->placements().place(request, nodes, true).error().code, Errc::unavailable);
  EXPECT_EQ(b.scheduler->placements().release(request.key, request.uid).error().code,
            Errc::unavailable);
  EXPECT_EQ(b.scheduler->ledger().reserved(), 0U);
  EXPECT_TRUE(b.scheduler->placements().what_if(request, nodes).ok());
  EXPECT_TRUE(b.scheduler->placements().explain(request.key).ok());
  const auto outcome = a.bind("p", "n1");
  api.settle();
  EXPECT_EQ(*outcome, "bound");
  EXPECT_EQ(b.held("p"), a.held("p")) << "warm";
  EXPECT_TRUE(b.scheduler->placements().explain(request.key).ok());
  two.pass(seconds(2));
  api.settle();
  EXPECT_EQ(api.events, (std::vector<std::string>{"ChipsAssigned", "ChipsNotEnforced"}))
      << "reported by one replica";
}

TEST_F(Leaders, TheOtherTakesOverWhenTheLeaderIsGone) {
  a.kill();
  const auto begin = a.clock.now();
  while (!b.leads()) {
    ASSERT_LT(a.clock.now() - begin, seconds(5));
    two.pass(milliseconds(100));
  }
  EXPECT_GE(a.clock.now() - begin, seconds(2)) << "not before the leader's term is over";
  two.pass(milliseconds(100));
  EXPECT_TRUE(labelled("b"));
  EXPECT_FALSE(labelled("a")) << "removed by the next leader";
  a.create("p", 2);
  api.settle();
  const auto outcome = b.bind("p", "n1");
  api.settle();
  EXPECT_EQ(*outcome, "bound");
}

// Filtered by the old leader, bound by the new one, which has no evaluation of the pod and no
// record of who asked about it.
TEST_F(Leaders, APodIsFilteredByOneLeaderAndBoundByTheNext) {
  const std::string caller = "kube-scheduler";
  a.create("p", 4);
  a.create("plain", 0);
  api.settle();
  for (const char* name : {"p", "plain"}) {
    EXPECT_EQ(a.fit(name).size(), 2U);
    a.scheduler->bindings().answered(caller, a.request(a.pod(name)));
  }
  a.kill();
  two.pass(seconds(4));
  ASSERT_TRUE(b.leads());
  for (const char* name : {"p", "plain"}) {
    const auto refused = b.bind_as("ns", name, a.pod(name).uid, "n1", caller);
    api.settle();
    EXPECT_TRUE(has_part(*refused, "call filter first")) << name << *refused;
    b.scheduler->bindings().answered(caller, a.request(a.pod(name)));
    const auto again = b.bind_as("ns", name, a.pod(name).uid, "n1", caller);
    api.settle();
    EXPECT_EQ(*again, "bound") << "kube-scheduler's next attempt";
  }
}

// The other replica's watch has not yet delivered the leader's last binding.
TEST_F(Leaders, ANewLeaderListsTheNodesPodsFirst) {
  a.create("p", 4);
  a.create("q", 4);
  a.create("r", 4);
  api.settle();
  const auto first = a.bind("p", "n1");
  api.take(0, Fate::answered);  // the list of the node
  api.take(0, Fate::answered);
  EXPECT_EQ(*first, "bound");
  const std::vector<int> chips = KubeWorld::annotated(a.pod("p"));
  a.kill();
  two.pass(seconds(4), TwoReplicas::Watches::stalled);
  ASSERT_TRUE(b.leads());
  EXPECT_EQ(b.held("p").size(), 0U) << "its watch has not delivered it";
  const auto second = b.bind("q", "n1");
  const auto third = b.bind("r", "n1");
  EXPECT_EQ(bindings_sent(), 0U) << "the node is listed first";
  EXPECT_EQ(sent("spec.nodeName%3Dn1"), 1U) << "once";
  take_where("spec.nodeName%3Dn1", Fate::answered);
  EXPECT_EQ(b.held("p"), chips);
  EXPECT_EQ(bindings_sent(), 1U);
  api.settle();
  EXPECT_EQ(*second, "bound");
  EXPECT_TRUE(has_part(*third, "no longer fits")) << *third;
  // for the rest of the term it is not read again
  api.remove("ns/p");
  api.settle();
  const auto again = b.bind("r", "n1");
  EXPECT_EQ(bindings_sent(), 1U);
  api.settle();
  EXPECT_EQ(*again, "bound");
}

TEST_F(Leaders, WithoutAnAnswerAboutTheNodeNothingIsBound) {
  a.create("p", 4);
  api.settle();
  const auto outcome = a.bind("p", "n1");
  api.take(0, Fate::lost_before);
  EXPECT_TRUE(has_part(*outcome, "cannot list the pods of node n1")) << *outcome;
  EXPECT_EQ(a.scheduler->records().in_flight(), 0U);
  EXPECT_EQ(a.scheduler->ledger().bound(), 0U);
  const auto again = a.bind("p", "n1");
  api.settle();
  EXPECT_EQ(*again, "bound");
}

// The watch lags: it still has a deleted pod of that name.
TEST_F(Leaders, APodThatWasMadeAnewIsSeenOnItsNode) {
  a.create("p", 4);
  a.create("q", 8);
  api.settle();
  api.remove("ns/p");
  a.create("p", 2);
  api.set_node("ns/p", "n1");
  const auto outcome = a.bind("q", "n1");
  api.take(0, Fate::answered);
  EXPECT_TRUE(has_part(*outcome, "no longer fits")) << *outcome;
  EXPECT_EQ(a.scheduler->ledger().bound(), 1U);
}

// After a deletion while the list was in flight, the list may still contain the deleted pod.
TEST_F(Leaders, AListThatADeletionOvertookIsRepeated) {
  a.create("p", 4);
  a.create("q", 8);
  api.settle();
  const auto outcome = a.bind("q", "n1");
  api.remove("ns/p");
  a.feed_all();  // the deletion arrives
  a.create("p", 2);
  api.set_node("ns/p", "n1");
  api.take(0, Fate::answered);
  EXPECT_EQ(*outcome, "") << "the list may be older";
  ASSERT_EQ(api.waiting(), 1U);
  api.take(0, Fate::answered);
  EXPECT_TRUE(has_part(*outcome, "no longer fits")) << *outcome;
}

TEST_F(Leaders, AStoppedLeaderDoesNotBindWhenItGoesOn) {
  for (const bool request_first : {true, false}) {
    a.create("p", 8);
    a.create("q", 8);
    api.settle();
    ASSERT_TRUE(a.leads());
    a.process->paused = true;
    std::shared_ptr<std::string> late;
    a.process->run([&] { late = a.bind("p", "n1"); });
    two.pass(seconds(4));
    ASSERT_TRUE(b.leads());
    const auto outcome = b.bind("q", "n1");
    api.settle();
    EXPECT_EQ(*outcome, "bound");
    if (!request_first) std::reverse(a.process->held.begin(), a.process->held.end());
    a.process->resume();
    ASSERT_NE(late, nullptr);
    EXPECT_TRUE(has_part(*late, "standby: ")) << *late;
    api.settle();
    two.pass(seconds(1));
    api.settle();
    EXPECT_FALSE(bound("p"));
    EXPECT_TRUE(b.leads());
    EXPECT_TRUE(labelled("b"));
    EXPECT_FALSE(labelled("a"));
    // back to the first leader
    b.process->paused = true;
    two.pass(seconds(4));
    b.process->resume();
    two.pass(seconds(1));
    api.remove("ns/p");
    api.remove("ns/q");
    api.settle();
  }
}

// Requested while this replica led; between two attempts another one did.
TEST_F(Leaders, ABindingIsNotSentAgainInAnotherTerm) {
  a.create("p", 8);
  api.settle();
  const auto outcome = a.bind("p", "n1");
  api.take(0, Fate::answered);     // the node
  api.take(0, Fate::lost_before);  // the binding
  ASSERT_EQ(api.waiting(), 1U);    // the read of the pod itself
  a.process->cut_off = true;
  while (!b.leads()) two.pass(milliseconds(50));
  b.kubernetes->stop([] {});
  a.process->cut_off = false;
  while (!a.leads()) two.pass(milliseconds(50));
  take_where("/pods/p", Fate::answered);  // it is not bound
  EXPECT_EQ(*outcome, "");
  two.pass(milliseconds(200));
  EXPECT_EQ(bindings_sent(), 0U);
  EXPECT_TRUE(has_part(*outcome, "called off")) << *outcome;
  EXPECT_EQ(a.held("p").size(), 8U) << "uncertain";
  api.settle();
  EXPECT_FALSE(bound("p"));
  // requested again it is this term's decision, made after reading the node
  const auto again = a.bind("p", "n1");
  EXPECT_EQ(bindings_sent(), 0U);
  api.settle();
  EXPECT_EQ(*again, "bound");
  b.kill();
}

TEST_F(Leaders, AnUncertainBindingYieldsToTheNextLeader) {
  a.create("p", 8);
  a.create("q", 8);
  api.settle();
  const auto outcome = a.bind("p", "n1");
  api.take(0, Fate::answered);  // the node
  a.process->cut_off = true;
  while (!b.leads()) two.pass(milliseconds(50));
  EXPECT_FALSE(a.leads());
  take_where("/binding", Fate::lost_before);
  take_where("/pods/p", Fate::answered);  // it is not bound
  two.pass(milliseconds(200));
  EXPECT_TRUE(has_part(*outcome, "called off")) << *outcome;
  EXPECT_EQ(a.held("p").size(), 8U);
  const auto next = b.bind("q", "n1");
  api.settle();
  EXPECT_EQ(*next, "bound");
  EXPECT_EQ(a.held("q").size(), 8U) << "known, not guessed";
  EXPECT_FALSE(a.holding("q")->assumed);
  EXPECT_EQ(a.held("p").size(), 0U);
  EXPECT_EQ(a.scheduler->records().in_flight(), 0U);
}

TEST_F(Leaders, AFormerLeaderReservesNothing) {
  a.create("p", 4);
  a.create("g", 1, "nvidia.com/gpu", {{"gpu-topology", "x"}, {"gpu-topology-replica", "2"}});
  api.settle();
  EXPECT_EQ(a.fit("p").size(), 2U);
  EXPECT_EQ(a.fit("g").size(), 2U);
  const auto nodes = a.all_nodes();
  (void)a.scheduler->extender().prioritize(a.request(a.pod("p")), nodes);
  (void)a.scheduler->extender().prioritize(a.request(a.pod("g")), nodes);
  EXPECT_EQ(a.scheduler->ledger().reserved(), 3U);
  a.process->cut_off = true;
  two.pass(seconds(2) + milliseconds(100));
  EXPECT_FALSE(a.leads());
  EXPECT_EQ(a.scheduler->ledger().reserved(), 0U);
  EXPECT_EQ(a.scheduler->check_invariants(), "");
}

TEST_F(Leaders, StoppingGivesTheLeaseBack) {
  bool stopped = false;
  a.kubernetes->stop([&] { stopped = true; });
  EXPECT_TRUE(has_part(a.scheduler->authority().cannot_decide(), "shutting down"));
  two.pass(milliseconds(50));
  EXPECT_TRUE(stopped);
  EXPECT_FALSE(labelled("a"));
  two.pass(milliseconds(600));
  EXPECT_TRUE(b.leads()) << "without waiting for the Lease";
  a.kill();
}

TEST_F(Leaders, TheLeaseIsKeptWhileABindingIsUncertain) {
  a.create("p", 2);
  api.settle();
  const auto outcome = a.bind("p", "n1");
  api.take(0, Fate::answered);
  bool stopped = false;
  a.kubernetes->stop([&] { stopped = true; });
  two.pass(milliseconds(600));
  EXPECT_TRUE(stopped);
  EXPECT_FALSE(labelled("a"));
  EXPECT_FALSE(b.leads()) << "the binding may still arrive";
  a.kill();
  two.pass(seconds(3));
  EXPECT_TRUE(b.leads());
}

TEST_F(Leaders, StoppingEndsWithoutAnApiServer) {
  a.process->cut_off = true;
  bool stopped = false;
  a.kubernetes->stop([&] { stopped = true; });
  two.pass(milliseconds(400));
  EXPECT_FALSE(stopped);
  two.pass(milliseconds(200));
  EXPECT_TRUE(stopped);
  a.kill();
}

TEST_F(Leaders, WhoHasNotSeenTheClusterDoesNotLead) {
  a.kill();
  b.restart();
  two.pass(seconds(10), TwoReplicas::Watches::stalled);
  EXPECT_FALSE(b.leads());
  EXPECT_TRUE(has_part(b.scheduler->authority().cannot_decide(), "starting"));
  api.settle();
  two.pass(milliseconds(500));
  EXPECT_TRUE(b.leads());
}

// Left by an earlier process of this pod.
TEST_F(Leaders, AStandbyIsReadyWhenTheLabelIsOffItsPod) {
  b.process->cut_off = true;
  api.labelled["b"][kLeaderLabel] = "true";
  b.restart();
  api.settle();
  two.pass(seconds(1));
  EXPECT_TRUE(has_part(b.kubernetes->not_ready(), "is not off pod b yet"));
  b.process->cut_off = false;
  two.pass(seconds(4));
  EXPECT_EQ(b.kubernetes->not_ready(), "");
  EXPECT_FALSE(labelled("b"));
}

TEST_F(Leaders, TheLabelComesBackIfItIsTakenOff) {
  api.labelled["a"].erase(kLeaderLabel);
  two.pass(seconds(11));
  EXPECT_TRUE(labelled("a"));
  EXPECT_FALSE(labelled("b"));
}

// Pods that the previous leader rejected would wait for minutes: the new leader does not know which
// changes they wait for.
TEST_F(Leaders, ANewLeaderRequeuesWaitingPods) {
  a.create("p", 9);
  a.create("zero", 0);
  api.settle();
  EXPECT_TRUE(a.fit("p").empty());
  two.pass(seconds(1));
  api.settle();
  const std::size_t before = api.touched.size();
  a.kill();
  two.pass(seconds(4));
  api.settle();
  EXPECT_TRUE(b.leads());
  EXPECT_EQ(api.touched.size(), before + 1);
  two.pass(seconds(4));
  api.settle();
  EXPECT_EQ(api.touched.size(), before + 1) << "once";
}

TEST_F(Leaders, ANewLeaderRequeuesNothingIfNoPodWaits) {
  a.create("zero", 0);
  api.settle();
  a.kill();
  two.pass(seconds(4));
  api.settle();
  EXPECT_TRUE(b.leads());
  EXPECT_TRUE(api.touched.empty());
}

}  // namespace
}  // namespace chipweave::sched::test

// What the kubelet has given to pods corrects what was chosen for them.
#include "scheduler-plugin/app/kubelet_truth.hpp"

#include <gtest/gtest.h>

#include <random>

#include <nlohmann/json.hpp>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

using Chips = std::vector<int>;
using domain::GivenChips;

struct Drifts final : Observer {
  void on(const Observation& seen) override {
    if (const auto* drift = std::get_if<PodDrifted>(&seen)) all.push_back(*drift);
  }
  std::vector<PodDrifted> all;
};

// Lets something happen while a binding is in flight.
class CalledCluster final : public Cluster {
 public:
  explicit CalledCluster(MemoryCluster& cluster) : cluster_(cluster) {}
  const ClusterPod* find(const PodKey& key) const override {
    const auto at = shown.find(key);
    return at == shown.end() ? cluster_.find(key) : &at->second;
  }
  void bind(const BindOrder& order, Done done) override {
    if (before_bind) before_bind(order);
    cluster_.bind(order, std::move(done));
  }
  void hand_over(const BindOrder& order, Done done) override {
    cluster_.hand_over(order, std::move(done));
  }
  void annotate(const PodKey& key, const std::string& uid, const Annotations& annotations,
                Done done) override {
    cluster_.annotate(key, uid, annotations, std::move(done));
  }
  void ungate(const UngateOrder& order, Done done) override {
    cluster_.ungate(order, std::move(done));
  }
  void nominate(const Binding& place, Done done) override {
    cluster_.nominate(place, std::move(done));
  }
  void refresh(const PodKey& key, Done done) override { cluster_.refresh(key, std::move(done)); }
  void refresh_node(const std::string& node, Done done) override {
    cluster_.refresh_node(node, std::move(done));
  }
  Result<void> end(const PodKey& key) override { return cluster_.end(key); }
  std::size_t each_after(std::uint64_t arrival, std::size_t most,
                         const std::function<void(const ClusterPod&)>& visit) const override {
    return cluster_.each_after(arrival, most, [&](const ClusterPod& pod) {
      const auto at = shown.find(pod.request.key);
      visit(at == shown.end() ? pod : at->second);
    });
  }
  std::size_t size() const override { return cluster_.size(); }

  std::function<void(const BindOrder&)> before_bind;
  std::map<PodKey, ClusterPod> shown;  // pods that others have bound

 private:
  MemoryCluster& cluster_;
};

struct Truth : ::testing::Test {
  Truth() {
    observers.add(drifts);
    cluster.set_listener(&scheduler.reconciler());
    InventoryReport r = report();
    r.machine = "hgx-v100-8";
    r.resources = {"nvidia.com/gpu"};
    r.topology = profile("hgx-v100-8");
    scheduler.report(std::move(r));
  }
  InventoryReport report() {
    InventoryReport r;
    r.node = "n1";
    r.boot_id = "boot";
    r.sequence = ++sequence;
    return r;
  }
  // A pod that chipweave has bound.
  PodRequest bound(const std::string& name, int chips) {
    PodRequest pod = submit(name, chips);
    Result<void> outcome = make_error(Errc::internal, "no answer");
    const std::vector<std::string_view> nodes{"n1"};
    scheduler.extender().filter(pod, nodes);
    scheduler.extender().prioritize(pod, nodes);
    scheduler.bindings().bind({pod.key, pod.uid, "n1"},
                              [&](Result<void> result) { outcome = std::move(result); });
    EXPECT_TRUE(outcome) << outcome.error().text();
    return pod;
  }
  PodRequest submit(const std::string& name, int chips) {
    ClusterPod pod;
    pod.request = World::request(name, chips);
    return (*cluster.add(pod, "{}"))->request;
  }
  static GivenChips::Container container(const PodRequest& pod, const Chips& chips) {
    GivenChips::Container out;
    out.pod_uid = pod.uid;
    out.name = "main";
    out.resource = pod.resource;
    for (const int chip : chips) out.chips.push_back({chip});
    return out;
  }
  void give(std::vector<GivenChips::Container> containers) {
    std::sort(containers.begin(), containers.end());
    InventoryReport r = report();
    r.given = GivenChips{std::move(containers), 0};
    EXPECT_EQ(scheduler.report(std::move(r)), ReportOutcome::taken);
    EXPECT_EQ(scheduler.check_invariants(), "");
  }
  Chips chips(const PodRequest& pod) {
    const Holding* held = scheduler.ledger().find(pod.uid);
    return held == nullptr ? Chips{}
                           : scheduler.nodes().node(held->node).topology.indices(held->chips);
  }
  PodState state(const PodRequest& pod) {
    const PodRecord* record = scheduler.records().find(pod.uid);
    return record == nullptr ? PodState::absent : record->state;
  }

  ManualClock clock;
  MemoryCluster cluster;
  CalledCluster called{cluster};
  Drifts drifts;
  Observers observers;
  Scheduler scheduler{clock, called, observers};
  std::uint64_t sequence = 0;
};

TEST_F(Truth, AsChosenChangesNothing) {
  const PodRequest pod = bound("p", 4);
  const Chips chosen = chips(pod);
  give({container(pod, chosen)});
  EXPECT_EQ(chips(pod), chosen);
  EXPECT_TRUE(drifts.all.empty());
  const auto text = nlohmann::json::parse(scheduler.placements().explain(pod.key)->json);
  EXPECT_EQ(text["given"], chosen);
  EXPECT_FALSE(text.contains("chosen"));
}

TEST_F(Truth, OtherChipsAreCountedAndSaid) {
  const PodRequest pod = bound("p", 4);
  const Chips chosen = chips(pod);
  ASSERT_EQ(chosen, (Chips{0, 1, 2, 3}));
  give({container(pod, {0, 2, 4, 6})});
  EXPECT_EQ(chips(pod), (Chips{0, 2, 4, 6}));
  EXPECT_EQ(state(pod), PodState::bound);
  ASSERT_EQ(drifts.all.size(), 1U);
  EXPECT_EQ(drifts.all[0].uid, pod.uid);
  EXPECT_EQ(drifts.all[0].chosen, chosen);
  EXPECT_EQ(drifts.all[0].given, (Chips{0, 2, 4, 6}));
  EXPECT_EQ(drifts.all[0].chosen_gbps, 80);
  EXPECT_LT(drifts.all[0].given_gbps, 80);
  EXPECT_TRUE(drifts.all[0].leads);
  const auto text = nlohmann::json::parse(scheduler.placements().explain(pod.key)->json);
  EXPECT_EQ(text["chips"], (Chips{0, 2, 4, 6}));
  EXPECT_EQ(text["given"], (Chips{0, 2, 4, 6}));
  EXPECT_EQ(text["chosen"]["chips"], chosen);
  EXPECT_EQ(text["chosen"]["gbps"], 80);
  give({container(pod, {0, 2, 4, 6}), container(submit("other", 0), {})});
  EXPECT_EQ(drifts.all.size(), 1U) << "once";
  EXPECT_EQ(chips(bound("q", 4)), (Chips{1, 3, 5, 7})) << "what is free now";
}

TEST_F(Truth, SwappedChipsAreSwapped) {
  const PodRequest a = bound("a", 2);
  const PodRequest b = bound("b", 2);
  const Chips of_a = chips(a);
  const Chips of_b = chips(b);
  give({container(a, of_b), container(b, of_a)});
  EXPECT_EQ(chips(a), of_b);
  EXPECT_EQ(chips(b), of_a);
  EXPECT_EQ(state(a), PodState::bound);
  EXPECT_EQ(state(b), PodState::bound);
  EXPECT_EQ(drifts.all.size(), 2U);
}

TEST_F(Truth, APodWhoseChipsWentToAnotherOneWaitsForItsOwn) {
  const PodRequest a = bound("a", 2);
  const PodRequest b = bound("b", 2);
  const Chips of_a = chips(a);
  const Chips of_b = chips(b);
  give({container(a, of_b)});
  EXPECT_EQ(chips(a), of_b);
  EXPECT_EQ(state(b), PodState::disputed);
  EXPECT_EQ(chips(b).size(), 2U) << "some are set aside";
  give({container(a, of_b), container(b, of_a)});
  EXPECT_EQ(chips(b), of_a);
  EXPECT_EQ(state(b), PodState::bound);
  ASSERT_EQ(drifts.all.size(), 2U);
  EXPECT_EQ(drifts.all[1].uid, b.uid);
  EXPECT_EQ(drifts.all[1].chosen, of_b);
  EXPECT_EQ(drifts.all[1].given, of_a);
}

// The kubelet may be faster than the answer to our own request.
TEST_F(Truth, ReportedWhileTheBindingIsInFlightIsNotForgotten) {
  called.before_bind = [this](const BindOrder& order) {
    ClusterPod seen = *cluster.find(order.binding.key);
    give({container(seen.request, {6, 7})});
    const Decision& d = scheduler.records().find(order.binding.uid)->in_flight->decision;
    const Placement claimed{"n1", d.uid, d.resource, d.indices, d.gbps, d.id, d.time};
    seen.node = "n1";
    scheduler.reconciler().pod_bound(seen, &claimed);
  };
  const PodRequest pod = bound("p", 2);
  EXPECT_EQ(chips(pod), (Chips{6, 7}));
  ASSERT_EQ(drifts.all.size(), 1U);
  EXPECT_EQ(drifts.all[0].given, (Chips{6, 7}));
  EXPECT_EQ(scheduler.check_invariants(), "");
}

TEST_F(Truth, AChipThatIsGivenTwiceStaysWithItsFirstPod) {
  const PodRequest a = bound("a", 2);
  const PodRequest b = bound("b", 2);
  const Chips of_a = chips(a);
  give({container(a, of_a)});
  give({container(a, of_a), container(b, of_a)});
  EXPECT_EQ(chips(a), of_a);
  EXPECT_EQ(state(b), PodState::disputed);
}

// The kubelet gives chips of a pod that has ended, whose end is not known yet.
TEST_F(Truth, OfChipsThatAreDisputedIsToldOnceWithWhatWasChosen) {
  const PodRequest a = bound("a", 2);
  const PodRequest b = bound("b", 2);
  const Chips chosen = chips(a);
  const Chips of_b = chips(b);
  give({container(b, of_b)});
  const Chips given{chosen[0], of_b[0]};
  give({container(b, of_b), container(a, given)});
  ASSERT_EQ(drifts.all.size(), 1U);
  EXPECT_EQ(drifts.all[0].chosen, chosen);
  give({container(a, given)});
  ASSERT_TRUE(cluster.end(b.key));
  clock.advance(std::chrono::seconds(2));
  give({container(a, given)});
  EXPECT_EQ(chips(a), given);
  ASSERT_EQ(drifts.all.size(), 1U) << "once";
  const auto text = nlohmann::json::parse(scheduler.placements().explain(a.key)->json);
  EXPECT_EQ(text["chosen"]["chips"], chosen);
  EXPECT_EQ(text["given"], given);
  give({container(a, chosen)});
  EXPECT_EQ(chips(a), chosen);
  EXPECT_EQ(drifts.all.size(), 1U) << "what was chosen, after all";
}

TEST_F(Truth, OfAPodThatAnotherSchedulerBoundIsNoDrift) {
  const PodRequest pod = submit("p", 2);
  ClusterPod seen = *cluster.find(pod.key);
  seen.node = "n1";
  scheduler.reconciler().pod_bound(seen, nullptr);
  EXPECT_EQ(state(pod), PodState::assumed);
  // The cluster in memory does not learn it from others.
  EXPECT_TRUE(drifts.all.empty());
}

TEST_F(Truth, PartsOfAPodAndPartsOfChipsAreNotEnough) {
  const PodRequest pod = bound("p", 4);
  const Chips chosen = chips(pod);
  give({container(pod, {6, 7})});
  EXPECT_EQ(chips(pod), chosen) << "it is being admitted";
  GivenChips::Container parts = container(pod, {4, 5, 6, 7});
  parts.parts = true;
  give({parts});
  EXPECT_EQ(chips(pod), chosen);
  GivenChips::Container other = container(pod, {4, 5, 6, 7});
  other.resource = "example.com/other";
  give({other});
  EXPECT_EQ(chips(pod), chosen);
  GivenChips::Container another = container(pod, {4, 5, 6, 7});
  another.pod_uid = "uid-of-nobody";
  give({another});
  EXPECT_EQ(chips(pod), chosen);
  EXPECT_TRUE(drifts.all.empty());
}

TEST_F(Truth, ContainersOfAPodCountTogether) {
  const PodRequest pod = bound("p", 4);
  GivenChips::Container first = container(pod, {4, 5});
  GivenChips::Container second = container(pod, {6, 7});
  second.name = "second";
  GivenChips::Container init = container(pod, {4});
  init.name = "init";
  give({first, second, init});
  EXPECT_EQ(chips(pod), (Chips{4, 5, 6, 7}));
}

// Without a uid it may be the pod that had the name before.
TEST_F(Truth, ANameAloneCountsForPodsThatRun) {
  const PodRequest pod = bound("p", 2);
  const Chips chosen = chips(pod);
  GivenChips::Container named = container(pod, {6, 7});
  named.pod_uid.clear();
  named.ns = pod.key.ns;
  named.pod = pod.key.name;
  give({named});
  EXPECT_EQ(chips(pod), chosen);
}

TEST_F(Truth, AnAnnotationThatComesLaterDoesNotUndoIt) {
  const PodRequest pod = bound("p", 2);
  Placement claimed;
  claimed.node = "n1";
  claimed.uid = pod.uid;
  claimed.resource = pod.resource;
  claimed.chips = chips(pod);
  give({container(pod, {6, 7})});
  scheduler.reconciler().pod_bound(*cluster.find(pod.key), &claimed);
  EXPECT_EQ(chips(pod), (Chips{6, 7}));
  give({});
  scheduler.reconciler().pod_bound(*cluster.find(pod.key), &claimed);
  EXPECT_EQ(chips(pod), (Chips{6, 7})) << "a kubelet that restarts says nothing for a while";
  EXPECT_EQ(drifts.all.size(), 1U);
}

// Its agent has reported the chips before the watch delivers the binding.
TEST_F(Truth, BeforeThePodIsSeenBoundIsDriftToo) {
  const PodRequest pod = submit("p", 2);
  give({container(pod, {4, 5})});
  EXPECT_TRUE(drifts.all.empty());
  ClusterPod seen;
  seen.request = pod;
  seen.node = "n1";
  Placement claimed;
  claimed.node = "n1";
  claimed.uid = pod.uid;
  claimed.resource = pod.resource;
  claimed.chips = {0, 1};
  claimed.decision = "d-000007";
  scheduler.reconciler().pod_bound(seen, &claimed);
  EXPECT_EQ(chips(pod), (Chips{4, 5}));
  ASSERT_EQ(drifts.all.size(), 1U);
  EXPECT_EQ(drifts.all[0].chosen, (Chips{0, 1}));
  scheduler.reconciler().pod_bound(seen, &claimed);
  EXPECT_EQ(drifts.all.size(), 1U) << "once";
}

// The claim that told which chips a pod has is gone.
TEST_F(Truth, OfAClaimEndsWithIt) {
  const PodRequest pod = submit("p", 2);
  Placement allocated;
  allocated.node = "n1";
  allocated.uid = pod.uid;
  allocated.resource = pod.resource;
  allocated.chips = {4, 5};
  scheduler.reconciler().pod_allocated(allocated);
  ClusterPod seen;
  seen.request = pod;
  seen.node = "n1";
  scheduler.reconciler().pod_bound(seen, nullptr);
  EXPECT_EQ(chips(pod), (Chips{4, 5}));
  EXPECT_EQ(state(pod), PodState::bound);
  scheduler.reconciler().pod_released("another");
  EXPECT_EQ(state(pod), PodState::bound);
}

// The kubelet may speak of a former pod of that name, as of a StatefulSet's.
TEST_F(Truth, OfAClaimIsSurerThanAName) {
  const PodRequest pod = submit("p", 2);
  Placement allocated;
  allocated.node = "n1";
  allocated.uid = pod.uid;
  allocated.resource = pod.resource;
  allocated.chips = {4, 5};
  scheduler.reconciler().pod_allocated(allocated);
  ClusterPod seen;
  seen.request = pod;
  seen.node = "n1";
  seen.started = true;
  called.shown[pod.key] = seen;
  scheduler.reconciler().pod_bound(seen, nullptr);
  GivenChips::Container named = container(pod, {0, 1});
  named.pod_uid.clear();
  named.ns = pod.key.ns;
  named.pod = pod.key.name;
  give({named});
  EXPECT_EQ(chips(pod), (Chips{4, 5}));
  EXPECT_TRUE(drifts.all.empty());
  give({container(pod, {0, 1})});
  EXPECT_EQ(chips(pod), (Chips{0, 1})) << "its uid is surer than both";
}

// Whatever kubelets give to whom, in whatever order it is reported.
TEST_F(Truth, KeepsTheLedgerSound) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<PodRequest> pods;
    for (int i = 0; i < 4; ++i) {
      const int size = 1 + static_cast<int>(random() % 2);
      pods.push_back(bound("s" + std::to_string(seed) + "-" + std::to_string(i), size));
    }
    for (int step = 0; step < 6; ++step) {
      std::vector<GivenChips::Container> containers;
      for (const PodRequest& pod : pods) {
        if (random() % 3 == 0) continue;
        Chips some;
        for (int k = 0; k < pod.chips; ++k) some.push_back(static_cast<int>(random() % 8));
        std::sort(some.begin(), some.end());
        some.erase(std::unique(some.begin(), some.end()), some.end());
        containers.push_back(container(pod, some));
      }
      give(std::move(containers));
    }
    // Every set disjoint from the others: then each pod has exactly its own.
    std::vector<int> order{0, 1, 2, 3, 4, 5, 6, 7};
    std::shuffle(order.begin(), order.end(), random);
    std::vector<GivenChips::Container> containers;
    std::map<std::string, Chips> expected;
    for (const PodRequest& pod : pods) {
      Chips own(order.end() - pod.chips, order.end());
      order.resize(order.size() - static_cast<std::size_t>(pod.chips));
      std::sort(own.begin(), own.end());
      containers.push_back(container(pod, own));
      expected[pod.uid] = own;
    }
    give(std::move(containers));
    for (const PodRequest& pod : pods) {
      EXPECT_EQ(chips(pod), expected[pod.uid]) << pod.uid;
      EXPECT_EQ(state(pod), PodState::bound);
      ASSERT_TRUE(cluster.end(pod.key));
    }
    EXPECT_EQ(scheduler.check_invariants(), "");
  }
}

}  // namespace
}  // namespace chipweave::sched::test

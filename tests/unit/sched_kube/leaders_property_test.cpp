// As property_test.cpp, with two replicas that elect a leader: either may be stopped for a while,
// killed, shut down or cut off from its Lease, and both receive bind requests all the time. The one
// assumption: a binding reaches the API server within lease_duration - renew_deadline, or never.
// Invariants: no chip is in the annotations of two bound pods, the ledgers are consistent, at most
// one replica leads, and every pod answered with "bound" is bound. In the end both ledgers agree
// with the API server.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <utility>

#include "scheduler-plugin/kube/kubernetes.hpp"
#include "tests/unit/sched_kube/two_replicas.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Seeds of one test, over which the walks must have done something: in a single one the replicas
// may be stopped most of the time.
#ifdef NDEBUG
constexpr int kLeaderSteps = 6000;
constexpr unsigned kSeedsPerTest = 20;
#else
constexpr int kLeaderSteps = 1200;  // each of them checks the whole ledger several times
constexpr unsigned kSeedsPerTest = 4;
#endif

class LeaderWalk {
 public:
  // claims: chips are handed over by ResourceClaims.
  LeaderWalk(unsigned seed, bool claims) : random_(seed), claims_(claims) {
    if (claims) two_.a.shared->enforcement = domain::Enforcement::dra;
    api().binding_timeout = seconds(1);
    api().streaming_lists = seed % 2 == 0;
    two_.a.add_node("n1", "hgx-v100-8");
    two_.a.add_node("n2", "hgx-v100-8");
    two_.a.add_node("n3", "pcie-8");
  }

  void run() {
    for (int i = 0; i < kLeaderSteps && !::testing::Test::HasFailure(); ++i) {
      step();
      check(i);
    }
    for (KubeWorld* each : two_.all()) {
      heal(*each);
    }
    api().controllers = true;
    two_.come_to_rest();
    two_.a.expect_no_chip_twice();
    if (claims_) {
      expect_claims_only_of_bound_pods();
      two_.a.expect_claims_are_the_annotations(foreign_);
      EXPECT_EQ(api().pod_claims.allocated_twice(), std::vector<std::string>{});
    }
    EXPECT_NE(two_.a.leads(), two_.b.leads());
    for (KubeWorld* each : two_.all()) each->expect_ledger_is_the_truth();
  }
  int bindings() const { return bindings_; }
  int changes() const { return changes_; }
  int refusals() const { return refusals_; }

 private:
  SimulatedApi& api() { return two_.a.api; }
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  KubeWorld& some_replica() { return pick(2) == 0 ? two_.a : two_.b; }

  // Pods that others have bound may have a claim of a binding that failed.
  void expect_claims_only_of_bound_pods() {
    for (const std::string& uid : api().pod_claims.owners()) {
      const bool bound = std::any_of(api().pods.begin(), api().pods.end(), [&](const auto& one) {
        return one.second.uid == uid && !one.second.node.empty();
      });
      EXPECT_TRUE(bound) << "a claim is left of " << uid;
    }
  }

  void check(int step) {
    if (std::exchange(checked_, api().version()) != api().version()) {
      two_.a.expect_no_chip_twice();
      if (claims_) {
        auto without = foreign_;
        without.insert(lost_.begin(), lost_.end());
        two_.a.expect_claims_are_the_annotations(without);
      }
      EXPECT_EQ(api().pod_claims.allocated_twice(), std::vector<std::string>{});
    }
    const KubeWorld* leader = nullptr;
    for (KubeWorld* each : two_.all()) {
      if (!each->scheduler) continue;
      if (step % 8 == 0) {
        EXPECT_EQ(each->scheduler->check_invariants(), "") << "step " << step;
      }
      if (!each->leads()) continue;
      EXPECT_EQ(leader, nullptr) << "two lead at step " << step;
      leader = each;
    }
    if (leader != nullptr && leader != last_leader_) {
      ++changes_;
    }
    if (leader != nullptr) last_leader_ = leader;
  }

  void step() {
    // they delete the claims of pods that are gone, now or later
    if (claims_) api().controllers = pick(20) == 0;
    const int what = pick(100);
    if (what < 10) return create();
    if (what < 32) return schedule();
    if (what < 55) return network();
    if (what < 75) {
      if (api().watches() > 0) api().feed(pick(api().watches()), 1 + pick(std::size_t{8}));
      return;
    }
    if (what < 80) return end();
    if (what < 90) return two_.pass(milliseconds(1 + pick(300)), TwoReplicas::Watches::stalled);
    if (what < 92) return machine();
    if (what < 94) return pick(2) == 0 ? foreign() : lose_a_claim();
    if (what < 97) return trouble();
    replica_trouble();
  }

  std::string some_pod(bool waiting) {
    std::vector<std::string> all;
    for (const auto& [key, pod] : api().pods) {
      if (pod.node.empty() == waiting) all.push_back(key);
    }
    return all.empty() ? std::string() : all[pick(all.size())];
  }

  void create() {
    if (api().pods.size() > 24) return;
    const std::string name = "p" + std::to_string(pick(30));  // names are reused, uids never
    if (api().pods.contains("ns/" + name)) return;
    std::map<std::string, std::string> labels;
    int chips = 1 + pick(4);
    if (pick(4) == 0) labels["volcano.sh/job-name"] = "j" + std::to_string(pick(3));
    if (pick(5) == 0) {
      chips = 1;
      labels["gpu-topology"] = "g" + std::to_string(pick(2));
      labels["gpu-topology-replica"] = "2";
    }
    two_.a.create(name, pick(10) == 0 ? 0 : chips, "nvidia.com/gpu", labels);
  }

  // kube-scheduler usually calls the leader; a request to a stopped replica stays pending there.
  void schedule() {
    KubeWorld* to = &some_replica();
    if (pick(5) != 0) {
      for (KubeWorld* each : two_.all()) {
        if (each->scheduler && each->leads()) to = each;
      }
    }
    const std::string key = some_pod(true);
    if (key.empty() || !to->scheduler) return;
    const ServerPod pod = api().pods.at(key);
    const std::string blind = pick(4) == 0 ? "n" + std::to_string(1 + pick(3)) : std::string();
    to->process->run([this, to, pod, blind] { request(*to, pod, blind); });
  }

  // blind: the node to bind to without a filter request before.
  void request(KubeWorld& to, const ServerPod& pod, const std::string& blind) {
    std::string node = blind;
    if (node.empty()) {
      if (!to.leads()) {
        ++refusals_;
        return;
      }
      const auto names = to.all_nodes();
      const auto fit = fitting(*to.scheduler, to.request(pod), names);
      if (fit.empty()) return;
      const std::vector<std::string_view> left(fit.begin(), fit.end());
      node = fit[pick(fit.size())];
      if (pick(2) == 0) (void)to.scheduler->extender().prioritize(to.request(pod), left);
    }
    to.scheduler->bindings().bind(
        {{pod.ns, pod.name}, pod.uid, node}, [this, pod, node](const Result<void>& result) {
          if (!result && result.error().text().starts_with("standby: ")) ++refusals_;
          if (!result) return;
          ++bindings_;
          const auto it = api().pods.find(pod.key());
          if (it == api().pods.end() || it->second.uid != pod.uid) return;
          EXPECT_EQ(it->second.node, node) << pod.key() << " is not where it was said to be";
          if (it->second.chips > 0 && !foreign_.contains(pod.uid)) {
            EXPECT_EQ(KubeWorld::annotated(it->second).size(),
                      static_cast<std::size_t>(it->second.chips));
          }
        });
  }

  void network() {
    if (api().detached() > 0 && pick(4) == 0) return api().deliver_detached(pick(api().detached()));
    if (api().waiting() == 0) return;
    const std::size_t n = pick(api().waiting());
    switch (pick(12)) {
      case 0:
        return api().take(n, SimulatedApi::Fate::lost_before);
      case 1:
        return api().take(n, SimulatedApi::Fate::lost_after);
      case 2:
        return api().detach(n);
      default:
        return api().take(n, SimulatedApi::Fate::answered);
    }
  }

  void end() {
    const std::string key = some_pod(pick(3) == 0);
    if (!key.empty()) api().remove(key);
  }

  void machine() {
    std::map<int, domain::Health> health;
    for (int chip = 0; chip < 8; ++chip) {
      if (pick(6) == 0) health[chip] = domain::Health::unhealthy;
    }
    two_.a.add_node("n" + std::to_string(1 + pick(2)), pick(8) == 0 ? "hgx-a100-4" : "hgx-v100-8",
                    health);
  }

  void foreign() {
    if (pick(2) != 0) return;
    const std::string key = some_pod(true);
    if (key.empty()) return;
    foreign_.insert(api().pods.at(key).uid);
    api().set_node(key, "n" + std::to_string(1 + pick(4)));  // n4 has no inventory
  }

  // kube-controller-manager takes the pod for another one of that name.
  void lose_a_claim() {
    const std::string key = some_pod(false);
    if (key.empty()) return;
    const std::string& uid = api().pods.at(key).uid;
    if (api().pod_claims.find("chipweave-" + uid) == nullptr) return;
    api().remove_claim("chipweave-" + uid);
    lost_.insert(uid);
  }

  void trouble() {
    switch (pick(5)) {
      case 0:
      case 1:
      case 2:
        if (api().watches() > 0) api().cut(pick(api().watches()));
        return;
      case 3:
        return api().forget_history();
      default:
        if (pick(4) == 0) api().set_inventory("n3", "");
        if (pick(2) == 0) two_.a.add_node("n3", "pcie-8");
        return;
    }
  }

  void resume(KubeWorld& replica) {
    auto& held = replica.process->held;
    std::shuffle(held.begin(), held.end(), random_);  // sockets and timers are ready at once
    replica.process->resume();
  }

  void heal(KubeWorld& replica) {
    replica.process->cut_off = false;
    if (!replica.scheduler) replica.start();
    resume(replica);
  }

  void replica_trouble() {
    KubeWorld& replica = some_replica();
    if (pick(8) != 0) heal(&replica == &two_.a ? two_.b : two_.a);
    if (!replica.scheduler) return replica.start();
    switch (pick(8)) {
      case 0:
      case 1:
        replica.process->paused = true;

        break;
      case 2:
        return resume(replica);
      case 3:
      case 4:
        replica.process->cut_off = !replica.process->cut_off;
        break;
      case 5:
        replica.kill();

        break;
      case 6:
        if (replica.process->paused) return;
        replica.kubernetes->stop([] {});
        two_.pass(milliseconds(pick(600)), TwoReplicas::Watches::stalled);
        return replica.kill();
      default:
        return heal(replica);
    }
    // usually the other replica has taken over when this one resumes
    if (pick(3) != 0) two_.pass(milliseconds(pick(4500)), TwoReplicas::Watches::stalled);
  }

  std::mt19937 random_;
  bool claims_;
  TwoReplicas two_;
  std::set<std::string> foreign_;
  std::set<std::string> lost_;  // pods whose claims others have ended
  const KubeWorld* last_leader_ = nullptr;
  int bindings_ = 0;
  int changes_ = 0;
  int refusals_ = 0;
  std::uint64_t checked_ = 0;  // version of the API server's objects
};

class LeaderInterleavings : public ::testing::TestWithParam<std::tuple<unsigned, bool>> {};

TEST_P(LeaderInterleavings, NeverGiveAChipTwiceAndEndWithTheTruth) {
  int bindings = 0;
  int changes = 0;
  int refusals = 0;
  for (unsigned i = 0; i < kSeedsPerTest && !::testing::Test::HasFailure(); ++i) {
    const unsigned seed = std::get<0>(GetParam()) * kSeedsPerTest + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    LeaderWalk walk(seed, std::get<1>(GetParam()));
    walk.run();
    bindings += walk.bindings();
    changes += walk.changes();
    refusals += walk.refusals();
  }
  const int steps = kLeaderSteps * static_cast<int>(kSeedsPerTest);
  // a claim takes three more requests, each of which may be lost
  EXPECT_GT(bindings, steps / (std::get<1>(GetParam()) ? 1000 : 250))
      << "the random walks made no progress";
  EXPECT_GT(changes, steps / 1500) << "no replica took over";
  EXPECT_GT(refusals, steps / 250) << "no replica was on standby";
}

INSTANTIATE_TEST_SUITE_P(Blocks, LeaderInterleavings,
                         ::testing::Combine(::testing::Range(0U, 5U), ::testing::Bool()));

}  // namespace
}  // namespace chipweave::sched::test

// Two replicas allocate the claims of waiting pods and bind pods with chips, while requests are
// lost, late or doubled, watches lag, replicas are killed, stopped or lose their Lease, and
// kube-scheduler binds pods, refuses nodes, or is slow. Invariants: no device is allocated twice,
// and none that a bound pod has by its annotation. In the end every pod with claims is bound, or it
// is said why not, and nothing is left of those that are gone.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include <nlohmann/json.hpp>

#include "scheduler-plugin/kube/kubernetes.hpp"
#include "tests/unit/sched_kube/two_replicas.hpp"

namespace chipweave::sched::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Json = nlohmann::json;

// Seeds of one test, over which the walks must have done something: in a single one the replicas
// may be stopped most of the time.
constexpr unsigned kClaimSeeds = 5;
#ifdef NDEBUG
constexpr int kClaimSteps = 4000;
constexpr unsigned kClaimBlocks = 4;
#else
constexpr int kClaimSteps = 2000;
constexpr unsigned kClaimBlocks = 1;
#endif

class ClaimsWalk {
 public:
  explicit ClaimsWalk(unsigned seed) : random_(seed) {
    two_.a.shared->allocate_claims = true;
    api().binding_timeout = seconds(1);
    api().streaming_lists = seed % 2 == 0;
    for (KubeWorld* each : two_.all()) each->restart();
    api().set_class("chipweave-gpu");
    for (const char* name : {"n1", "n2"}) {
      two_.a.shared->enforcement = domain::Enforcement::none;
      two_.a.add_node(name, "hgx-v100-8");
      std::vector<std::string> ids(8);
      std::generate(ids.begin(), ids.end(),
                    [&, chip = 0]() mutable { return gpu_id(name, chip++); });
      api().set_slice(name, ids, true);
      api().create_node(name, 64);
    }
  }

  void run() {
    for (int i = 0; i < kClaimSteps && !::testing::Test::HasFailure(); ++i) {
      step();
      SCOPED_TRACE("step " + std::to_string(i));
      check(i);
    }
    if (!::testing::Test::HasFailure()) rest();
  }
  int bound() const { return bound_; }
  int refused() const { return refused_; }

 private:
  SimulatedApi& api() { return two_.a.api; }
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  void step() {
    const int what = pick(100);
    if (what < 8) return create();
    if (what < 16) return kube_scheduler();
    if (what < 20) return bind_chips();
    if (what < 50) return network();
    if (what < 72) {
      if (api().watches() > 0) api().feed(pick(api().watches()), 1 + pick(std::size_t{8}));
      return;
    }
    if (what < 76) return end();
    if (what < 94) return two_.pass(milliseconds(1 + pick(300)), TwoReplicas::Watches::stalled);
    if (what < 97) {
      if (api().watches() > 0 && pick(2) == 0) api().cut(pick(api().watches()));
      if (pick(10) == 0) api().forget_history();
      return;
    }
    replica_trouble();
  }

  void create() {
    if (api().pods.size() > 10) return;
    ServerPod pod;
    pod.ns = "ns";
    pod.name = "p" + std::to_string(++names_);
    pod.uid = "uid-" + pod.name;
    pod.priority = pick(3);
    if (pick(4) == 0) {
      pod.resource = "nvidia.com/gpu";
      pod.chips = 1 + pick(4);
    } else if (pick(4) == 0) {
      if (api().pod_claims.find("shared") == nullptr)
        api().create_claim({"shared", "chipweave-gpu", {2}, "", ""});
      pod.claims.emplace_back("s", "shared");
      if (pick(2) == 0) add_claim(pod);
    } else {
      for (int i = 1 + pick(2); i > 0; --i) add_claim(pod);
    }
    api().create(std::move(pod));
  }

  void add_claim(ServerPod& pod) {
    const std::string claim = pod.name + "-" + std::to_string(pod.claims.size());
    std::vector<int> counts{1 + pick(3)};
    if (pick(3) == 0) counts.push_back(1);
    const bool match = pick(3) == 0;
    api().create_claim(
        {claim, "chipweave-gpu", counts, match ? "chipweave.dev/nvlinkIsland" : "", pod.uid});
    pod.claims.emplace_back(claim, claim);
  }

  std::string node_of(const ServerPod& pod) {
    std::string node;
    for (const auto& [name, claim] : pod.claims) {
      const Json* stored = api().pod_claims.find(claim);
      if (stored == nullptr) return {};
      const std::string here = stored->value(
          "/status/allocation/nodeSelector/nodeSelectorTerms/0/matchFields/0/values/0"_json_pointer,
          "");
      if (here.empty() || (!node.empty() && node != here)) return {};
      node = here;
    }
    return node;
  }

  std::vector<std::string> waiting_with_claims() {
    std::vector<std::string> out;
    for (const auto& [key, pod] : api().pods) {
      if (pod.node.empty() && !pod.claims.empty()) out.push_back(key);
    }
    return out;
  }

  // Binds a pod whose claims are allocated, or ends one of these allocations.
  void kube_scheduler() {
    const auto all = waiting_with_claims();
    if (all.empty()) return;
    const ServerPod pod = api().pods.at(all[pick(all.size())]);
    const std::string node = node_of(pod);
    if (node.empty()) return;
    if (pick(3) == 0) {
      const std::string claim = pod.claims[pick(pod.claims.size())].second;
      const Json users =
          api().pod_claims.find(claim)->at("status").value("reservedFor", Json::array());
      if (users.size() > 1 || (users.size() == 1 && users[0]["uid"] != pod.uid)) return;
      ++refused_;
      return api().end_allocation(claim);
    }
    for (const auto& [name, claim] : pod.claims) api().reserve(claim, pod.uid);
    api().set_node(pod.key(), node);
    ++bound_;
  }

  void bind_chips() {
    for (KubeWorld* each : two_.all()) {
      if (!each->scheduler || each->process->paused || !each->leads()) continue;
      for (const auto& [key, pod] : api().pods) {
        if (!pod.node.empty() || pod.chips == 0) continue;
        each->scheduler->bindings().bind(
            {{pod.ns, pod.name}, pod.uid, "n" + std::to_string(1 + pick(2))},
            [](const Result<void>&) {});
        return;
      }
    }
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
    if (api().pods.empty()) return;
    auto at = api().pods.begin();
    std::advance(at, pick(static_cast<int>(api().pods.size())));
    api().remove(std::string(at->first));
  }

  void heal(KubeWorld& replica) {
    replica.process->cut_off = false;
    if (!replica.scheduler) replica.start();
    replica.process->resume();
  }

  void replica_trouble() {
    KubeWorld& replica = pick(2) == 0 ? two_.a : two_.b;
    heal(&replica == &two_.a ? two_.b : two_.a);
    if (!replica.scheduler) return replica.start();
    switch (pick(5)) {
      case 0:
        replica.process->paused = true;
        break;
      case 1:
        replica.process->cut_off = !replica.process->cut_off;
        break;
      case 2:
      case 3:
        replica.kill();
        break;
      default:
        return heal(replica);
    }
    if (pick(3) != 0) two_.pass(milliseconds(pick(4500)), TwoReplicas::Watches::stalled);
  }

  void check(int step) {
    if (step % 16 == 0) {
      for (KubeWorld* each : two_.all()) {
        if (!each->scheduler) continue;
        EXPECT_EQ(each->scheduler->check_invariants(), "");
      }
    }
    if (std::exchange(checked_, api().version()) == api().version()) return;
    EXPECT_EQ(api().pod_claims.allocated_twice(), std::vector<std::string>{});
    const auto all = api().pod_claims.allocated();
    const std::set<std::string> devices(all.begin(), all.end());
    for (const auto& [key, pod] : api().pods) {
      for (const int chip : KubeWorld::annotated(pod)) {
        EXPECT_FALSE(devices.contains(pod.node + "/gpu-" + std::to_string(chip)))
            << key << " has a chip of a claim";
      }
    }
    two_.a.expect_no_chip_twice();
  }

  void rest() {
    for (KubeWorld* each : two_.all()) heal(*each);
    two_.come_to_rest();
    // Until no pod gets its claims any more, for longer than the scheduler waits between two tries.
    for (int idle = 0; idle < 32 && !waiting_with_claims().empty(); ++idle) {
      for (const std::string& key : waiting_with_claims()) {
        const ServerPod pod = api().pods.at(key);
        const std::string node = node_of(pod);
        if (node.empty()) continue;
        for (const auto& [name, claim] : pod.claims) api().reserve(claim, pod.uid);
        api().set_node(key, node);
        idle = -1;
      }
      two_.pass(seconds(10));
      api().settle();
    }
    check(0);
    KubeWorld& leader = two_.a.leads() ? two_.a : two_.b;
    for (const std::string& key : waiting_with_claims()) {
      const PodKey pod{"ns", api().pods.at(key).name};
      const auto text = leader.scheduler->placements().explain(pod);
      ASSERT_TRUE(text.ok()) << text.error().text();
      EXPECT_NE(text->json.find("waits for its claims"), std::string::npos)
          << key << ": " << text->json;
    }
    for (const std::string& text : api().pod_claims.objects()) {
      const Json claim = Json::parse(text);
      for (const Json& one : claim["status"].value("reservedFor", Json::array())) {
        const bool there = std::any_of(api().pods.begin(), api().pods.end(),
                                       [&](const auto& p) { return p.second.uid == one["uid"]; });
        EXPECT_TRUE(there) << text;
      }
    }
    for (KubeWorld* each : two_.all()) {
      EXPECT_EQ(each->scheduler->check_invariants(), "");
      EXPECT_EQ(each->scheduler->ledger().reserved(), 0U);
    }
    expect_ledger_has_the_claims(leader);
  }

  // What is taken of each node is what claims and annotations say.
  void expect_ledger_has_the_claims(const KubeWorld& leader) {
    std::map<std::string, int> taken;
    for (const std::string& device : api().pod_claims.allocated())
      ++taken[device.substr(0, device.find('/'))];
    for (const auto& [key, pod] : api().pods) {
      if (!pod.node.empty()) taken[pod.node] += pod.chips;
    }
    const NodeTable& nodes = leader.scheduler->nodes();
    for (const char* name : {"n1", "n2"})
      EXPECT_EQ(8 - nodes.node(nodes.find(name)).free().size(), taken[name]) << name;
  }

  std::mt19937 random_;
  TwoReplicas two_;
  int names_ = 0;
  int bound_ = 0;
  int refused_ = 0;
  std::uint64_t checked_ = 0;  // version of the API server's objects
};

class ClaimInterleavings : public ::testing::TestWithParam<unsigned> {};

TEST_P(ClaimInterleavings, NeverAllocateADeviceTwiceAndLeaveNothing) {
  int bound = 0;
  int refused = 0;
  for (unsigned i = 0; i < kClaimSeeds && !::testing::Test::HasFailure(); ++i) {
    const unsigned seed = GetParam() * kClaimSeeds + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    ClaimsWalk walk(seed);
    walk.run();
    bound += walk.bound();
    refused += walk.refused();
  }
  const int steps = kClaimSteps * static_cast<int>(kClaimSeeds);
  EXPECT_GT(bound, steps / 1000) << "the random walks made no progress";
  EXPECT_GT(refused, steps / 8000) << "kube-scheduler refused no node";
}

INSTANTIATE_TEST_SUITE_P(Blocks, ClaimInterleavings, ::testing::Range(0U, kClaimBlocks));

}  // namespace
}  // namespace chipweave::sched::test

// Random interleavings of everything that can happen between schedulers that call our extender,
// schedulers that bind themselves with our admission webhook, and an API server behind a bad
// network. Invariants: no chip is in the annotations of two bound pods, the ledger is consistent,
// and every pod answered with "bound" is bound. In the end the ledger agrees with the API server.
#include <gtest/gtest.h>

#include <random>

#include "scheduler-plugin/app/annotations.hpp"
#include "tests/unit/sched_kube/kube_world.hpp"

namespace chipweave::sched::test {
namespace {

#ifdef NDEBUG
constexpr int kSteps = 5000;
#else
constexpr int kSteps = 1200;  // each of them checks the whole ledger several times
#endif

class Walk {
 public:
  explicit Walk(unsigned seed) : random_(seed), world_(seed % 2 == 0) {
    world_.options.decide_after_bind = seed % 3 == 0;
    world_.restart();
    world_.add_node("n1", "hgx-v100-8");
    world_.add_node("n2", "hgx-v100-8");
    world_.add_node("n3", "pcie-8");
  }

  void run() {
    for (int i = 0; i < kSteps && !::testing::Test::HasFailure(); ++i) {
      step();
      world_.expect_no_chip_twice();
      if (i % 8 == 0) {
        EXPECT_EQ(world_.scheduler->check_invariants(), "") << "step " << i;
      }
    }
    while (!admitted_.empty()) arrival();
    world_.come_to_rest();
    world_.expect_no_chip_twice();
    world_.expect_ledger_is_the_truth();
  }
  int bindings() const { return bindings_; }
  int admissions() const { return admissions_; }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  void step() {
    switch (pick(29)) {
      case 0:
      case 1:
        return create();
      case 2:
      case 3:
      case 4:
      case 5:
        return schedule();
      case 6:
      case 7:
      case 8:
      case 9:
      case 10:
        return network();
      case 11:
      case 12:
      case 13:
      case 14:
        if (world_.api.watches() > 0)
          world_.api.feed(pick(world_.api.watches()), 1 + pick(std::size_t{8}));
        return;
      case 15:
        return end();
      case 16:
        // now and then long enough that the outcome of a binding is checked
        return world_.pass(std::chrono::milliseconds(1 + pick(pick(8) == 0 ? 80'000 : 4'000)));
      case 17:
        return machine();
      case 18:
        return foreign();
      case 19:
      case 20:
        return session();
      case 21:
      case 22:
      case 23:
        return admission();
      case 24:
      case 25:
      case 26:
        return arrival();
      case 27:
        return told_later();
      default:
        return trouble();
    }
  }

  std::string some_pod(bool waiting) {
    std::vector<std::string> all;
    for (const auto& [key, pod] : world_.api.pods) {
      if (pod.node.empty() == waiting) all.push_back(key);
    }
    return all.empty() ? std::string() : all[pick(all.size())];
  }

  void create() {
    if (world_.api.pods.size() > 24) return;
    std::string name = "p" + std::to_string(pick(30));  // names are reused, uids never
    if (world_.api.pods.contains("ns/" + name)) return;
    std::map<std::string, std::string> labels;
    int chips = 1 + pick(4);
    if (pick(4) == 0) labels["volcano.sh/job-name"] = "j" + std::to_string(pick(3));
    if (pick(5) == 0) {
      chips = 1;
      labels["gpu-topology"] = "g" + std::to_string(pick(2));
      labels["gpu-topology-replica"] = "2";
    }
    const bool parts = pick(20) == 0;  // no node fits it, but it may be bound by hand
    world_.create(name, pick(10) == 0 ? 0 : chips,
                  parts ? "nvidia.com/gpu.shared" : "nvidia.com/gpu", labels);
  }

  // As kube-scheduler does: schedules a waiting pod, sometimes again while its binding is in
  // flight, and not always onto the node with the highest score.
  void schedule() {
    if (!world_.scheduler->authority().waiting_for().empty()) return;
    const std::string key = some_pod(true);
    if (key.empty()) return;
    const ServerPod pod = world_.api.pods.at(key);
    if (asked_.contains(pod.uid) && pick(4) != 0) return;
    const PodRequest request = world_.request(pod);
    const auto names = world_.all_nodes();
    const auto fit = fitting(*world_.scheduler, request, names);
    if (fit.empty()) return;
    std::string node(fit[pick(fit.size())]);
    if (fit.size() > 1) {
      const std::vector<std::string_view> left(fit.begin(), fit.end());
      const Evaluation& scored = world_.scheduler->extender().prioritize(request, left);
      if (pick(4) != 0) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < left.size(); ++i) {
          if (scored.score(i) > scored.score(best)) best = i;
        }
        node = left[best];
      }
    }
    asked_.insert(pod.uid);
    const int life = life_;
    world_.scheduler->bindings().bind(
        {{pod.ns, pod.name}, pod.uid, node},
        [this, key, uid = pod.uid, node, life](const Result<void>& result) {
          EXPECT_EQ(life, life_) << "an answer of a process that has ended";
          asked_.erase(uid);
          if (!result) return;
          ++bindings_;
          const auto it = world_.api.pods.find(key);
          if (it == world_.api.pods.end() || it->second.uid != uid) return;
          EXPECT_EQ(it->second.node, node) << key << " is not where it was said to be";
          if (it->second.chips > 0 && !foreign_.contains(uid)) {
            EXPECT_EQ(KubeWorld::annotated(it->second).size(),
                      static_cast<std::size_t>(it->second.chips));
          }
        });
  }

  // As Volcano does: it places pods on nodes and takes most of them back.
  void session() {
    if (!world_.scheduler->authority().waiting_for().empty()) return;
    const std::string key = some_pod(true);
    if (key.empty()) return;
    const PodRequest request = world_.request(world_.api.pods.at(key));
    const std::string node = "n" + std::to_string(1 + pick(3));
    const std::string_view name = node;
    if (pick(3) == 0) return world_.scheduler->extender().deallocate(request);
    if (world_.scheduler->extender().in_session(Verb::predicate, request, {&name, 1}).fits == 0)
      return;
    if (pick(3) != 0) static_cast<void>(world_.scheduler->extender().allocate(request, node));
  }

  // Another scheduler sends a binding, for which the API server calls our webhook.
  void admission() {
    if (admitted_.size() > 6) return;
    const std::string key = some_pod(true);
    if (key.empty()) return;
    const ServerPod pod = world_.api.pods.at(key);
    const std::string node = "n" + std::to_string(1 + pick(3));
    const int life = life_;
    const bool with_uid = pick(4) != 0;
    const bool dry_run = pick(8) == 0;
    world_.scheduler->admissions().admit(
        {{{pod.ns, pod.name}, with_uid ? pod.uid : "", node}, "", dry_run},
        [this, key, uid = pod.uid, node, life, with_uid, dry_run](const Result<Admission>& result) {
          EXPECT_EQ(life, life_) << "an answer of a process that has ended";
          if (!result || dry_run) return;
          // the API server works on a request for at most a minute
          admitted_.push_back({key, with_uid ? uid : result->uid, node, result->annotations,
                               world_.clock.now() + std::chrono::seconds(60)});
        });
  }

  // One of the admitted bindings is stored, or fails.
  void arrival() {
    if (admitted_.empty()) return;
    const auto it = admitted_.begin() + pick(static_cast<int>(admitted_.size()));
    const Admitting one = *it;
    admitted_.erase(it);
    const auto pod = world_.api.pods.find(one.key);
    if (pick(4) == 0 || one.until <= world_.clock.now()) return;
    if (pod == world_.api.pods.end() || !pod->second.node.empty()) return;
    if (!one.uid.empty() && pod->second.uid != one.uid) return;
    const bool whole = pod->second.chips > 0 && pod->second.resource == "nvidia.com/gpu";
    EXPECT_TRUE(!whole || one.notes.contains(kPlacementAnnotation))
        << one.key << " was let through without its chips";
    foreign_.insert(pod->second.uid);
    world_.api.set_node(one.key, one.node, one.notes);
    ++admissions_;
  }

  void network() {
    SimulatedApi& api = world_.api;
    if (api.detached() > 0 && pick(4) == 0) return api.deliver_detached(pick(api.detached()));
    if (api.waiting() == 0) return;
    const std::size_t n = pick(api.waiting());
    switch (pick(12)) {
      case 0:
        return api.take(n, SimulatedApi::Fate::lost_before);
      case 1:
        return api.take(n, SimulatedApi::Fate::lost_after);
      case 2:
        return api.detach(n);
      case 3:
        return api.read(n);
      default:
        return api.take(n, SimulatedApi::Fate::answered);
    }
  }

  void end() {
    const std::string key = some_pod(pick(3) == 0);
    if (!key.empty()) world_.api.remove(key);
  }

  void machine() {
    std::map<int, domain::Health> health;
    for (int chip = 0; chip < 8; ++chip) {
      if (pick(6) == 0) health[chip] = domain::Health::unhealthy;
    }
    world_.add_node("n" + std::to_string(1 + pick(2)), pick(8) == 0 ? "hgx-a100-4" : "hgx-v100-8",
                    health);
  }

  void foreign() {
    if (pick(4) != 0) return;
    const std::string key = some_pod(true);
    if (key.empty()) return;
    foreign_.insert(world_.api.pods.at(key).uid);
    if (pick(2) == 0) world_.api.set_started(key);
    world_.api.set_node(key, "n" + std::to_string(1 + pick(4)));  // n4 has no inventory
  }

  // The chips of a pod that others bound become known. It has those that we assume, or another
  // pod would have them as well.
  void told_later() {
    if (!world_.scheduler->authority().waiting_for().empty()) return;  // it does not know them all
    const std::string key = some_pod(false);
    if (key.empty()) return;
    const ServerPod& pod = world_.api.pods.at(key);
    const Holding* h = world_.scheduler->ledger().find(pod.uid);
    if (pod.annotations.contains(kPlacementAnnotation) || pod.resource != "nvidia.com/gpu" ||
        h == nullptr || !h->bound || world_.scheduler->nodes().node(h->node).name != pod.node)
      return;
    const std::vector<int> chips = world_.held(pod.name);
    if (static_cast<int>(chips.size()) != pod.chips || pod.chips == 0) return;
    std::string list;
    for (const int chip : chips)
      list += (list.empty() ? "" : ",") + std::string(R"({"index":)") + std::to_string(chip) + "}";
    const std::string uid = pod.uid;
    world_.api.annotate(key, kPlacementAnnotation,
                        R"({"v":1,"node":")" + pod.node + R"(","podUid":")" + uid +
                            R"(","resource":"nvidia.com/gpu","chips":[)" + list + "]}");
    world_.feed_all();
    h = world_.scheduler->ledger().find(uid);
    // else no watch is open, and what is assumed of the pod may change before it is known
    if (h == nullptr || !h->bound || h->assumed) restart();
  }

  void restart() {
    ++life_;
    asked_.clear();
    world_.api.drop_detached();            // the server gives up requests whose connection is gone
    while (!admitted_.empty()) arrival();  // a restart takes longer than these requests
    world_.restart();
  }

  void trouble() {
    switch (pick(6)) {
      case 0:
      case 1:
      case 2:
        if (world_.api.watches() > 0) world_.api.cut(pick(world_.api.watches()));
        return;
      case 3:
        return world_.api.forget_history();
      case 4:
        if (pick(4) == 0) world_.api.set_inventory("n3", "");
        if (pick(2) == 0) world_.add_node("n3", "pcie-8");
        return;
      default:
        if (pick(3) == 0) restart();
        return;
    }
  }

  std::mt19937 random_;
  KubeWorld world_;
  std::set<std::string> asked_;
  std::set<std::string> foreign_;
  struct Admitting {
    std::string key;
    std::string uid;
    std::string node;
    Annotations notes;
    Clock::Steady until;
  };
  std::vector<Admitting> admitted_;
  int life_ = 0;
  int bindings_ = 0;
  int admissions_ = 0;
};

class KubeInterleavings : public ::testing::TestWithParam<unsigned> {};

TEST_P(KubeInterleavings, NeverGiveAChipTwiceAndEndWithTheTruth) {
  Walk walk(GetParam());
  walk.run();
  EXPECT_GT(walk.bindings(), kSteps / 250) << "the random walk made no progress";
  EXPECT_GT(walk.admissions(), kSteps / 1000) << "the random walk made no progress";
}

INSTANTIATE_TEST_SUITE_P(Seeds, KubeInterleavings, ::testing::Range(0U, 20U));

}  // namespace
}  // namespace chipweave::sched::test

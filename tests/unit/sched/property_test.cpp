// Random interleavings of everything that can happen, checked against a simple model and the
// invariants.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

// The model: which chip of which node belongs to which bound pod.
struct Model {
  std::map<std::pair<std::string, int>, std::string> owner;

  void bind(const std::string& uid, const std::string& node, const std::vector<int>& chips) {
    for (const int chip : chips) {
      const auto [it, fresh] = owner.try_emplace({node, chip}, uid);
      EXPECT_TRUE(fresh) << "chip " << chip << " of " << node << " given to " << uid << " and "
                         << it->second;
    }
  }
  void end(const std::string& uid) {
    std::erase_if(owner, [&](const auto& entry) { return entry.second == uid; });
  }
};

class Walk {
 public:
  explicit Walk(unsigned seed) : random_(seed) {
    world_.add_node("n1", "hgx-v100-8");
    world_.add_node("n2", "hgx-v100-8");
    world_.add_node("n3", "ascend-910a-8");
    world_.add_node("n4", "pcie-8", {"nvidia.com/gpu", "aliyun.com/gpu"});
  }

  void step() {
    switch (pick(14)) {
      case 0:
      case 1:
        submit();
        break;
      case 2:
      case 3:
        filter();
        break;
      case 4:
        prioritize();
        break;
      case 5:
      case 6:
        bind();
        break;
      case 7:
        end();
        break;
      case 8:
        world_.clock.advance(std::chrono::seconds(pick(12)));
        world_.scheduler.tick();
        keep_alive();
        break;
      case 9:
        health();
        break;
      case 10:
        reserve();
        break;
      case 11:
        status();
        break;
      case 12:
        preempt();
        break;
      default:
        machine();
        break;
    }
    check();
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string some_node() { return "n" + std::to_string(1 + pick(4)); }
  PodRequest* some_pod() {
    return pods_.empty() ? nullptr
                         : &pods_[static_cast<std::size_t>(pick(static_cast<int>(pods_.size())))];
  }

  void keep_alive() {
    for (const char* n : {"n1", "n2", "n3", "n4"}) world_.scheduler.heartbeat(n, "boot");
  }

  void submit() {
    if (pods_.size() > 20) return;
    // names are reused, as by a controller's pods; uids never
    std::string name = "p" + std::to_string(pick(30));
    for (const PodRequest& there : pods_) {
      if (there.key.name == name) name = "q" + std::to_string(++count_);
    }
    PodRequest a =
        World::request(name, 1 + pick(4), pick(4) == 0 ? "huawei.com/Ascend910" : "nvidia.com/gpu");
    if (pick(3) == 0) a.labels["volcano.sh/job-name"] = "job" + std::to_string(pick(3));
    if (pick(3) == 0) a.gang = "ns/gang" + std::to_string(pick(2));
    if (pick(3) == 0) {
      const int group = pick(3);
      a.chips = 1 + group % 2;
      a.resource = "nvidia.com/gpu";
      if (pick(5) == 0) a.chips = 1 + pick(4);  // not like its siblings
      a.group = GroupRef{"g" + std::to_string(group), 2 + group};
      a.labels["gpu-topology"] = a.group->name;
    }
    a.uid = "uid-" + std::to_string(++count_);
    pods_.push_back(world_.submit(a, pick(3)));
  }

  // As a caller may send it, which is not always what the cluster knows.
  PodRequest as_requested(const PodRequest& a) {
    PodRequest out = a;
    if (pick(8) == 0) out.chips = 1 + pick(8);
    return out;
  }

  // Half of the machine is not reported for a while.
  void machine() {
    world_.add_node("n1", pick(2) == 0 ? "hgx-v100-8" : "hgx-a100-4");
    world_.add_node("n4", pick(2) == 0 ? "pcie-8" : "hgx-a100-4",
                    {"nvidia.com/gpu", "aliyun.com/gpu"});
  }

  std::vector<std::string_view> some_nodes() {
    std::vector<std::string_view> out;
    for (const auto n : world_.all()) {
      if (pick(3) != 0) out.push_back(n);
    }
    return out;
  }

  void filter() {
    if (PodRequest* a = some_pod()) {
      const auto nodes = some_nodes();
      const PodRequest asked = as_requested(*a);
      const auto first = fitting(world_.scheduler, asked, nodes);
      const auto second = fitting(world_.scheduler, asked, nodes);
      // of a gang it begins another attempt
      if (a->gang.empty()) {
        EXPECT_EQ(second, first) << "same input, different answers";
      }
    }
  }
  void prioritize() {
    if (PodRequest* a = some_pod()) {
      const auto nodes = some_nodes();
      int tens = 0;
      const Evaluation& scored = world_.scheduler.extender().prioritize(as_requested(*a), nodes);
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        EXPECT_GE(scored.score(i), 0);
        EXPECT_LE(scored.score(i), 10);
        tens += scored.score(i) == 10 ? 1 : 0;
      }
      EXPECT_LE(tens, 1);
    }
  }
  void reserve() {
    PodRequest* a = some_pod();
    if (a == nullptr) return;
    const std::string node = some_node();
    const auto got = world_.scheduler.placements().reserve(as_requested(*a), node);
    if (!got) return;
    EXPECT_TRUE(world_.pod(*a).node.empty());
    EXPECT_EQ(got->node, node);
    EXPECT_EQ(world_.node_of(*a), node);
    EXPECT_EQ(world_.chips(*a), got->chips);
    EXPECT_EQ(got->chips.size(), static_cast<std::size_t>(a->chips));
    EXPECT_EQ(got->lifetime, limits::kReservationTtl);
    world_.clock.advance(std::chrono::seconds(pick(3)));
    const auto again = world_.scheduler.placements().reserve(*a, node);
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(again->chips, got->chips);
    EXPECT_EQ(again->gbps, got->gbps);
    EXPECT_EQ(again->best_gbps, got->best_gbps);
    keep_alive();
  }
  void bind() {
    PodRequest* a = some_pod();
    if (a == nullptr) return;
    const std::string node = some_node();
    const bool was_bound = !world_.pod(*a).node.empty();
    if (world_.bind(*a, node).ok() && !was_bound) {
      EXPECT_EQ(world_.chips(*a).size(), static_cast<std::size_t>(a->chips));
      EXPECT_EQ(world_.node_of(*a), node);
      model_.bind(a->uid, node, world_.chips(*a));
    }
  }
  void end() {
    if (pods_.empty()) return;
    const auto i = static_cast<std::ptrdiff_t>(pick(static_cast<int>(pods_.size())));
    const PodRequest gone = pods_[static_cast<std::size_t>(i)];
    pods_.erase(pods_.begin() + i);
    ASSERT_TRUE(world_.cluster.end(gone.key).ok());
    model_.end(gone.uid);
  }
  // kube-scheduler could not place the pod, or expects it on a node later, or no more.
  void status() {
    const PodRequest* a = some_pod();
    if (a == nullptr || !world_.pod(*a).node.empty()) return;
    ClusterPod pod = world_.pod(*a);
    if (pick(3) == 0) return world_.scheduler.reconciler().pod_unschedulable(pod);
    if (pick(3) != 0) pod.nominated = some_node();
    world_.scheduler.reconciler().pod_nominated(pod);
  }
  void preempt() {
    const PodRequest* a = some_pod();
    if (a == nullptr || !world_.pod(*a).node.empty()) return;
    ClusterPod pod = world_.pod(*a);
    pod.nominated = some_node();
    const std::vector<ProposedVictims> nodes{{pod.nominated, {}}};
    const auto victims = world_.scheduler.preemption().choose_victims(*a, pod.priority, nodes);
    if (victims[0].empty()) return;
    world_.scheduler.nominations().proposed(a->uid, {{pod.nominated, victims[0]}});
    world_.scheduler.reconciler().pod_nominated(pod);
  }
  void health() {
    const auto health =
        pick(3) == 0 ? domain::Health::unhealthy
                     : (pick(4) == 0 ? domain::Health::network_unhealthy : domain::Health::healthy);
    world_.set_health(some_node(), pick(8), health);
  }

  void check() {
    world_.expect_sound();
    std::size_t bound = 0;
    for (const auto& [chip, uid] : model_.owner) {
      const Holding* h = world_.scheduler.ledger().find(uid);
      ASSERT_NE(h, nullptr);
      const Node& node = world_.scheduler.nodes().node(h->node);
      EXPECT_EQ(node.name, chip.first);
      const auto slot = node.topology.slot_of({chip.second});
      EXPECT_TRUE(h->bound && (slot ? h->chips.contains(*slot)
                                    : std::count(h->unreported.begin(), h->unreported.end(),
                                                 chip.second) == 1));
      ++bound;
    }
    std::size_t held = 0;
    for (const PodRequest& a : pods_) {
      const Holding* h = world_.scheduler.ledger().find(a.uid);
      if (h != nullptr && h->bound)
        held += static_cast<std::size_t>(h->chips.size()) + h->unreported.size();
      explain_sometimes(a);
    }
    EXPECT_EQ(bound, held);
  }

  void explain_sometimes(const PodRequest& a) {
    if (pick(40) == 0) {
      EXPECT_TRUE(world_.scheduler.placements().explain(a.key).ok());
    }
  }

  std::mt19937 random_;
  World world_;
  Model model_;
  std::vector<PodRequest> pods_;
  int count_ = 0;
};

class Interleavings : public ::testing::TestWithParam<unsigned> {};

TEST_P(Interleavings, NeverGiveAChipTwice) {
  Walk walk(GetParam());
  for (int i = 0; i < 400 && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(GetParam()) + " step " + std::to_string(i));
    walk.step();
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, Interleavings, ::testing::Range(1U, 21U));

}  // namespace
}  // namespace chipweave::sched::test

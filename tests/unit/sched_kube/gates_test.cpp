// Scheduling gates of waiting pods: what is known of them, and how ours is removed.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/kube/gang_gate.hpp"
#include "scheduler-plugin/kube/kube_cluster.hpp"
#include "scheduler-plugin/state/leadership.hpp"
#include "tests/unit/sched_kube/simulated_api.hpp"

namespace chipweave::sched::test {
namespace {

using Names = std::vector<std::string>;

struct GateListener final : ClusterListener {
  void pod_added(const ClusterPod& /*pod*/, const Placement* /*claimed*/) override {}
  void pod_bound(const ClusterPod& /*pod*/, const Placement* /*claimed*/) override {}
  void pod_allocated(const Placement& /*allocated*/) override {}
  void pod_released(const std::string& /*uid*/) override {}
  void pod_marked(const ClusterPod& /*pod*/) override {}
  void pod_nominated(const ClusterPod& /*pod*/) override {}
  void pod_unschedulable(const ClusterPod& /*pod*/) override {}
  void pod_gates_changed(const ClusterPod& pod) override {
    changes.push_back(pod.request.key.name + (pod.gated ? " gated" : "") +
                      (pod.foreign_gates ? " foreign" : ""));
  }
  void pod_gone(const ClusterPod& /*pod*/) override {}
  void node_use_changed(const std::string& /*node*/, const NodeUse& /*change*/) override {}
  Names changes;
};

struct GateLeadership final : Leadership {
  std::string standby() const override { return leads ? "" : "another replica leads"; }
  std::uint64_t term() const override { return 1; }
  bool leads = true;
};

class Gates : public ::testing::Test {
 protected:
  void SetUp() override {
    cluster_.set_listener(&listener_);
    cluster_.set_leadership(&leadership_);
    cluster_.start();
    api_.settle();
  }
  void create(const std::string& name, Names gates, const std::string& gang = {}) {
    ServerPod pod;
    pod.ns = "ns";
    pod.name = name;
    pod.uid = "uid-" + name;
    pod.resource = "nvidia.com/gpu";
    pod.chips = 8;
    pod.gates = std::move(gates);
    if (!gang.empty()) pod.labels["chipweave.dev/gang"] = gang;
    api_.create(std::move(pod));
    api_.settle();
  }
  // "gated foreign"
  std::string gates_of(const std::string& name) const {
    const ClusterPod* pod = cluster_.find({"ns", name});
    if (pod == nullptr) return "unknown";
    return std::string(pod->gated ? "gated" : "") + (pod->foreign_gates ? " foreign" : "");
  }
  void ungate(const std::string& name, std::optional<std::string> pin_to = {}) {
    outcome_.clear();
    cluster_.ungate({{"ns", name}, "uid-" + name, {{"chipweave.dev/rank", "3"}}, std::move(pin_to)},
                    [this](const Result<void>& result) {
                      outcome_ = result ? "done" : std::string(to_string(result.error().code));
                    });
  }
  // Where it may run, as the cluster knows it.
  std::shared_ptr<const domain::NodeWishes> nodes_of(const std::string& name) const {
    return cluster_.find({"ns", name})->nodes;
  }
  const ServerPod& stored(const std::string& name) const { return api_.pods.at("ns/" + name); }

  SimulatedApi api_;
  std::shared_ptr<SimulatedProcess> process_ = std::make_shared<SimulatedProcess>();
  std::unique_ptr<kube::Transport> wire_ = api_.connect(process_);
  ResourceTable resources_;
  GateListener listener_;
  GateLeadership leadership_;
  KubeCluster cluster_{
      *wire_, resources_, {[] {}, [](const kube::WatchFailure&) {}}, [] { return 0.0; }};
  std::string outcome_;
};

TEST_F(Gates, OfWaitingPodsAreKnownAndTheirEndIsReported) {
  create("none", {});
  create("ours", {kGangGate});
  create("both", {"kueue.x-k8s.io/admission", kGangGate});
  EXPECT_EQ(gates_of("none"), "");
  EXPECT_EQ(gates_of("ours"), "gated");
  EXPECT_EQ(gates_of("both"), "gated foreign");
  EXPECT_EQ(listener_.changes, Names{});
  api_.remove_gate("ns/both", "kueue.x-k8s.io/admission");
  api_.remove_gate("ns/ours", kGangGate);
  api_.annotate("ns/both", "somebody", "wrote this");
  api_.settle();
  EXPECT_EQ(gates_of("both"), "gated");
  EXPECT_EQ(gates_of("ours"), "");
  EXPECT_EQ(listener_.changes, (Names{"both gated", "ours"}));
}

TEST_F(Gates, OfABoundPodAreGone) {
  create("a", {kGangGate, "other"});
  api_.pods.at("ns/a").gates.clear();
  api_.set_node("ns/a", "n1");
  api_.settle();
  EXPECT_EQ(gates_of("a"), "");
}

TEST_F(Gates, OursIsRemovedWithAnnotationsAndPin) {
  create("a", {kGangGate, "other"});
  ungate("a", "n1");
  ASSERT_EQ(api_.waiting(), 1U) << "one request";
  api_.take(0, SimulatedApi::Fate::answered);
  EXPECT_EQ(outcome_, "done");
  EXPECT_EQ(gates_of("a"), " foreign") << "before the watch shows it";
  api_.settle();
  EXPECT_EQ(stored("a").gates, Names{"other"});
  EXPECT_EQ(stored("a").annotations.at("chipweave.dev/rank"), "3");
  EXPECT_EQ(stored("a").pinned_to, "n1");
  EXPECT_EQ(listener_.changes, Names{}) << "the scheduler did it itself";
}

TEST_F(Gates, OfOthersMayEndWithANodeSelector) {
  create("g-0", {"kueue.x-k8s.io/admission", kGangGate}, "g");
  EXPECT_EQ(nodes_of("g-0"), nullptr);
  api_.pods.at("ns/g-0").node_selector["flavor"] = "a";
  api_.remove_gate("ns/g-0", "kueue.x-k8s.io/admission");
  api_.settle();
  ASSERT_NE(nodes_of("g-0"), nullptr);
  EXPECT_EQ(nodes_of("g-0")->selector.at("flavor"), "a");
  api_.pods.at("ns/g-0").gates.clear();
  api_.set_node("ns/g-0", "n1");
  api_.settle();
  EXPECT_EQ(nodes_of("g-0"), nullptr) << "it is where it is";
}

TEST_F(Gates, OnlyOfGangsItIsKnownWherePodsMayRun) {
  create("alone", {}, "");
  api_.pods.at("ns/alone").node_selector["flavor"] = "a";
  api_.annotate("ns/alone", "somebody", "wrote this");
  api_.settle();
  EXPECT_EQ(nodes_of("alone"), nullptr);
}

// They cost as much for each node, and any user may make such pods.
TEST_F(Gates, PodsThatSayTooMuchAboutNodesSayNothing) {
  create("g-0", {kGangGate}, "g");
  ServerPod& pod = api_.pods.at("ns/g-0");
  for (std::size_t i = 0; i < kMaxWishes; ++i) pod.node_selector["k" + std::to_string(i)] = "v";
  api_.annotate("ns/g-0", "somebody", "wrote this");
  api_.settle();
  EXPECT_NE(nodes_of("g-0"), nullptr);
  pod.node_selector["one-more"] = "v";
  api_.annotate("ns/g-0", "somebody", "wrote that");
  api_.settle();
  EXPECT_EQ(nodes_of("g-0"), nullptr);
}

// A replacement may get another node.
TEST_F(Gates, APinOfOursIsNotWhatThePodWishes) {
  create("g-0", {kGangGate}, "g");
  cluster_.ungate({{"ns", "g-0"}, "uid-g-0", {{kGangPlanAnnotation, "{}"}}, "n1"},
                  [](const Result<void>&) {});
  api_.settle();
  ASSERT_EQ(stored("g-0").pinned_to, "n1");
  api_.annotate("ns/g-0", "somebody", "wrote this");
  api_.settle();
  ASSERT_NE(nodes_of("g-0"), nullptr);
  EXPECT_FALSE(nodes_of("g-0")->has_required);
  create("g-1", {}, "g");
  api_.pods.at("ns/g-1").pinned_to = "n2";
  api_.annotate("ns/g-1", "somebody", "wrote this");
  api_.settle();
  ASSERT_NE(nodes_of("g-1"), nullptr);
  EXPECT_TRUE(nodes_of("g-1")->has_required) << "not ours";
}

// The watch may deliver a version from before.
TEST_F(Gates, DoNotComeBack) {
  create("a", {kGangGate});
  ungate("a");
  api_.annotate("ns/a", "somebody", "wrote this");
  api_.take(0, SimulatedApi::Fate::answered);
  ASSERT_EQ(gates_of("a"), "");
  api_.feed(0, 1);
  EXPECT_EQ(gates_of("a"), "");
  api_.settle();
  EXPECT_EQ(listener_.changes, Names{});
}

TEST_F(Gates, APodThatLostItsGateIsDone) {
  create("a", {});
  ungate("a");
  api_.settle();
  EXPECT_EQ(outcome_, "done");
  EXPECT_EQ(stored("a").annotations.at("chipweave.dev/rank"), "3");
  ungate("a", "n1");
  api_.settle();
  EXPECT_EQ(outcome_, "done") << "nobody can pin it any more";
  EXPECT_EQ(stored("a").pinned_to, "");
}

TEST_F(Gates, OfAnotherPodOfThatNameStay) {
  create("a", {kGangGate});
  ungate("a");
  api_.pods.at("ns/a").uid = "uid-of-the-next";
  api_.settle();
  EXPECT_EQ(outcome_, "conflict");
  EXPECT_EQ(stored("a").gates, Names{kGangGate});
  ungate("nobody");
  api_.settle();
  EXPECT_EQ(outcome_, "not_found");
}

TEST_F(Gates, AreNotRemovedByAReplicaThatDoesNotLeadAnyMore) {
  create("a", {kGangGate});
  leadership_.leads = false;
  ungate("a");
  api_.pass(SimulatedApi::Milliseconds(1));
  api_.settle();
  EXPECT_EQ(outcome_, "not_sent");
  EXPECT_EQ(gates_of("a"), "gated");
  EXPECT_EQ(stored("a").gates, Names{kGangGate});
}

TEST_F(Gates, ALostAnswerIsAskedForAgain) {
  create("a", {kGangGate});
  ungate("a");
  api_.take(0, SimulatedApi::Fate::lost_after);
  EXPECT_EQ(stored("a").gates, Names{});
  for (int i = 0; i < 40 && outcome_.empty(); ++i) {
    api_.pass(SimulatedApi::Milliseconds(500));
    api_.settle();
  }
  EXPECT_EQ(outcome_, "done");
}

TEST_F(Gates, KeepAPodFromBeingBound) {
  create("a", {kGangGate});
  std::string result;
  cluster_.bind({{{"ns", "a"}, "uid-a", "n1"}, {}, {}}, [&](const Result<void>& bound) {
    result = bound ? "bound" : std::string(to_string(bound.error().code));
  });
  api_.settle();
  EXPECT_EQ(result, "conflict");
  EXPECT_EQ(gates_of("a"), "gated");
}

}  // namespace
}  // namespace chipweave::sched::test

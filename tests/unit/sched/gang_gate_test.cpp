// Which pods wait for their gang behind a scheduling gate, and how a cluster in memory lets them
// go.
#include "scheduler-plugin/kube/gang_gate.hpp"

#include <gtest/gtest.h>

#include "scheduler-plugin/state/memory_cluster.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {
namespace {

codec::KubePod member(const std::string& chips) {
  codec::KubePod pod;
  pod.ns = "ns";
  pod.name = "w-0";
  pod.labels["chipweave.dev/gang"] = "train";
  codec::KubeContainer container;
  container.name = "main";
  container.limits["nvidia.com/gpu"] = chips;
  pod.containers.push_back(container);
  return pod;
}

bool gates(const codec::KubePod& pod, const GateOptions& options = {}) {
  return wants_gate(pod, ResourceTable{}, options);
}

TEST(WantsGate, MembersOfGangsThatRequestWholeChips) {
  EXPECT_TRUE(gates(member("8")));
  EXPECT_FALSE(gates(member("0")));
  codec::KubePod alone = member("8");
  alone.labels.clear();
  EXPECT_FALSE(gates(alone));
  codec::KubePod parts = member("1");
  parts.containers[0].limits = {{"nvidia.com/gpu.shared", "1"}};
  EXPECT_FALSE(gates(parts)) << "chipweave refuses it";
}

TEST(WantsGate, NotPodsThatAreGatedOrHaveTheirNode) {
  codec::KubePod of_daemon_set = member("8");
  of_daemon_set.node_name = "n1";
  EXPECT_FALSE(gates(of_daemon_set));
  codec::KubePod gated = member("8");
  gated.gates = {"kueue.x-k8s.io/admission"};
  EXPECT_TRUE(gates(gated)) << "beside the gate of another";
  gated.gates.emplace_back(kGangGate);
  EXPECT_FALSE(gates(gated));
}

TEST(WantsGate, OnlyOfTheseFrameworks) {
  codec::KubePod job = member("8");
  job.labels = {{"batch.kubernetes.io/job-name", "j"}};
  EXPECT_FALSE(gates(job)) << "how many there are is in the Job";
  EXPECT_TRUE(gates(job, {{"job"}, false}));
  EXPECT_FALSE(gates(member("8"), {{"job"}, false}));
  EXPECT_FALSE(gates(member("8"), {{}, false}));
  codec::KubePod ack = member("8");
  ack.labels = {{"gpu-topology", "g"}, {"gpu-topology-replica", "2"}};
  EXPECT_FALSE(gates(ack));
}

class MemoryGates : public ::testing::Test {
 protected:
  void add(bool foreign_gates = false) {
    ClusterPod pod;
    pod.request = World::request("a", 1);
    pod.gated = true;
    pod.foreign_gates = foreign_gates;
    key_ = pod.request.key;
    uid_ = pod.request.uid;
    ASSERT_TRUE(cluster_.add(pod, "{}").ok());
  }
  std::string ungate(const std::string& uid, std::optional<std::string> pin_to = {}) {
    std::string outcome;
    cluster_.ungate({key_, uid, {{"chipweave.dev/rank", "3"}}, std::move(pin_to)},
                    [&](const Result<void>& result) {
                      outcome = result ? "done" : std::string(to_string(result.error().code));
                    });
    return outcome;
  }
  std::string bind() {
    std::string outcome;
    cluster_.bind({{key_, uid_, "n1"}, {{"k", "v"}}, {}}, [&](const Result<void>& result) {
      outcome = result ? "bound" : result.error().text();
    });
    return outcome;
  }
  MemoryCluster cluster_;
  PodKey key_;
  std::string uid_;
};

TEST_F(MemoryGates, HoldAPodBackUntilItIsUngated) {
  add();
  EXPECT_EQ(bind(), "pod " + key_.text() + " has scheduling gates");
  EXPECT_EQ(ungate("another"), "conflict");
  EXPECT_EQ(ungate(uid_, "n1"), "done");
  EXPECT_FALSE(cluster_.find(key_)->gated);
  EXPECT_TRUE(cluster_.ungated(key_).done);
  EXPECT_EQ(cluster_.ungated(key_).pinned_to, "n1");
  EXPECT_EQ(ungate(uid_, "n2"), "done");
  EXPECT_EQ(cluster_.ungated(key_).pinned_to, "n1") << "only the first may pin it";
  EXPECT_EQ(bind(), "bound");
  EXPECT_EQ(cluster_.written(key_), (Annotations{{"chipweave.dev/rank", "3"}, {"k", "v"}}));
}

TEST_F(MemoryGates, OfOthersStay) {
  add(true);
  EXPECT_EQ(ungate(uid_), "done");
  EXPECT_TRUE(cluster_.find(key_)->foreign_gates);
  EXPECT_NE(bind(), "bound");
  ASSERT_TRUE(cluster_.end(key_).ok());
  EXPECT_EQ(ungate(uid_), "not_found");
}

}  // namespace
}  // namespace chipweave::sched::test

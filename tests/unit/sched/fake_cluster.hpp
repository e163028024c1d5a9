// FakeCluster — a cluster without a server, for tests of single classes: it keeps each request,
// and the test answers it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduler-plugin/app/observer.hpp"
#include "scheduler-plugin/app/use_case.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {

class FakeCluster final : public Cluster {
 public:
  struct Question {
    Binding binding;
    Annotations annotations;
    Done done;
    std::optional<ClaimOrder> claim{};
  };

  struct Ungating {
    UngateOrder order;
    Done done;
  };

  const ClusterPod* find(const PodKey& key) const override {
    const auto it = pods.find(key);
    return it == pods.end() ? nullptr : &it->second;
  }
  void bind(const BindOrder& order, Done done) override {
    bindings.push_back({order.binding, order.annotations, std::move(done), order.claim});
  }
  void hand_over(const BindOrder& /*order*/, Done done) override {
    done(make_error(Errc::unsupported, "a fake"));
  }
  void annotate(const PodKey& key, const std::string& uid, const Annotations& annotations,
                Done done) override {
    annotated.push_back({{key, uid, ""}, annotations, std::move(done)});
  }
  void ungate(const UngateOrder& order, Done done) override {
    ungated.push_back({order, std::move(done)});
  }
  void nominate(const Binding& place, Done done) override {
    nominated.push_back({place, {}, std::move(done)});
  }
  void refresh(const PodKey& key, Done done) override {
    refreshed.push_back(key);
    done({});
  }
  void refresh_node(const std::string& /*node*/, Done done) override { done({}); }
  Result<void> end(const PodKey& /*key*/) override {
    return make_error(Errc::unsupported, "a fake");
  }
  std::size_t each_after(std::uint64_t /*arrival*/, std::size_t /*most*/,
                         const std::function<void(const ClusterPod&)>& visit) const override {
    for (const auto& [key, pod] : pods) visit(pod);
    return pods.size();
  }
  std::size_t size() const override { return pods.size(); }

  std::map<PodKey, ClusterPod> pods;
  std::vector<Question> bindings;
  std::vector<Question> annotated;
  std::vector<Ungating> ungated;
  std::vector<Question> nominated;
  std::vector<PodKey> refreshed;
};

class KeepingObserver final : public Observer {
 public:
  void on(const Observation& one) override { seen.push_back(one); }
  template <class Kind>
  std::size_t count() const {
    std::size_t found = 0;
    for (const Observation& one : seen) found += std::holds_alternative<Kind>(one) ? 1 : 0;
    return found;
  }
  std::vector<Observation> seen;
};

// The state that the classes under test share, with nodes and waiting pods.
struct FakeCore {
  void add_node(const std::string& name, const std::string& machine = "hgx-v100-8") {
    InventoryReport report;
    report.node = name;
    report.boot_id = "boot";
    report.sequence = 1;
    report.machine = machine;
    report.topology = profile(machine);
    report.resources = {"nvidia.com/gpu"};
    core.state.nodes.report(std::move(report), clock.now());
  }
  // A pod that waits, as the reconciler would have added it.
  const ClusterPod& add_pod(const std::string& name, int chips, int priority = 0) {
    ClusterPod pod;
    pod.request = World::request(name, chips);
    pod.priority = priority;
    core.state.jobs.add(pod.request);
    core.state.records.on(pod.request.uid, PodEvent::arrived, pod.request.key);
    return cluster.pods[pod.request.key] = pod;
  }
  NodeId node(const std::string& name) const { return core.state.nodes.find(name); }
  PodState state_of(const ClusterPod& pod) const { return core.state.records.state_of(pod); }
  const Holding* held(const ClusterPod& pod) const {
    return core.state.ledger.find(pod.request.uid);
  }

  ManualClock clock;
  FakeCluster cluster;
  KeepingObserver observer;
  Core core{clock, cluster, observer};
};

}  // namespace chipweave::sched::test

// PreemptingWorld — a World whose gangs behind the gate may end other pods: evictions are kept
// until the test says what becomes of them.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler-plugin/model/gangs/gang_mark.hpp"
#include "scheduler-plugin/state/evictions.hpp"
#include "tests/unit/sched/fake_cluster.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {

class KeptEvictions final : public Evictions {
 public:
  void budgets(const std::set<std::string>& namespaces,
               std::function<void(Result<Budgets>)> done) override {
    asked = namespaces;
    ++reads;
    if (hold_budgets) {
      held = std::move(done);
    } else if (problem.empty()) {
      done(all);
    } else {
      done(make_error(Errc::unavailable, problem));
    }
  }
  void evict(const PodKey& pod, const std::string& uid, Grace grace, Done done) override {
    requests.push_back({pod, uid, grace, std::move(done)});
  }

  struct Request {
    PodKey pod;
    std::string uid;
    Grace grace = Grace::usual;
    Done done;
  };
  Budgets all;
  std::string problem;
  bool hold_budgets = false;
  std::function<void(Result<Budgets>)> held;
  std::set<std::string> asked;
  int reads = 0;
  std::vector<Request> requests;
};

struct PreemptingWorld : World {
  PreemptingWorld() { scheduler.use(evictions); }
  // A pod that waits behind the gate.
  ClusterPod gang_pod(const std::string& gang, int index, int size, int chips, int priority) {
    ClusterPod out;
    out.request = request(gang + "-" + std::to_string(index), chips);
    GangMark mark;
    mark.framework = "chipweave";
    mark.name = gang;
    mark.index = index;
    mark.size = size;
    out.request.mark = std::make_shared<const GangMark>(std::move(mark));
    out.priority = priority;
    out.gated = true;
    return out;
  }
  std::vector<PodRequest> gang_of(const std::string& name, int size, int priority, int chips = 8) {
    std::vector<PodRequest> out;
    for (int i = 0; i < size; ++i) {
      auto added = cluster.add(gang_pod(name, i, size, chips, priority), "{}");
      if (!added) throw std::runtime_error(added.error().text());
      out.push_back((*added)->request);
    }
    return out;
  }
  // The same, bound.
  std::vector<PodRequest> running_gang(const std::string& name, int size, int priority,
                                       int chips = 8) {
    auto pods = gang_of(name, size, priority, chips);
    check();
    check();
    for (const PodRequest& one : pods) {
      const auto nodes = fit(one);
      EXPECT_EQ(nodes.size(), 1U) << one.key.text();
      const bool bound = !nodes.empty() && bind(one, *nodes.begin()).ok();
      EXPECT_TRUE(bound) << one.key.text();
    }
    return pods;
  }
  PodRequest running(const std::string& name, const std::string& node, int priority,
                     int chips = 8) {
    PodRequest one = submit(request(name, chips), priority);
    EXPECT_TRUE(bind(one, node).ok()) << name;
    return one;
  }
  void nodes(int count) {
    for (int i = 0; i < count; ++i) add_node("n" + std::to_string(i), "hgx-h100-8");
  }
  void keep_reporting() {
    for (const std::string& name : names) set_health(name, 0, domain::Health::healthy);
  }
  void check() { scheduler.gang_gates().check(); }
  // Until nothing more happens at once.
  void settle() {
    for (int i = 0; i < 8; ++i) check();
    expect_sound();
  }
  // As the API server shows a pod that was deleted with a grace period.
  void begins_to_end(const PodKey& key) {
    const_cast<ClusterPod*>(cluster.find(key))->ending = true;
  }
  // Accepts the evictions so far; the pods begin to end.
  std::set<std::string> accept() {
    std::set<std::string> out;
    for (auto& one : std::exchange(evictions.requests, {})) {
      out.insert(one.pod.name);
      begins_to_end(one.pod);
      one.done({});
    }
    return out;
  }
  void gone(const std::string& name) { EXPECT_TRUE(cluster.end({"ns", name}).ok()) << name; }
  std::string why(const std::string& gang) const {
    const Gang* found = nullptr;
    for (const auto& [id, one] : scheduler.gangs().all()) {
      if (one.name == gang) found = &one;
    }
    return found == nullptr ? "no such gang" : scheduler.gang_view().status(*found).why;
  }

  KeptEvictions evictions;
};

}  // namespace chipweave::sched::test

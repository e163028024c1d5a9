// Gated — a World whose pods wait behind the gate of gangs, with a store of plans that the test
// answers for.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "scheduler-plugin/model/gangs/gang_mark.hpp"
#include "scheduler-plugin/state/plan_store.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {

// A store whose answers the test gives.
class HeldStore final : public PlanStore {
 public:
  void put(const StoredPlan& plan, Done done) override { puts.emplace_back(plan, std::move(done)); }
  void remove(const std::string& gang) override { stored.erase(gang); }
  void each(const std::function<void(const StoredPlan&)>& visit) const override {
    for (const auto& [gang, plan] : stored) visit(plan);
  }
  void answer(const Result<void>& result = {}) {
    auto now = std::exchange(puts, {});
    for (auto& [plan, done] : now) {
      if (result) stored[plan.gang] = plan;
      done(result);
    }
  }
  std::vector<std::pair<StoredPlan, Done>> puts;
  std::map<std::string, StoredPlan> stored;
};

struct Gated : World {
  explicit Gated(SchedulerOptions options = {}) : World(std::move(options)) {
    scheduler.use(store);
  }

  PodRequest gated_pod(const std::string& gang, int index, int size, int priority = 0,
                       bool foreign = false) {
    ClusterPod pod;
    pod.request = request(gang + "-" + std::to_string(index), 8);
    GangMark mark;
    mark.framework = "chipweave";
    mark.name = gang;
    mark.index = index;
    if (size > 0) mark.size = size;
    pod.request.mark = std::make_shared<const GangMark>(std::move(mark));
    pod.priority = priority;
    pod.gated = true;
    pod.scheduler = scheduler_name;
    pod.foreign_gates = foreign;
    auto added = cluster.add(pod, "{}");
    if (!added) throw std::runtime_error(added.error().text());
    return (*added)->request;
  }
  std::vector<PodRequest> gang_of(const std::string& name, int size, int priority = 0) {
    std::vector<PodRequest> out;
    out.reserve(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) out.push_back(gated_pod(name, i, size, priority));
    return out;
  }
  void nodes(int count) {
    for (int i = 0; i < count; ++i) add_node("n" + std::to_string(i), "hgx-h100-8");
  }
  void check() { scheduler.gang_gates().check(); }
  bool gated(const PodRequest& one) const { return pod(one).gated; }
  void end(const std::vector<PodRequest>& pods) {
    for (const PodRequest& one : pods) ASSERT_TRUE(cluster.end(one.key).ok());
  }
  void keep_reporting(int count) {
    for (int i = 0; i < count; ++i) set_health("n" + std::to_string(i), 0, domain::Health::healthy);
  }

  HeldStore store;
  std::string scheduler_name;  // of the pods that come
};

}  // namespace chipweave::sched::test

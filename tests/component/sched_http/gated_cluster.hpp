// GatedCluster — a cluster whose bindings can be held back until so many are in flight at once.
// Shared by the tests of this folder; used on the loop thread only.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "scheduler-plugin/state/cluster.hpp"

namespace chipweave::sched::test {

class GatedCluster final : public Cluster {
 public:
  explicit GatedCluster(Cluster& behind) : behind_(behind) {}
  // Nothing is bound before `count` bindings wait; then all are.
  void hold_until(std::size_t count) { count_ = count; }

  void bind(const BindOrder& order, Done done) override {
    waiting_.push_back([this, order, done = std::move(done)] { behind_.bind(order, done); });
    if (waiting_.size() < count_) return;
    for (const auto& each : std::exchange(waiting_, {})) each();
  }
  void hand_over(const BindOrder& order, Done done) override {
    behind_.hand_over(order, std::move(done));
  }
  void annotate(const PodKey& key, const std::string& uid, const Annotations& annotations,
                Done done) override {
    behind_.annotate(key, uid, annotations, std::move(done));
  }
  void ungate(const UngateOrder& order, Done done) override {
    behind_.ungate(order, std::move(done));
  }
  void nominate(const Binding& place, Done done) override {
    behind_.nominate(place, std::move(done));
  }
  const ClusterPod* find(const PodKey& key) const override { return behind_.find(key); }
  void refresh(const PodKey& key, Done done) override { behind_.refresh(key, std::move(done)); }
  void refresh_node(const std::string& node, Done done) override {
    behind_.refresh_node(node, std::move(done));
  }
  Result<void> end(const PodKey& key) override { return behind_.end(key); }
  std::size_t each_after(std::uint64_t arrival, std::size_t most,
                         const std::function<void(const ClusterPod&)>& visit) const override {
    return behind_.each_after(arrival, most, visit);
  }
  std::size_t size() const override { return behind_.size(); }

 private:
  Cluster& behind_;
  std::size_t count_ = 1;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace chipweave::sched::test

// MemoryCluster — the cluster of standalone mode: pods, bindings and annotations in memory.
#pragma once

#include <map>
#include <string>
#include <unordered_set>

#include "scheduler-plugin/state/cluster.hpp"

namespace chipweave::sched {

class MemoryCluster final : public Cluster {
 public:
  void set_listener(ClusterListener* listener) { listener_ = listener; }

  // Adds a pod with its posted document; generates a uid if it has none. Errors: invalid_argument
  // (name, uid or annotations against the rules), conflict (name exists), limit_exceeded.
  Result<const ClusterPod*> add(ClusterPod pod, std::string document);
  // The document as posted; precondition: the pod exists.
  const std::string& document(const PodKey& key) const { return pods_.at(key).document; }
  // What its ungating and its binding wrote; precondition: the pod exists.
  const Annotations& written(const PodKey& key) const { return pods_.at(key).written; }
  // Of a pod that was posted with kGangGate, likewise.
  struct Ungated {
    bool done = false;
    std::string pinned_to;  // empty: to no node
  };
  const Ungated& ungated(const PodKey& key) const { return pods_.at(key).ungated; }

  const ClusterPod* find(const PodKey& key) const override;
  void bind(const BindOrder& order, Done done) override {
    done(bind_now(order.binding, order.annotations));
  }
  void hand_over(const BindOrder& /*order*/, Done done) override {
    done(make_error(Errc::unsupported, "this scheduler makes no ResourceClaims"));
  }
  // This cluster has no pods bound by other schedulers.
  void annotate(const PodKey& key, const std::string& /*uid*/, const Annotations& /*annotations*/,
                Done done) override {
    done(make_error(Errc::unsupported, "pod " + key.text() + " got its annotations when bound"));
  }
  void ungate(const UngateOrder& order, Done done) override { done(ungate_now(order)); }
  void nominate(const Binding& place, Done done) override { done(nominate_now(place)); }
  void refresh(const PodKey& /*key*/, Done done) override { done({}); }
  void refresh_node(const std::string& /*node*/, Done done) override { done({}); }
  Result<void> end(const PodKey& key) override;
  std::size_t each_after(std::uint64_t arrival, std::size_t most,
                         const std::function<void(const ClusterPod&)>& visit) const override;
  std::size_t size() const override { return pods_.size(); }

 private:
  struct Entry;
  Result<void> bind_now(const Binding& binding, const Annotations& annotations);
  Result<void> ungate_now(const UngateOrder& order);
  Result<void> nominate_now(const Binding& place);
  Result<Entry*> find_entry(const PodKey& key, const std::string& uid);
  struct Entry {
    ClusterPod pod;
    std::string document;
    Annotations written;
    Ungated ungated;
  };
  std::map<PodKey, Entry> pods_;
  std::map<std::uint64_t, PodKey> by_arrival_;
  std::unordered_set<std::string> uids_;
  std::uint64_t arrivals_ = 0;
  ClusterListener* listener_ = nullptr;
};

}  // namespace chipweave::sched

// ApiEvictions — Evictions by the API server: reads the PodDisruptionBudgets and, for each of the
// namespaces in question, which pods it covers by its selector, which the API server evaluates.
//
// One request at a time for the budgets; nothing is watched, since it is needed rarely. A failure
// is not tried again here. Evictions are sent only in the leadership term that asked for them.
// Owner: the loop thread; ends with its destructor.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/codec/kube/objects/disruption_budget.hpp"
#include "common/codec/kube/watch.hpp"
#include "common/kube/transport.hpp"
#include "scheduler-plugin/state/evictions.hpp"

namespace chipweave::sched {

class ApiEvictions final : public Evictions {
 public:
  static constexpr std::size_t kMaxBudgets = 2000;  // of the cluster

  // fence: whether what is wanted from now on may still be sent later (KubeCluster::fence).
  ApiEvictions(kube::Transport& transport, std::function<std::function<bool()>()> fence)
      : transport_(transport), fence_(std::move(fence)) {}

  void budgets(const std::set<std::string>& namespaces,
               std::function<void(Result<Budgets>)> done) override;
  void evict(const PodKey& pod, const std::string& uid, Grace grace, Done done) override;

 private:
  struct Reading {
    std::set<std::string> namespaces;
    std::function<void(Result<Budgets>)> done;
    std::size_t seen = 0;                            // budgets, others included
    std::vector<codec::KubeDisruptionBudget> found;  // in these namespaces, with pods
    Budgets read;                                    // those whose pods are read
    std::size_t pods = 0;
    std::unique_ptr<kube::Ticket> ticket;
  };
  void list_budgets(const std::string& next);
  void budgets_listed(Result<kube::Reply> reply);
  void list_pods(const std::string& next);
  void pods_listed(Result<kube::Reply> reply);
  void ask(kube::Call call, void (ApiEvictions::*then)(Result<kube::Reply>));
  void end(Result<Budgets> result);

  kube::Transport& transport_;
  std::function<std::function<bool()>()> fence_;
  std::unique_ptr<Reading> reading_;                    // null: none
  codec::WatchReader<codec::KubeNodeMetadata> reader_;  // of any object's metadata
  std::map<std::uint64_t, std::unique_ptr<kube::Ticket>> tickets_;
  std::uint64_t calls_ = 0;
};

}  // namespace chipweave::sched

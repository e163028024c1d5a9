// Evictions — the way to end pods of others: which disruptions their budgets allow, and the
// eviction itself. By the API server in a cluster (scheduler-plugin/kube/gangs), not at all in
// standalone mode. Owner: the loop thread.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "scheduler-plugin/model/binding.hpp"

namespace chipweave::sched {

// A PodDisruptionBudget as of now.
struct DisruptionBudget {
  std::string ns;
  std::string name;
  int allowed = 0;             // how many more of its pods may be evicted
  std::set<std::string> pods;  // uids of those that it covers
};

enum class Grace {
  usual,  // the pod's own grace period
  none    // it ends at once, also where its node does not respond
};

class Evictions {
 public:
  Evictions() = default;
  Evictions(const Evictions&) = delete;
  Evictions& operator=(const Evictions&) = delete;
  virtual ~Evictions() = default;

  using Budgets = std::vector<DisruptionBudget>;
  // All budgets of these namespaces. `done` is called once, possibly before the call returns, and
  // not after the next call. Errors: unavailable, invalid_argument, limit_exceeded, unsupported.
  virtual void budgets(const std::set<std::string>& namespaces,
                       std::function<void(Result<Budgets>)> done) = 0;
  // ok: the API server ends the pod, or it is gone already. Errors: conflict: a budget does not
  // allow it now; invalid_argument: permanently rejected; not_sent: this replica does not lead any
  // more; unavailable: it may have been evicted.
  virtual void evict(const PodKey& pod, const std::string& uid, Grace grace, Done done) = 0;
};

}  // namespace chipweave::sched

// PlanStore — where plans of gangs are kept so that they outlive a restart: ConfigMaps in a cluster
// (scheduler-plugin/kube/gangs), nowhere in standalone mode. Owner: the loop thread.
#pragma once

#include <functional>
#include <string>

#include "scheduler-plugin/model/binding.hpp"
#include "scheduler-plugin/model/gangs/stored_plan.hpp"

namespace chipweave::sched {

class PlanStore {
 public:
  PlanStore() = default;
  PlanStore(const PlanStore&) = delete;
  PlanStore& operator=(const PlanStore&) = delete;
  virtual ~PlanStore() = default;

  // Replaces what is stored for the gang. Of several calls for one gang the last counts; each
  // `done` is called. ok: it, or a later one, is stored. Errors: unavailable: it may have been
  // stored; invalid_argument, limit_exceeded: it will not be.
  virtual void put(const StoredPlan& plan, Done done) = 0;
  // The gang has no plan any more.
  virtual void remove(const std::string& gang) = 0;
  // All that are stored, as far as is known.
  virtual void each(const std::function<void(const StoredPlan&)>& visit) const = 0;
};

// Forgets everything at once.
class NoPlanStore final : public PlanStore {
 public:
  void put(const StoredPlan& /*plan*/, Done done) override { done({}); }
  void remove(const std::string& /*gang*/) override {}
  void each(const std::function<void(const StoredPlan&)>& /*visit*/) const override {}
};

}  // namespace chipweave::sched

// GangRestore — takes up the plans of an earlier term, or of an earlier process, from where they
// are stored. Owner: the loop thread.
#pragma once

#include <cstdint>
#include <optional>

#include "scheduler-plugin/app/gangs/planning/gang_planning.hpp"
#include "scheduler-plugin/state/plan_store.hpp"

namespace chipweave::sched {

class GangRestore : public UseCase {
 public:
  GangRestore(Core& core, const GangPlanning& planning, Reservations& reservations)
      : UseCase(core), planning_(planning), reservations_(reservations) {}

  void use(const PlanStore& store) { store_ = &store; }
  // Once in each term.
  void restore();
  void end_term() { term_.reset(); }

 private:
  void restore(const StoredPlan& stored);

  const GangPlanning& planning_;
  Reservations& reservations_;
  const PlanStore* store_ = nullptr;   // null: none
  std::optional<std::uint64_t> term_;  // of the last restore()
};

}  // namespace chipweave::sched

#include "scheduler-plugin/app/gangs/preemption/gang_search.hpp"

#include <optional>

namespace chipweave::sched {

bool GangSearch::go_on(GangPlanning& planning, const SchedulerState& state, const Clock& clock) {
  const Clock::Steady begin = clock.now();
  for (int trials = 0; trials < kMaxTrials; ++trials) {
    const GangVictims::Set* asked = victims_.question();
    if (asked == nullptr) return false;
    FreedSum freed = coming_;
    for (const std::size_t unit : *asked) freed.add(victims_.units()[unit]);
    const GangPlacement placement = planning.try_with(trial_, freed.result(state));
    victims_.answer(placement.fits ? std::optional(placement.nodes()) : std::nullopt);
    if (clock.now() - begin >= kSlice) break;
  }
  return victims_.question() != nullptr;
}

std::vector<const VictimUnit*> GangSearch::found() const {
  std::vector<const VictimUnit*> out;
  for (const std::size_t unit : *victims_.result()) out.push_back(&victims_.units()[unit]);
  return out;
}

}  // namespace chipweave::sched

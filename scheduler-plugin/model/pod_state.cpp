#include "scheduler-plugin/model/pod_state.hpp"

#include <algorithm>

namespace chipweave::sched {
namespace {

using S = PodState;
using E = PodEvent;

constexpr std::array kTransitions{
    PodTransition{S::absent, E::arrived, S::pending},

    PodTransition{S::pending, E::held, S::reserved},
    PodTransition{S::pending, E::found_known, S::bound},
    PodTransition{S::pending, E::found_unknown, S::assumed},
    PodTransition{S::pending, E::found_contested, S::disputed},
    PodTransition{S::pending, E::gone, S::absent},

    PodTransition{S::reserved, E::released, S::pending},
    PodTransition{S::reserved, E::sent, S::binding},
    PodTransition{S::reserved, E::admitted, S::uncertain},
    PodTransition{S::reserved, E::placed_late, S::annotating},

    PodTransition{S::binding, E::admitted, S::binding},
    PodTransition{S::binding, E::unanswered, S::uncertain},
    PodTransition{S::binding, E::refused, S::reserved},
    PodTransition{S::binding, E::stored, S::bound},

    PodTransition{S::uncertain, E::sent, S::binding},
    PodTransition{S::uncertain, E::admitted, S::uncertain},
    PodTransition{S::uncertain, E::set_aside, S::pending},
    PodTransition{S::uncertain, E::refused, S::reserved},
    PodTransition{S::uncertain, E::stored, S::bound},

    PodTransition{S::bound, E::found_known, S::bound},
    PodTransition{S::bound, E::found_unknown, S::assumed},
    PodTransition{S::bound, E::found_contested, S::disputed},
    PodTransition{S::bound, E::gone, S::absent},

    PodTransition{S::annotating, E::found_known, S::bound},
    PodTransition{S::annotating, E::found_contested, S::disputed},
    PodTransition{S::annotating, E::annotated, S::bound},
    PodTransition{S::annotating, E::gone, S::absent},

    PodTransition{S::assumed, E::released, S::pending},
    PodTransition{S::assumed, E::found_known, S::bound},
    PodTransition{S::assumed, E::found_contested, S::disputed},
    PodTransition{S::assumed, E::gone, S::absent},

    PodTransition{S::disputed, E::found_known, S::bound},
    PodTransition{S::disputed, E::found_unknown, S::assumed},
    PodTransition{S::disputed, E::found_contested, S::disputed},
    PodTransition{S::disputed, E::gone, S::absent},
};

// Row by row what next_state() looks up.
constexpr auto kTable = [] {
  std::array<std::array<std::optional<PodState>, kPodEvents>, kPodStates> table{};
  for (const PodTransition& t : kTransitions) {
    table[static_cast<std::size_t>(t.from)][static_cast<std::size_t>(t.event)] = t.to;
  }
  return table;
}();

constexpr std::array<std::string_view, kPodStates> kStateNames{
    "absent", "pending",    "reserved", "binding", "uncertain",
    "bound",  "annotating", "assumed",  "disputed"};
constexpr std::array<std::string_view, kPodEvents> kEventNames{
    "arrived",     "held",      "released", "sent",        "admitted",      "set_aside",
    "unanswered",  "refused",   "stored",   "found_known", "found_unknown", "found_contested",
    "placed_late", "annotated", "gone"};

}  // namespace

std::span<const PodTransition> pod_transitions() { return kTransitions; }

std::optional<PodState> next_state(PodState state, PodEvent event) {
  return kTable[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
}

std::string_view to_string(PodState state) { return kStateNames[static_cast<std::size_t>(state)]; }
std::string_view to_string(PodEvent event) { return kEventNames[static_cast<std::size_t>(event)]; }

}  // namespace chipweave::sched

// PodState — every state in which the scheduler can hold a pod, and every event that leads from one
// to another. docs/develop/pod-states.md draws the table; a test compares the two.
//
// Whether a pod is being deleted is not a state: it keeps its chips, as whatever it is, until it is
// gone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace chipweave::sched {

enum class PodState : std::uint8_t {
  absent,      // no record
  pending,     // not bound, holds nothing
  reserved,    // holds a reservation
  binding,     // its binding is at the API server
  uncertain,   // its binding may have been stored or not
  bound,       // its chips are known
  annotating,  // bound without a placement; ours is being written to it
  assumed,     // bound by another scheduler; its chips are guessed
  disputed,    // bound with a placement that claims chips of another pod; others are guessed for
               // these
};
inline constexpr std::size_t kPodStates = 9;

enum class PodEvent : std::uint8_t {
  arrived,          // the watch delivered it; if it is bound, found_… follows
  held,             // a reservation was made for it
  released,         // its reservation ended
  sent,             // its binding goes to the API server
  admitted,         // its binding by another scheduler was admitted
  set_aside,        // it is being bound elsewhere; the chips of its earlier binding stay taken
  unanswered,       // the API server did not answer its binding
  refused,          // its binding was not stored and will not be
  stored,           // its binding was stored
  found_known,      // it is bound, with a placement
  found_unknown,    // it is bound, without a placement
  found_contested,  // it is bound, with a placement that claims chips of another pod
  placed_late,      // chips were chosen for it after another scheduler had bound it
  annotated,        // the placement that was chosen late is written, or no longer needed
  gone,             // deleted or finished, or its record is no longer needed
};
inline constexpr std::size_t kPodEvents = 15;

struct PodTransition {
  PodState from;
  PodEvent event;
  PodState to;
};

// By state, then event. An event that is not listed for a state is a bug of ours.
std::span<const PodTransition> pod_transitions();
// Empty: the event cannot happen in this state.
std::optional<PodState> next_state(PodState state, PodEvent event);

std::string_view to_string(PodState state);
std::string_view to_string(PodEvent event);

}  // namespace chipweave::sched

#include "scheduler-plugin/app/observer.hpp"

namespace chipweave::sched {

std::string_view to_string(Verb verb) {
  switch (verb) {
    case Verb::filter:
      return "filter";
    case Verb::prioritize:
      return "prioritize";
    case Verb::bind:
      return "bind";
    case Verb::place:
      return "place";
    case Verb::predicate:
      return "predicate";
    case Verb::allocate:
      return "allocate";
    case Verb::admit:
      return "admit";
  }
  return "";
}

std::string_view to_string(ReservationEvent event) {
  switch (event) {
    case ReservationEvent::held:
      return "held";
    case ReservationEvent::confirmed:
      return "confirmed";
    case ReservationEvent::expired:
      return "expired";
    case ReservationEvent::dropped:
      return "dropped";
  }
  return "";
}

}  // namespace chipweave::sched

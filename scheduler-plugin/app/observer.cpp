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
  }
  return "";
}

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::none:
      return "none";
    case Cause::unknown_node:
      return "unknown_node";
    case Cause::stale:
      return "stale";
    case Cause::resource:
      return "resource";
    case Cause::size:
      return "size";
    case Cause::busy:
      return "busy";
    case Cause::unhealthy:
      return "unhealthy";
    case Cause::rule:
      return "rule";
    case Cause::group:
      return "group";
    case Cause::binding:
      return "binding";
  }
  return "";
}

std::string_view to_string(Promise event) {
  switch (event) {
    case Promise::held:
      return "held";
    case Promise::confirmed:
      return "confirmed";
    case Promise::expired:
      return "expired";
    case Promise::dropped:
      return "dropped";
  }
  return "";
}

}  // namespace chipweave::sched

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

void Observers::decided(Verb verb, std::chrono::nanoseconds took, std::size_t fits) {
  for (Observer* one : all_) one->decided(verb, took, fits);
}
void Observers::rejected(Cause cause, std::size_t nodes) {
  for (Observer* one : all_) one->rejected(cause, nodes);
}
void Observers::reservation(ReservationEvent event) {
  for (Observer* one : all_) one->reservation(event);
}
void Observers::bound(const BoundPod& pod) {
  for (Observer* one : all_) one->bound(pod);
}
void Observers::unplaceable(const PodKey& pod, std::string_view uid, std::string_view why) {
  for (Observer* one : all_) one->unplaceable(pod, uid, why);
}
void Observers::bind_failed(const Binding& binding, const Error& error) {
  for (Observer* one : all_) one->bind_failed(binding, error);
}
void Observers::placed(const PlacedPod& pod) {
  for (Observer* one : all_) one->placed(pod);
}
void Observers::freed(const PlacedPod& pod) {
  for (Observer* one : all_) one->freed(pod);
}
void Observers::disputed(const PodKey& pod, std::string_view node, const std::vector<int>& chips) {
  for (Observer* one : all_) one->disputed(pod, node, chips);
}
void Observers::unaccounted(const PodKey& pod, std::string_view node) {
  for (Observer* one : all_) one->unaccounted(pod, node);
}

}  // namespace chipweave::sched

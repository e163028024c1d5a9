// Events of events.k8s.io/v1, which kubectl describe shows for an object.
#pragma once

#include <string>

#include "common/base/clock.hpp"

namespace chipweave::codec {

// What an event is about.
struct EventObject {
  std::string kind;  // "Pod", "Node"
  std::string ns;    // "" for cluster-scoped objects
  std::string name;
  std::string uid;
  std::string api_version = "v1";  // "batch/v1"
};

struct KubeEvent {
  EventObject about;
  std::string controller;  // "chipweave.dev/agent"
  std::string instance;    // the host's name
  bool warning = false;
  std::string reason;  // one word: "ChipFault"
  std::string action;  // one word: what was being done
  std::string note;    // for people
};

// How often the event occurred, and when last.
struct EventOccurrences {
  int count = 1;
  Clock::Wall last{};
};

// The namespace of events about it: its own, or "default".
std::string event_path(const EventObject& about);
// The body of a POST there. name: unique in that namespace. Texts longer than the API server
// accepts are cut. at: the first occurrence.
std::string write_event(const KubeEvent& event, const std::string& name, Clock::Wall at,
                        const EventOccurrences& occurrences);
// The body of a merge patch that records further occurrences of the event.
std::string write_event_series(const EventOccurrences& occurrences);
// A name that is unique within this process: the object's name first, then ascending with time.
std::string event_name(const EventObject& about, Clock::Wall at, std::uint64_t number);

}  // namespace chipweave::codec

// Events of events.k8s.io/v1: what kubectl describe shows of an object's past.
#pragma once

#include <string>

#include "common/base/clock.hpp"

namespace chipweave::codec {

// What an event is about.
struct EventObject {
  std::string kind;  // "Pod", "Node"
  std::string ns;    // "" for what is in none
  std::string name;
  std::string uid;
};

struct KubeEvent {
  EventObject about;
  std::string controller;  // "chipweave.dev/agent"
  std::string instance;    // which one of them: the host's name
  bool warning = false;
  std::string reason;  // one word: "ChipFault"
  std::string action;  // one word: what was being done
  std::string note;    // for people
};

// Where events about it are kept: its namespace, or "default".
std::string event_path(const EventObject& about);
// The body of a POST there. name: unique in that namespace. Texts longer than the API server takes
// are cut.
std::string write_event(const KubeEvent& event, const std::string& name, Clock::Wall at);
// The body of a merge patch that records another occurrence of the event.
std::string write_event_series(int count, Clock::Wall last);
// A name that is unique within this process: the object's name first, then ascending with time.
std::string event_name(const EventObject& about, Clock::Wall at, std::uint64_t number);

}  // namespace chipweave::codec

#include "common/codec/kube/objects/event.hpp"

#include <array>
#include <cstdio>

#include "common/base/json_writer.hpp"
#include "common/base/text.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMaxNote = 1024;  // bytes; the API server refuses more
constexpr std::size_t kMaxInstance = 128;
constexpr std::size_t kMaxName = 253 - 20;  // of the object's name in that of its event

std::string namespace_of(const EventObject& about) {
  return about.ns.empty() ? "default" : about.ns;
}

void add_series(JsonWriter& w, const EventOccurrences& occurrences) {
  w.key("series").begin_object().key("count").integer(occurrences.count);
  w.field("lastObservedTime", rfc3339_micros(occurrences.last)).end_object();
}

}  // namespace

std::string event_path(const EventObject& about) {
  return "/apis/events.k8s.io/v1/namespaces/" + namespace_of(about) + "/events";
}

std::string event_name(const EventObject& about, Clock::Wall at, std::uint64_t number) {
  std::array<char, 32> unique{};
  std::snprintf(unique.data(), unique.size(), ".%llx",
                static_cast<unsigned long long>(at.time_since_epoch().count()) + number);
  return about.name.substr(0, kMaxName) + unique.data();
}

std::string write_event(const KubeEvent& event, const std::string& name, Clock::Wall at,
                        const EventOccurrences& occurrences) {
  JsonWriter w;
  w.begin_object().field("apiVersion", "events.k8s.io/v1").field("kind", "Event");
  w.key("metadata").begin_object().field("name", name);
  w.field("namespace", namespace_of(event.about)).end_object();
  w.field("eventTime", rfc3339_micros(at)).field("reportingController", event.controller);
  w.field("reportingInstance", with_dots(event.instance, kMaxInstance));
  w.field("type", event.warning ? "Warning" : "Normal").field("reason", event.reason);
  w.field("action", event.action).field("note", with_dots(event.note, kMaxNote));
  if (occurrences.count > 1) add_series(w, occurrences);  // the API server refuses a series of one
  w.key("regarding").begin_object().field("apiVersion", event.about.api_version);
  w.field("kind", event.about.kind);
  if (!event.about.ns.empty()) w.field("namespace", event.about.ns);
  w.field("name", event.about.name).field("uid", event.about.uid).end_object().end_object();
  return w.take();
}

std::string write_event_series(const EventOccurrences& occurrences) {
  JsonWriter w;
  w.begin_object();
  add_series(w, occurrences);
  w.end_object();
  return w.take();
}

}  // namespace chipweave::codec

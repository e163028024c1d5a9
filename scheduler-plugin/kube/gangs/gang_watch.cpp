#include "scheduler-plugin/kube/gangs/gang_watch.hpp"

#include <algorithm>
#include <utility>

#include "common/base/limits.hpp"

namespace chipweave::sched {
namespace {

std::string object_text(std::size_t source, const std::string& key) {
  return std::string(codec::gang_sources()[source].kind) + " " + key;
}

}  // namespace

GangWatch::GangWatch(kube::Transport& transport, const std::vector<std::string>& kinds,
                     Events events, const std::function<double()>& jitter)
    : events_(std::move(events)), book_(events_.changed, limits::kMaxPods) {
  const auto sources = codec::gang_sources();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (std::find(kinds.begin(), kinds.end(), sources[i].setting) != kinds.end())
      add(transport, i, jitter);
  }
}

void GangWatch::add(kube::Transport& transport, std::size_t source,
                    const std::function<double()>& jitter) {
  const auto& versions = codec::gang_sources()[source].versions;
  Watched* newer = nullptr;
  for (const char* version : versions) {
    if (version == nullptr) continue;
    auto one = watched(transport, source, version, jitter);
    if (newer != nullptr) newer->older = one.get();
    newer = one.get();
    watched_.push_back(std::move(one));
  }
}

std::unique_ptr<GangWatch::Watched> GangWatch::watched(kube::Transport& transport,
                                                       std::size_t source, const char* version,
                                                       const std::function<double()>& jitter) {
  const codec::GangSource& row = codec::gang_sources()[source];
  auto out = std::make_unique<Watched>();
  out->source = source;
  out->api_version = std::string(row.group) + "/" + version;
  Reflector::Options options;
  options.path = "/apis/" + out->api_version + "/" + row.resource;
  Reflector::Events events;
  events.changed.seen = [this, source](codec::KubeGangObject&& object) { take(source, object); };
  events.changed.gone = [this, source](const std::string& key) { drop(source, key); };
  events.synced = [one = out.get()] { one->missing = false; };
  events.failed = [this, one = out.get()](const kube::WatchFailure& failure) {
    failed(*one, failure);
  };
  out->reflector =
      std::make_unique<Reflector>(transport, std::move(options), std::move(events), jitter);
  return out;
}

void GangWatch::start() {
  std::vector<const Watched*> later;  // older versions
  for (const auto& one : watched_) later.push_back(one->older);
  for (const auto& one : watched_) {
    if (std::find(later.begin(), later.end(), one.get()) == later.end()) start(*one);
  }
}

void GangWatch::start(Watched& one) {
  if (std::exchange(one.started, true)) return;
  one.reflector->start();
}

bool GangWatch::known() const {
  return std::all_of(watched_.begin(), watched_.end(), [](const auto& one) {
    return !one->started || one->missing || one->reflector->synced();
  });
}

std::optional<codec::EventObject> GangWatch::object_of(const GangKey& gang) const {
  auto object = book_.object_of(gang);
  if (!object) return object;
  for (const auto& one : watched_) {
    const codec::GangSource& row = codec::gang_sources()[one->source];
    const bool same = object->kind == row.kind &&
                      object->api_version == std::string(row.group) + "/" + row.versions[0];
    if (!same || !one->started || one->missing) continue;
    object->api_version = one->api_version;
    break;
  }
  return object;
}

void GangWatch::take(std::size_t source, const codec::KubeGangObject& object) {
  const std::string name = object_text(source, kube::key_of(object));
  auto gangs = codec::read_gangs(codec::gang_sources()[source], object);
  if (!gangs) {
    events_.unusable(name, gangs.error());
    return book_.remove(source, object.ns, object.name);
  }
  if (!book_.put(source, object, *std::move(gangs)))
    events_.unusable(
        name, make_error(Errc::limit_exceeded,
                         "there are more than " + std::to_string(limits::kMaxPods) + " gangs"));
}

void GangWatch::drop(std::size_t source, const std::string& key) {
  const std::size_t slash = key.find('/');
  book_.remove(source, key.substr(0, slash), key.substr(slash + 1));
}

void GangWatch::failed(Watched& one, const kube::WatchFailure& failure) {
  if (failure.status != kube::kNotFound) return events_.failed(failure);
  one.missing = true;
  if (one.older != nullptr) start(*one.older);
}

}  // namespace chipweave::sched

#include "scheduler-plugin/kube/gangs/gang_book.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace chipweave::sched {
namespace {

GangKey key_of_gang(const std::string& ns, const codec::DeclaredGang& gang) {
  return {ns, gang.framework, gang.name};
}

}  // namespace

GangBook::Id GangBook::id_of(std::size_t source, const std::string& ns, const std::string& name) {
  const codec::GangSource& row = codec::gang_sources()[source];
  return {ns, {row.group, row.kind, name}};
}

bool GangBook::put(std::size_t source, const codec::KubeGangObject& object,
                   std::vector<codec::DeclaredGang> gangs) {
  const Id id = id_of(source, object.ns, object.name);
  const auto known = objects_.find(id);
  if (known != objects_.end() && known->second.uid == object.uid &&
      known->second.owner == object.owner && known->second.gangs == gangs)
    return true;
  std::set<GangKey> concerned = concerned_by(id);
  take_out(id);
  std::size_t fresh = 0;
  for (const codec::DeclaredGang& gang : gangs)
    fresh += speakers_.count(key_of_gang(object.ns, gang)) == 0 ? 1 : 0;
  const bool room = fresh <= max_gangs_ - std::min(max_gangs_, speakers_.size());
  if (room) {
    for (const codec::DeclaredGang& gang : gangs)
      speakers_[key_of_gang(object.ns, gang)].insert(id);
    if (!object.owner.kind.empty()) owned_[{object.ns, object.owner}].insert(id);
    objects_[id] = {source, object.uid, object.owner, std::move(gangs)};
    concerned.merge(concerned_by(id));
  }
  announce(concerned);
  return room;
}

void GangBook::remove(std::size_t source, const std::string& ns, const std::string& name) {
  const Id id = id_of(source, ns, name);
  const std::set<GangKey> concerned = concerned_by(id);
  take_out(id);
  announce(concerned);
}

void GangBook::take_out(const Id& id) {
  const auto at = objects_.find(id);
  if (at == objects_.end()) return;
  const auto forget = [&](auto& map, const auto& key) {
    const auto found = map.find(key);
    if (found == map.end()) return;
    found->second.erase(id);
    if (found->second.empty()) map.erase(found);
  };
  for (const codec::DeclaredGang& gang : at->second.gangs)
    forget(speakers_, key_of_gang(id.ns, gang));
  forget(owned_, Id{id.ns, at->second.owner});
  objects_.erase(at);
}

// Its gangs, and those of the objects that it owns.
std::set<GangKey> GangBook::concerned_by(const Id& id) const {
  std::set<GangKey> out;
  const auto add = [&](const Id& one) {
    const auto at = objects_.find(one);
    if (at == objects_.end()) return;
    for (const codec::DeclaredGang& gang : at->second.gangs) out.insert(key_of_gang(one.ns, gang));
  };
  add(id);
  if (const auto owned = owned_.find(id); owned != owned_.end())
    for (const Id& one : owned->second) add(one);
  return out;
}

std::optional<GangSpec> GangBook::spec_of(const GangKey& gang) const {
  const auto speakers = speakers_.find(gang);
  if (speakers == speakers_.end()) return std::nullopt;
  // Owners first, then by the order of the sources. An owner of several gangs says nothing about
  // one of them.
  std::vector<std::tuple<bool, std::size_t, const GangSpec*>> specs;
  for (const Id& id : speakers->second) {
    const Object& object = objects_.at(id);
    for (const codec::DeclaredGang& one : object.gangs)
      if (one.framework == gang.framework && one.name == gang.name)
        specs.emplace_back(true, object.source, &one.spec);
    const Id owner{gang.ns, object.owner};
    const auto at = objects_.find(owner);
    if (at == objects_.end() || speakers->second.count(owner) > 0) continue;
    if (at->second.gangs.size() == 1)
      specs.emplace_back(false, at->second.source, &at->second.gangs.front().spec);
  }
  std::stable_sort(specs.begin(), specs.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  GangSpec out = *std::get<2>(specs.front());
  for (std::size_t i = 1; i < specs.size(); ++i) add_missing(out, *std::get<2>(specs[i]));
  return out;
}

std::optional<codec::EventObject> GangBook::object_of(const GangKey& gang) const {
  const auto speakers = speakers_.find(gang);
  if (speakers == speakers_.end()) return std::nullopt;
  const auto by_source = [&](const Id& a, const Id& b) {
    return objects_.at(a).source < objects_.at(b).source;
  };
  Id first = *std::min_element(speakers->second.begin(), speakers->second.end(), by_source);
  const Id owner{gang.ns, objects_.at(first).owner};
  if (objects_.contains(owner)) first = owner;
  const Object& object = objects_.at(first);
  const codec::GangSource& row = codec::gang_sources()[object.source];
  return codec::EventObject{row.kind, gang.ns, first.name.name, object.uid,
                            std::string(row.group) + "/" + row.versions[0]};
}

void GangBook::announce(const std::set<GangKey>& gangs) const {
  for (const GangKey& gang : gangs) changed_(gang, spec_of(gang));
}

}  // namespace chipweave::sched

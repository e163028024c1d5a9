// GangBook — what all owner objects together say about each gang. A PodGroup and the job that owns
// it speak of one gang: the job counts first, and the PodGroup adds what the job does not say.
//
// Owner: the loop thread. Cost of a change: O(log objects) for each gang that it concerns.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/codec/kube/gangs/gang_object.hpp"
#include "common/codec/kube/objects/event.hpp"
#include "scheduler-plugin/model/gangs/gang_spec.hpp"

namespace chipweave::sched {

class GangBook {
 public:
  // nullopt: no object speaks of the gang any longer.
  using Changed = std::function<void(const GangKey& gang, std::optional<GangSpec> spec)>;

  // max_gangs: objects that would make it more are not taken.
  GangBook(Changed changed, std::size_t max_gangs)
      : changed_(std::move(changed)), max_gangs_(max_gangs) {}

  // An object, new or changed. source: its row in codec::gang_sources(). False: there are too many
  // gangs; the object then counts as gone.
  bool put(std::size_t source, const codec::KubeGangObject& object,
           std::vector<codec::DeclaredGang> gangs);
  void remove(std::size_t source, const std::string& ns, const std::string& name);
  std::size_t gangs() const { return speakers_.size(); }
  // The object that counts first for the gang; nullopt: there is none.
  std::optional<codec::EventObject> object_of(const GangKey& gang) const;

 private:
  struct Id {
    std::string ns;
    codec::OwnerName name;
    friend auto operator<=>(const Id&, const Id&) = default;
  };
  struct Object {
    std::size_t source = 0;
    std::string uid;
    codec::OwnerName owner;
    std::vector<codec::DeclaredGang> gangs;
  };
  static Id id_of(std::size_t source, const std::string& ns, const std::string& name);
  void take_out(const Id& id);
  std::set<GangKey> concerned_by(const Id& id) const;
  std::optional<GangSpec> spec_of(const GangKey& gang) const;
  void announce(const std::set<GangKey>& gangs) const;

  Changed changed_;
  std::size_t max_gangs_;
  std::map<Id, Object> objects_;
  std::map<Id, std::set<Id>> owned_;          // objects, by their owner
  std::map<GangKey, std::set<Id>> speakers_;  // objects that declare the gang
};

}  // namespace chipweave::sched

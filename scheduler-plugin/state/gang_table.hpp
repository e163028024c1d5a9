// GangTable — the gangs of the cluster: which pods belong to each, and what their owners ask for.
//
// Pods say what gang they belong to (GangMark). How many there are to be, their roles, and how
// close they have to be, is said by an owner object (GangSpec), else by the pods; where pods differ
// about a number, the largest counts. Owner: the loop thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler-plugin/model/gangs/gang_spec.hpp"
#include "scheduler-plugin/model/pod.hpp"

namespace chipweave::sched {

struct Gang {
  std::string id;  // gang_id() of its pods
  std::string ns;
  std::string framework;
  std::string name;
  std::map<std::string, PodKey, std::less<>> members;  // by uid: pods that wait or are bound
  bool sequential = false;                             // GangMark::sequential, of any of them
  int spares = 0;                                      // GangMark::spares, the most of any of them
  bool ends_failed = false;   // whether any of them has another GangMark::fault than off
  GangSpec spec;              // of its owner, with what only its pods say
  std::uint64_t changes = 0;  // rises with each change of the above

  // How many pods must be there before any may start; 0: the gang is not planned as a whole. That
  // is so for ACK's groups, which have one node (Groups).
  int quorum() const;
  // How many pods it has, be it one; 0: that is not known.
  int size() const;
  bool size_known() const { return size() > 0; }
  // Whether so many are there. Of a sequential one, those that come later are not waited for.
  bool complete(std::size_t there) const {
    const bool waits = !sequential && !spec.sequential;
    return quorum() > 0 && there >= (waits ? static_cast<std::size_t>(quorum()) : 1U);
  }
  bool complete() const { return complete(members.size()); }
};

class GangTable {
 public:
  GangTable() = default;
  GangTable(const GangTable&) = delete;
  GangTable& operator=(const GangTable&) = delete;

  // The pod is there, or its mark has changed. Ignores pods that name no gang. Cost: O(log gangs +
  // log members). Returns its gang; null: none.
  const Gang* add(const PodRequest& pod);
  // The pod is gone. Returns the id of the gang that it was in; "": none. A gang ends with its last
  // pod.
  std::string remove(std::string_view uid);
  // What an owner object asks for; nullopt: there is none any more. Its pods may come later.
  // Returns the gang; null: no pod names it yet.
  const Gang* set_spec(const std::string& id, std::optional<GangSpec> spec);

  // Gang::quorum() of the pod's gang, of whose pods none is known but this one.
  int quorum_of(const PodRequest& pod) const;
  // Whether an owner object speaks of the gang.
  bool has_owner(std::string_view id) const { return of_owners_.contains(id); }
  // Null if no pod names it.
  const Gang* find(std::string_view id) const;
  // The gang of a pod; null: none.
  const Gang* of(std::string_view uid) const;
  const std::map<std::string, Gang, std::less<>>& all() const { return gangs_; }

 private:
  void merge(Gang& gang) const;

  std::map<std::string, Gang, std::less<>> gangs_;               // by id
  std::map<std::string, GangSpec, std::less<>> of_owners_;       // by id
  std::map<std::string, GangSpec, std::less<>> of_pods_;         // by id, while there are pods
  std::map<std::string, std::string, std::less<>> gang_of_pod_;  // uid to id
};

}  // namespace chipweave::sched

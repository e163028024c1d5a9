// Owner objects of gangs: what they say about sizes, minima, roles and topology, one framework a
// file. Their metadata and spec are read from the API server's lists and watches
// (WatchReader<KubeGangObject>); the spec is JSON that read_gangs() checks.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/kube/pod/pod.hpp"
#include "common/domain/gangs/gang_spec.hpp"

namespace chipweave::codec {

// What an ownerReference names, in the same namespace; empty kind: nothing.
struct OwnerName {
  std::string group;  // "batch.volcano.sh"
  std::string kind;
  std::string name;
  friend auto operator<=>(const OwnerName&, const OwnerName&) = default;
};

struct KubeGangObject {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  StringMap labels;
  StringMap annotations;
  OwnerName owner;   // its controller, else its first owner
  std::string spec;  // JSON; empty: it has none
};

// A gang that an object speaks of; framework and name are those of the pods' marks
// (scheduler-plugin/model/gangs).
struct DeclaredGang {
  std::string framework;
  std::string name;
  domain::GangSpec spec;
  friend bool operator==(const DeclaredGang&, const DeclaredGang&) = default;
};

class GangReading;

// A kind of objects, one row of the table.
struct GangSource {
  const char* setting;                  // of the scheduler's gang-kinds: "volcano"
  const char* group;                    // "scheduling.volcano.sh"
  std::array<const char*, 2> versions;  // the one to try first; the second may be null
  const char* resource;                 // "podgroups"
  const char* kind;                     // "PodGroup"
  void (*read)(const KubeGangObject&, GangReading&);
};
// Those of one setting follow each other; of two objects that speak of one gang, the one whose row
// comes first counts, and the other adds what is missing.
std::span<const GangSource> gang_sources();
// The settings, each once, in the order of the rows.
std::vector<std::string_view> gang_settings();

// Fields that cannot be used are in GangSpec::problem, which names them. Errors: the spec is not
// JSON or exceeds a limit.
Result<std::vector<DeclaredGang>> read_gangs(const GangSource& source,
                                             const KubeGangObject& object);

// What the labels and annotations of a pod, or of a pod template, ask for.
domain::TopologyWish topology_of_pod(const StringMap& labels, const StringMap& annotations);

}  // namespace chipweave::codec

// LeaderWorkerSet (leaderworkerset.x-k8s.io/v1): each of its groups is a gang.
#include "common/codec/kube/gangs/gang_reading.hpp"

namespace chipweave::codec {
namespace {

constexpr std::string_view kGroupsApart = "leaderworkerset.sigs.k8s.io/exclusive-topology";
constexpr std::string_view kSubgroupsApart =
    "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology";

// Pods 0 to size-1 of a group, in subgroups of the same size.
void read_subgroups(const KubeGangObject& object, GangReading& reading, const JsonObject& group,
                    domain::GangSpec& to) {
  const auto policy = reading.part(group, "subGroupPolicy");
  const auto size = policy ? pods_of(*policy, "subGroupSize", 1) : std::nullopt;
  const auto level = object.annotations.find(kSubgroupsApart);
  if (!size || level == object.annotations.end()) return;
  if (*to.size % *size != 0)
    return policy->problem("subGroupSize", "must divide size, " + std::to_string(*to.size) +
                                               ": a leader beside its subgroup is not supported");
  domain::Partition partition;
  partition.size = *size;
  partition.total = *to.size / *size;
  partition.topology.required.push_back(level->second);
  to.partition = std::move(partition);
}

}  // namespace

// Its controller copies the annotation to the pods.
void lws_topology(const Marks& marks, domain::TopologyWish& to) {
  if (const auto level = marks.annotation(kGroupsApart); !level.empty())
    to.required.emplace_back(level);
}

void read_lws(const KubeGangObject& object, GangReading& reading) {
  const JsonObject& spec = reading.spec();
  const int replicas = spec.integer("replicas", 0, limits::kMaxManifestPods).value_or(1);
  const auto group = reading.part(spec, "leaderWorkerTemplate");
  domain::GangSpec to;
  to.size = group ? pods_of(*group, "size", 1).value_or(1) : 1;
  if (const auto at = object.annotations.find(kGroupsApart); at != object.annotations.end())
    to.topology.required.push_back(at->second);
  if (group) {
    read_subgroups(object, reading, *group, to);
    // The leader has the workers' template unless it has one of its own.
    if (const auto worker = reading.part(*group, "workerTemplate")) {
      domain::TopologyWish wish;
      std::optional<domain::ChipCounts> chips;
      read_pod_template(*worker, wish, chips);
      add_missing(to.topology, wish);
      if (!group->has("leaderTemplate")) to.chips = std::move(chips);
    }
  }
  for (int i = 0; i < replicas; ++i)
    reading.declare("lws", object.name + "/" + std::to_string(i)) = to;
}

}  // namespace chipweave::codec

// Grove: PodGang (scheduler.grove.io/v1alpha1).
#include <algorithm>

#include "common/codec/kube/gangs/gang_reading.hpp"

namespace chipweave::codec {
namespace {

void read_pack(const GangReading& reading, const JsonObject& parent, domain::TopologyWish& to) {
  const auto constraint = reading.part(parent, "topologyConstraint");
  const auto pack = constraint ? reading.part(*constraint, "packConstraint") : std::nullopt;
  if (!pack) return;
  add_level(*pack, "required", to.required);
  add_level(*pack, "preferred", to.preferred);
}

}  // namespace

// A pod group is a subgroup, and so is each set of groups with a constraint of its own.
void read_pod_gang(const KubeGangObject& object, GangReading& reading) {
  const JsonObject& spec = reading.spec();
  domain::GangSpec& to = reading.declare("grove", object.name);
  read_pack(reading, spec, to.topology);
  for (const JsonValue value : spec.array("podgroups", limits::kMaxGangSets)) {
    const JsonObject one = reading.part(value);
    domain::SubgroupSpec group;
    group.name = one.require_text("name").value_or("");
    group.minimum = pods_of(one, "minReplicas");
    const auto pods = static_cast<int>(one.array("podReferences", limits::kMaxGangPods).size());
    group.pods = std::max(pods, group.minimum.value_or(0));
    read_pack(reading, one, group.topology);
    to.subgroups.push_back(std::move(group));
  }
  const std::size_t groups = to.subgroups.size();
  for (const JsonValue value : spec.array("topologyConstraintGroupConfigs", limits::kMaxGangSets)) {
    const JsonObject one = reading.part(value);
    domain::SubgroupSpec parent;
    parent.name = one.require_text("name").value_or("");
    parent.pods = 0;
    read_pack(reading, one, parent.topology);
    for (const std::string& name : one.texts("podGroupNames", limits::kMaxGangSets)) {
      std::size_t i = 0;
      while (i < groups && to.subgroups[i].name != name) ++i;
      if (i == groups)
        one.problem("podGroupNames", unknown_name("pod group", name, {}));
      else if (!to.subgroups[i].parent.empty())
        one.problem("podGroupNames", "names a pod group that is in another set");
      else
        to.subgroups[i].parent = parent.name;
    }
    to.subgroups.push_back(std::move(parent));
  }
}

}  // namespace chipweave::codec

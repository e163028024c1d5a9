// KAI and Run:ai: PodGroup (scheduling.run.ai/v2alpha2) and annotations of workloads.
#include "common/codec/kube/gangs/gang_reading.hpp"

namespace chipweave::codec {
namespace {

void read_constraint(const GangReading& reading, const JsonObject& parent,
                     domain::TopologyWish& to) {
  const auto constraint = reading.part(parent, "topologyConstraint");
  if (!constraint) return;
  add_level(*constraint, "requiredTopologyLevel", to.required);
  add_level(*constraint, "preferredTopologyLevel", to.preferred);
}

// The subgroups directly below a parent, as a set of which so many must start.
void read_min_subgroups(const JsonObject& of, const std::string& parent, domain::GangSpec& to) {
  const auto least = pods_of(of, "minSubGroup");
  if (!least) return;
  const std::string set = parent.empty() ? "subgroups" : "subgroups of " + parent;
  int children = 0;
  for (domain::SubgroupSpec& one : to.subgroups) {
    if (one.parent != parent) continue;
    one.set = set;
    ++children;
  }
  if (*least > children)
    return of.problem("minSubGroup", "is more than the subgroups, " + std::to_string(children));
  to.min_sets[set] = *least;
}

}  // namespace

void kai_topology(const Marks& marks, domain::TopologyWish& to) {
  const auto add = [&](std::string_view key, std::vector<std::string>& levels) {
    if (const auto level = marks.annotation(key); !level.empty()) levels.emplace_back(level);
  };
  add("kai.scheduler/topology-required-placement", to.required);
  add("kai.scheduler/topology-preferred-placement", to.preferred);
}

void read_kai_pod_group(const KubeGangObject& object, GangReading& reading) {
  const JsonObject& spec = reading.spec();
  domain::GangSpec& to = reading.declare("kai", object.name);
  to.minimum = pods_of(spec, "minMember", 1);
  read_constraint(reading, spec, to.topology);
  const JsonValue list = spec.array("subGroups", limits::kMaxGangSets);
  for (const JsonValue value : list) {
    const JsonObject one = reading.part(value);
    domain::SubgroupSpec group;
    group.name = one.require_text("name").value_or("");
    group.parent = one.text_or_empty("parent");
    group.minimum = pods_of(one, "minMember");
    read_constraint(reading, one, group.topology);
    to.subgroups.push_back(std::move(group));
  }
  read_min_subgroups(spec, "", to);
  for (const JsonValue value : list) {
    const JsonObject one = reading.part(value);
    const std::string name = one.text_or_empty("name");
    if (!name.empty() && one.has("minSubGroup")) read_min_subgroups(one, name, to);
  }
}

}  // namespace chipweave::codec

// KubeRay: RayCluster (ray.io/v1).
#include <algorithm>
#include <limits>

#include "common/codec/kube/gangs/gang_reading.hpp"

namespace chipweave::codec {
namespace {

// With autoscaling the cluster starts with the least of each group and grows.
domain::RoleSpec read_group(const GangReading& reading, JsonValue value, bool scales) {
  const JsonObject group = reading.part(value);
  domain::RoleSpec role;
  role.name = group.require_text("groupName").value_or("");
  const int hosts = pods_of(group, "numOfHosts", 1).value_or(1);
  const bool suspended = group.flag("suspend").value_or(false);
  const int least = pods_of(group, "minReplicas").value_or(0);
  const int most = group.integer("maxReplicas", 0, std::numeric_limits<int>::max())
                       .value_or(std::numeric_limits<int>::max());
  const int given = pods_of(group, "replicas").value_or(least);
  int replicas = given < least ? least : std::min(given, most);
  if (suspended) replicas = 0;
  role.pods = pods_product(group, "replicas", replicas, hosts);
  if (scales && !suspended) role.minimum = pods_product(group, "minReplicas", least, hosts);
  read_template(group, role.topology, role.chips);
  return role;
}

}  // namespace

void read_ray_cluster(const KubeGangObject& object, GangReading& reading) {
  const JsonObject& spec = reading.spec();
  domain::GangSpec& to = reading.declare("ray", object.name);
  if (const auto head = reading.part(spec, "headGroupSpec")) {
    domain::RoleSpec role;
    role.name = "headgroup";
    role.pods = 1;
    read_template(*head, role.topology, role.chips);
    to.roles.push_back(std::move(role));
  }
  const bool scales = spec.flag("enableInTreeAutoscaling").value_or(false);
  for (const JsonValue value : spec.array("workerGroupSpecs", limits::kMaxGangSets))
    to.roles.push_back(read_group(reading, value, scales));
  to.size = pods_of_roles(reading, to);
  if (!scales || !to.size) return;
  int least = 0;
  for (const domain::RoleSpec& role : to.roles) least += role.minimum.value_or(*role.pods);
  to.minimum = least;
}

}  // namespace chipweave::codec

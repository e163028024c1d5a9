// Kubernetes' own gangs (scheduling.k8s.io): PodGroup (v1alpha2, v1beta1) and Workload (v1alpha1).
#include "common/codec/kube/gangs/gang_reading.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kMaxTopologies = 16;  // Kubernetes accepts one
constexpr std::size_t kMaxGroups = 64;      // and 8 of these

void read_policy(const GangReading& reading, const JsonObject& parent, std::string_view key,
                 domain::GangSpec& to) {
  const auto policy = reading.part(parent, key);
  if (!policy) return;
  if (const auto gang = reading.part(*policy, "gang"))
    to.minimum = gang->require_integer("minCount", 1, limits::kMaxGangPods);
  else
    to.minimum = 1;  // basic: its pods start one by one
}

}  // namespace

void read_native_pod_group(const KubeGangObject& object, GangReading& reading) {
  domain::GangSpec& to = reading.declare("kubernetes", object.name);
  read_policy(reading, reading.spec(), "schedulingPolicy", to);
  const auto constraints = reading.part(reading.spec(), "schedulingConstraints");
  if (!constraints) return;
  for (const JsonValue value : constraints->array("topology", kMaxTopologies)) {
    const JsonObject one = reading.part(value);
    if (auto key = one.require_text("key"); key && !key->empty())
      to.topology.required.push_back(*std::move(key));
  }
}

// Pods name "workload/group/replica"; a replica key that pods set is theirs alone, so that only the
// groups without one are known here.
void read_native_workload(const KubeGangObject& object, GangReading& reading) {
  for (const JsonValue value : reading.spec().array("podGroups", kMaxGroups)) {
    const JsonObject group = reading.part(value);
    const std::string name = group.require_text("name").value_or("");
    read_policy(reading, group, "policy",
                reading.declare("kubernetes", object.name + "/" + name + "/"));
  }
}

}  // namespace chipweave::codec

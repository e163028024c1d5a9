// Volcano: Job (batch.volcano.sh/v1alpha1) and PodGroup (scheduling.volcano.sh/v1beta1).
#include "common/base/text.hpp"
#include "common/codec/kube/gangs/gang_reading.hpp"

namespace chipweave::codec {
namespace {

constexpr int kMaxTier = 1'000'000;
constexpr const char* kTaskLabel = "volcano.sh/task-spec";

// Mode soft names no level: as compact as possible, which is how every gang is planned.
void read_network_topology(const GangReading& reading, const JsonObject& parent,
                           domain::TopologyWish& to) {
  const auto topology = reading.part(parent, "networkTopology");
  if (!topology) return;
  const std::string mode = topology->text("mode").value_or("hard");
  if (mode != "hard" && mode != "soft")
    topology->problem("mode", unknown_name("mode", mode, {"hard", "soft"}));
  const auto tier = topology->integer("highestTierAllowed", 0, kMaxTier);
  const std::string name = topology->text_or_empty("highestTierName");
  if (topology->has("highestTierAllowed") && !name.empty())
    topology->problem("highestTierName", "cannot be combined with highestTierAllowed");
  if (mode != "hard") return;
  if (tier) to.required.push_back(domain::kTierPrefix + std::to_string(*tier));
  if (!tier && !name.empty()) to.required.push_back(name);
}

std::optional<domain::Partition> read_partition(const GangReading& reading, const JsonObject& task,
                                                int replicas) {
  const auto policy = reading.part(task, "partitionPolicy");
  if (!policy) return std::nullopt;
  domain::Partition out;
  out.total = policy->require_integer("totalPartitions", 1, limits::kMaxGangPods);
  out.size = policy->require_integer("partitionSize", 1, limits::kMaxGangPods).value_or(1);
  if (out.total && std::int64_t{*out.total} * out.size != replicas) {
    policy->problem("partitionSize",
                    "times totalPartitions must be the replicas, " + std::to_string(replicas));
    out.total.reset();
  }
  out.minimum = pods_of(*policy, "minPartitions");
  if (out.minimum && out.total && *out.minimum > *out.total)
    policy->problem("minPartitions", "is more than totalPartitions");
  read_network_topology(reading, *policy, out.topology);
  return out;
}

void read_task(GangReading& reading, JsonValue value, domain::GangSpec& to) {
  const JsonObject task = reading.part(value);
  domain::RoleSpec role;
  role.name = task.text_or_empty("name");
  // as Volcano's admission names it
  if (role.name.empty()) role.name = "default" + std::to_string(to.roles.size());
  role.pods = pods_of(task, "replicas").value_or(1);
  role.minimum = pods_of(task, "minAvailable");
  if (role.minimum && *role.minimum > *role.pods) {
    task.problem("minAvailable", "is more than the replicas, " + std::to_string(*role.pods));
    role.minimum.reset();
  }
  role.partition = read_partition(reading, task, *role.pods);
  to.sequential = to.sequential || task.has("dependsOn");
  read_template(task, role.topology, role.chips);
  to.roles.push_back(std::move(role));
}

// "" for a selector of all pods; nullopt for one of other pods than those of a task.
std::optional<std::string> task_of_selector(const GangReading& reading, const JsonObject& policy) {
  const auto selector = reading.part(policy, "labelSelector");
  if (!selector) return std::string();
  const JsonValue labels = selector->map("matchLabels", limits::kMaxGangSets);
  const JsonValue expressions = selector->array("matchExpressions", limits::kMaxGangSets);
  if (labels.empty() && expressions.empty()) return std::string();
  if (labels.size() != 1 || !expressions.empty() || !labels[kTaskLabel].is_string()) {
    policy.problem("labelSelector",
                   std::string("only matchLabels with ") + kTaskLabel + " is supported");
    return std::nullopt;
  }
  return std::string(labels[kTaskLabel].text());
}

void read_subgroup_policy(GangReading& reading, JsonValue value, domain::GangSpec& to) {
  const JsonObject policy = reading.part(value);
  domain::Partition partition;
  partition.size = pods_of(policy, "subGroupSize", 1).value_or(1);
  partition.minimum = pods_of(policy, "minSubGroups");
  read_network_topology(reading, policy, partition.topology);
  const auto task = task_of_selector(reading, policy);
  if (!task) return;
  if (task->empty()) {
    if (to.partition) policy.problem("labelSelector", "several policies select all pods");
    to.partition = std::move(partition);
    return;
  }
  for (domain::RoleSpec& role : to.roles) {
    if (role.name == *task) {
      role.partition = std::move(partition);
      return;
    }
  }
  domain::RoleSpec role;
  role.name = *task;
  role.partition = std::move(partition);
  to.roles.push_back(std::move(role));
}

}  // namespace

void volcano_topology(const Marks& marks, domain::TopologyWish& to) {
  constexpr std::string_view kMode = "volcano.sh/network-topology-mode";
  constexpr std::string_view kTier = "volcano.sh/network-topology-highest-tier";
  const std::string_view mode = marks.annotation(kMode);
  if (!mode.empty() && mode != "hard" && mode != "soft")
    return note_problem(to, kMode, mode, "expected hard or soft");
  if (mode == "soft" || !marks.has(kTier)) return;
  const auto tier = whole_number<int>(marks.annotation(kTier), kMaxTier);
  if (!tier) return note_problem(to, kTier, marks.annotation(kTier), "expected a tier's number");
  to.required.push_back(domain::kTierPrefix + std::to_string(*tier));
}

void read_volcano_job(const KubeGangObject& object, GangReading& reading) {
  const JsonObject& spec = reading.spec();
  domain::GangSpec& to = reading.declare("volcano", object.name);
  for (const JsonValue task : spec.array("tasks", limits::kMaxGangSets))
    read_task(reading, task, to);
  to.size = pods_of_roles(reading, to);
  // 0 is Volcano's way to say that nothing is given.
  if (const auto minimum = pods_of(spec, "minAvailable"); minimum.value_or(0) > 0)
    to.minimum = minimum;
  if (to.minimum && to.size && *to.minimum > *to.size)
    spec.problem("minAvailable", "is more than all replicas, " + std::to_string(*to.size));
  read_network_topology(reading, spec, to.topology);
}

void read_volcano_pod_group(const KubeGangObject& object, GangReading& reading) {
  const JsonObject& spec = reading.spec();
  domain::GangSpec& to = reading.declare("volcano", object.name);
  if (const auto minimum = pods_of(spec, "minMember"); minimum.value_or(0) > 0)
    to.minimum = minimum;
  for (const JsonValue value : spec.map("minTaskMember", limits::kMaxGangSets)) {
    domain::RoleSpec role;
    role.name = value.name();
    role.minimum = as_integer(value, 0, limits::kMaxGangPods, reading.problems());
    to.roles.push_back(std::move(role));
  }
  for (const JsonValue policy : spec.array("subGroupPolicy", limits::kMaxGangSets))
    read_subgroup_policy(reading, policy, to);
  if (to.partition && !to.roles.empty()) {
    spec.problem("subGroupPolicy", "of all pods cannot be combined with tasks of their own");
    to.partition.reset();
  }
  read_network_topology(reading, spec, to.topology);
}

}  // namespace chipweave::codec

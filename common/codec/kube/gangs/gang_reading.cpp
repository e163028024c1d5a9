#include "common/codec/kube/gangs/gang_reading.hpp"

#include <algorithm>
#include <array>

#include "common/base/text.hpp"
#include "common/codec/kube/gangs/replica_types.hpp"

namespace chipweave::codec {
namespace {

StringMap texts_of(const JsonObject& metadata, std::string_view key) {
  StringMap out;
  for (const JsonValue value : metadata.map(key, limits::kMaxJsonValues)) {
    if (value.is_string())
      out[std::string(value.name())] = value.text();
    else
      metadata.problems().add(value, expected("a string", value));
  }
  return out;
}

void read_chips(const JsonObject& pod_template, std::optional<domain::ChipCounts>& chips) {
  const JsonValue spec = pod_template.find("spec");
  if (!spec) return;
  const auto pod = read_pod(R"({"metadata":{},"spec":)" + std::string(spec.raw()) + "}");
  if (!pod) return pod_template.problem("spec", pod.error().text());
  chips.emplace();
  for (const std::string& name : resource_names(*pod)) {
    if (!is_extended_resource(name)) continue;
    const auto count = count_resource(*pod, name);
    if (!count)
      pod_template.problem("spec", count.error().text());
    else if (*count > limits::kMaxChipsOfPod)
      pod_template.problem("spec", name + ": more chips than any supported machine has");
    else if (*count > 0)
      (*chips)[name] = static_cast<int>(*count);
  }
}

}  // namespace

std::optional<int> pods_of(const JsonObject& object, std::string_view key, int least) {
  return object.integer(key, least, limits::kMaxGangPods);
}

void add_level(const JsonObject& object, std::string_view key, std::vector<std::string>& to) {
  std::string name = object.text_or_empty(key);
  if (!name.empty()) to.push_back(std::move(name));
}

int pods_product(const JsonObject& object, std::string_view key, int a, int b) {
  const std::int64_t all = std::int64_t{a} * b;
  if (all <= limits::kMaxGangPods) return static_cast<int>(all);
  object.problem(key, "makes " + std::to_string(all) + " pods, at most " +
                          std::to_string(limits::kMaxGangPods) + " are accepted");
  return limits::kMaxGangPods;
}

std::optional<int> pods_of_roles(const GangReading& reading, const domain::GangSpec& spec) {
  std::int64_t sum = 0;
  for (const domain::RoleSpec& role : spec.roles) {
    if (!role.pods) return std::nullopt;
    sum += *role.pods;
  }
  if (sum <= limits::kMaxGangPods) return static_cast<int>(sum);
  reading.problems().add(reading.spec().value(),
                         "makes " + std::to_string(sum) + " pods, at most " +
                             std::to_string(limits::kMaxGangPods) + " are accepted");
  return std::nullopt;
}

StringMap annotations_of(const JsonObject& object_template) {
  const JsonValue given = object_template.find("metadata");
  if (!given) return {};
  return texts_of(JsonObject::tolerant(given, object_template.problems()), "annotations");
}

void read_pod_template(const JsonObject& pod_template, domain::TopologyWish& topology,
                       std::optional<domain::ChipCounts>& chips) {
  if (const JsonValue given = pod_template.find("metadata")) {
    const JsonObject metadata = JsonObject::tolerant(given, pod_template.problems());
    add_missing(topology,
                topology_of_pod(texts_of(metadata, "labels"), texts_of(metadata, "annotations")));
  }
  read_chips(pod_template, chips);
}

void read_template(const JsonObject& parent, domain::TopologyWish& topology,
                   std::optional<domain::ChipCounts>& chips) {
  if (const JsonValue value = parent.find("template"))
    read_pod_template(JsonObject::tolerant(value, parent.problems()), topology, chips);
}

std::vector<std::string> replica_types(JsonValue specs) {
  static constexpr std::array kLeaders{"chief", "master", "launcher", "scheduler"};
  std::vector<std::string> leaders;
  std::vector<std::string> others;
  for (const JsonValue spec : specs) {
    const std::string type(spec.name());
    const bool leads =
        std::find(kLeaders.begin(), kLeaders.end(), lower_case(type)) != kLeaders.end();
    (leads ? leaders : others).push_back(type);
  }
  std::sort(leaders.begin(), leaders.end());
  std::sort(others.begin(), others.end());
  leaders.insert(leaders.end(), others.begin(), others.end());
  return leaders;
}

void read_replica_specs(GangReading& reading, const char* key, domain::GangSpec& to) {
  const JsonValue specs = reading.spec().map(key, limits::kMaxGangSets);
  for (const std::string& type : replica_types(specs)) {
    const JsonObject one = reading.part(specs[type]);
    domain::RoleSpec role;
    role.name = lower_case(type);
    role.pods = pods_of(one, "replicas").value_or(1);
    read_template(one, role.topology, role.chips);
    to.roles.push_back(std::move(role));
  }
  to.size = pods_of_roles(reading, to);
}

void read_run_policy(GangReading& reading, domain::GangSpec& to) {
  const auto policy = reading.part(reading.spec(), "runPolicy");
  const auto scheduling =
      policy ? reading.part(*policy, "schedulingPolicy") : std::optional<JsonObject>();
  if (scheduling) to.minimum = pods_of(*scheduling, "minAvailable", 1);
}

}  // namespace chipweave::codec

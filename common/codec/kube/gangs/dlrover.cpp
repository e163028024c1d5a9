// DLRover: ElasticJob (elastic.iml.github.io/v1alpha1).
#include "common/base/text.hpp"
#include "common/codec/kube/gangs/gang_reading.hpp"

namespace chipweave::codec {
namespace {

// The minimum of "--nnodes=MIN:MAX" in a command of dlrover-run, which is the only place that has
// it; "--nnodes=$NODE_NUM" and a single number name none.
std::optional<int> least_nodes(std::string_view command) {
  constexpr std::string_view kFlag = "--nnodes";
  for (std::size_t at = command.find(kFlag); at != std::string_view::npos;
       at = command.find(kFlag, at + 1)) {
    std::string_view value = command.substr(at + kFlag.size());
    if (value.empty() || (value[0] != '=' && value[0] != ' ')) continue;
    value.remove_prefix(1);
    value = value.substr(0, value.find_first_of(" \t\n;&|\"'"));
    const std::size_t colon = value.find(':');
    if (colon == std::string_view::npos) continue;
    const auto least = parse_number<int>(value.substr(0, colon));
    if (least && *least >= 1 && *least <= limits::kMaxGangPods) return least;
  }
  return std::nullopt;
}

std::string command_of(JsonValue pod_template) {
  std::string out;
  for (const JsonValue container : pod_template["spec"]["containers"]) {
    for (const char* key : {"command", "args"})
      for (const JsonValue word : container[key]) out += std::string(word.text()) + " ";
  }
  return out;
}

}  // namespace

void read_elastic_job(const KubeGangObject& object, GangReading& reading) {
  domain::GangSpec& to = reading.declare("dlrover", object.name);
  read_replica_specs(reading, "replicaSpecs", to);
  for (const JsonValue spec : reading.spec().find("replicaSpecs")) {
    const auto least = least_nodes(command_of(spec["template"]));
    if (!least) continue;
    for (domain::RoleSpec& role : to.roles)
      if (role.name == lower_case(spec.name()) && *least < *role.pods) role.minimum = least;
  }
  // The gang does not include the job's master, which the object does not list and which requests
  // no chips.
  if (!to.size) return;
  int least = 0;
  for (const domain::RoleSpec& role : to.roles) least += role.minimum.value_or(*role.pods);
  to.minimum = least;
}

}  // namespace chipweave::codec

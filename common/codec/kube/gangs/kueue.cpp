// Kueue: Workload (kueue.x-k8s.io) and annotations of pod templates.
#include <array>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/kube/gangs/gang_reading.hpp"

namespace chipweave::codec {
namespace {

constexpr std::string_view kRequired = "kueue.x-k8s.io/podset-required-topology";
constexpr std::string_view kPreferred = "kueue.x-k8s.io/podset-preferred-topology";
constexpr std::string_view kUnconstrained = "kueue.x-k8s.io/podset-unconstrained-topology";
constexpr std::string_view kSliceLevel = "kueue.x-k8s.io/podset-slice-required-topology";
constexpr std::string_view kSliceSize = "kueue.x-k8s.io/podset-slice-size";
constexpr std::string_view kLayers = "kueue.x-k8s.io/podset-slice-required-topology-constraints";
constexpr std::string_view kGroup = "kueue.x-k8s.io/podset-group-name";
constexpr std::size_t kMaxLayers = 3;
constexpr std::size_t kMaxPodSets = 16;  // Kueue accepts 8 or 10

// Sizes are written with quotes, too.
std::optional<int> layer_size(const JsonObject& layer) {
  const JsonValue value = layer.require("size");
  if (!value.is_string()) return layer.integer("size", 1, limits::kMaxGangPods);
  const auto size = parse_number<int>(value.text());
  if (size && *size >= 1 && *size <= limits::kMaxGangPods) return size;
  layer.problem("size", "must be 1 to " + std::to_string(limits::kMaxGangPods));
  return std::nullopt;
}

void read_layers(std::string_view text, domain::TopologyWish& to) {
  const auto tree = parse_json(text, kMarkLimits);
  if (!tree) return note_problem(to, kLayers, text, tree.error().text());
  JsonProblems problems;
  const JsonValue list(*tree);
  if (!list.is_array() || list.size() > kMaxLayers)
    return note_problem(to, kLayers, text, "expected a list of at most 3 layers");
  for (const JsonValue value : list) {
    const JsonObject layer = JsonObject::tolerant(value, problems);
    const auto level = layer.require_text("topology");
    const auto size = layer_size(layer);
    if (level && size) to.slices.push_back({*level, *size});
  }
  if (problems.any()) note_problem(to, kLayers, text, problems.error().text());
}

void read_slice(const Marks& marks, domain::TopologyWish& to) {
  const std::string_view level = marks.annotation(kSliceLevel);
  const auto size = marks.number(kSliceSize, limits::kMaxGangPods, to);
  if (marks.has(kLayers)) {
    if (!level.empty())
      note_problem(to, kLayers, marks.annotation(kLayers),
                   "it cannot be combined with " + std::string(kSliceLevel));
    return read_layers(marks.annotation(kLayers), to);
  }
  if (!level.empty() && !marks.has(kSliceSize))
    return note_problem(to, kSliceLevel, level, std::string(kSliceSize) + " is missing");
  if (level.empty() && marks.has(kSliceSize))
    return note_problem(to, kSliceSize, marks.annotation(kSliceSize),
                        std::string(kSliceLevel) + " is missing");
  if (!level.empty() && size) to.slices.push_back({std::string(level), *size});
}

domain::TopologyWish read_request(const JsonObject& request) {
  domain::TopologyWish to;
  add_level(request, "required", to.required);
  add_level(request, "preferred", to.preferred);
  if (!to.required.empty() && !to.preferred.empty())
    request.problem("preferred", "cannot be combined with required");
  if (request.flag("unconstrained").value_or(false) &&
      (!to.required.empty() || !to.preferred.empty()))
    request.problem("unconstrained", "cannot be combined with required or preferred");
  to.together = request.text_or_empty("podSetGroupName");
  to.per_role = true;
  const std::string level = request.text_or_empty("podSetSliceRequiredTopology");
  const auto size = pods_of(request, "podSetSliceSize", 1);
  if (!level.empty() && size)
    to.slices.push_back({level, *size});
  else if (!level.empty() && !request.has("podSetSliceSize"))
    request.problem("podSetSliceSize", "is missing");
  for (const JsonValue value :
       request.array("podsetSliceRequiredTopologyConstraints", kMaxLayers)) {
    const JsonObject layer = JsonObject::tolerant(value, request.problems());
    const auto name = layer.require_text("topology");
    const auto pods = layer_size(layer);
    if (name && pods) to.slices.push_back({*name, *pods});
  }
  return to;
}

// Which gang a Workload of this owner's is about.
struct OwnerKind {
  const char* kind;
  const char* framework;
  bool roles;  // the pod sets have the names of the pods' roles
};
constexpr std::array<OwnerKind, 11> kOwners{{{"Job", "job", false},
                                             {"PyTorchJob", "trainer", true},
                                             {"TFJob", "trainer", true},
                                             {"MPIJob", "trainer", true},
                                             {"PaddleJob", "trainer", true},
                                             {"XGBoostJob", "trainer", true},
                                             {"JAXJob", "trainer", true},
                                             {"RayCluster", "ray", true},
                                             {"JobSet", "jobset", false},
                                             {"TrainJob", "jobset", false},
                                             {"Pod", "kueue", false}}};

const OwnerKind* kind_of_owner(const KubeGangObject& object) {
  for (const OwnerKind& one : kOwners)
    if (object.owner.kind == one.kind) return &one;
  return nullptr;
}

}  // namespace

// One of required, preferred and unconstrained.
void kueue_topology(const Marks& marks, domain::TopologyWish& to) {
  std::string_view given;
  for (const std::string_view key : {kRequired, kPreferred, kUnconstrained}) {
    if (!marks.has(key)) continue;
    if (!given.empty())
      note_problem(to, key, marks.annotation(key),
                   "it cannot be combined with " + std::string(given));
    given = key;
  }
  if (const auto level = marks.annotation(kRequired); !level.empty())
    to.required.emplace_back(level);
  if (const auto level = marks.annotation(kPreferred); !level.empty())
    to.preferred.emplace_back(level);
  read_slice(marks, to);
  to.together = marks.annotation(kGroup);
  to.per_role = true;
}

void read_kueue_workload(const KubeGangObject& object, GangReading& reading) {
  const OwnerKind* owner = kind_of_owner(object);
  if (owner == nullptr) return;
  const bool of_pods = std::string_view(owner->framework) == "kueue";
  domain::GangSpec& to =
      reading.declare(owner->framework, of_pods ? object.name : object.owner.name);
  domain::GangSpec sets;  // the pod sets as roles
  int least = 0;
  for (const JsonValue value : reading.spec().array("podSets", kMaxPodSets)) {
    const JsonObject set = reading.part(value);
    domain::RoleSpec role;
    role.name = set.text_or_empty("name");
    if (owner->kind == std::string_view("RayCluster") && role.name == "head")
      role.name = "headgroup";
    role.pods = pods_of(set, "count").value_or(1);
    role.minimum = pods_of(set, "minCount", 1);
    if (role.minimum && *role.minimum > *role.pods) {
      set.problem("minCount", "is more than count, " + std::to_string(*role.pods));
      role.minimum.reset();
    }
    least += role.minimum.value_or(*role.pods);
    read_template(set, role.topology, role.chips);
    if (const auto request = reading.part(set, "topologyRequest")) {
      const domain::TopologyWish of_template = std::exchange(role.topology, read_request(*request));
      add_missing(role.topology, of_template);
    }
    sets.roles.push_back(std::move(role));
  }
  to.size = pods_of_roles(reading, sets);
  if (to.size && least < *to.size) to.minimum = least;
  if (owner->roles) {
    to.roles = std::move(sets.roles);
  } else if (sets.roles.size() == 1) {
    to.topology = std::move(sets.roles.front().topology);
    to.chips = std::move(sets.roles.front().chips);
  }
}

}  // namespace chipweave::codec

// Koordinator: PodGroup (scheduling.sigs.k8s.io/v1alpha1) and its annotations.
#include "common/codec/kube/gangs/gang_reading.hpp"

namespace chipweave::codec {
namespace {

constexpr std::string_view kSpec = "gang.scheduling.koordinator.sh/network-topology-spec";

void read_gather_rule(const JsonObject& rule, domain::TopologyWish& to) {
  const std::string layer = rule.require_text("layer").value_or("");
  const std::string strategy = rule.text_or_empty("strategy");
  const auto multiple = pods_of(rule, "podCountMultiple");
  if (layer.empty()) return;
  if (strategy == "MustGather")
    to.required.push_back(layer);
  else if (strategy == "PreferGather")
    to.preferred.push_back(layer);
  else
    rule.problem("strategy", unknown_name("strategy", strategy, {"MustGather", "PreferGather"}));
  if (multiple.value_or(0) > 1) to.slices.push_back({layer, *multiple});
}

}  // namespace

void koordinator_topology(const Marks& marks, domain::TopologyWish& to) {
  if (!marks.has(kSpec)) return;
  const std::string_view text = marks.annotation(kSpec);
  const auto tree = parse_json(text, kMarkLimits);
  if (!tree) return note_problem(to, kSpec, text, tree.error().text());
  JsonProblems problems;
  const JsonObject root = JsonObject::tolerant(JsonValue(*tree), problems);
  for (const JsonValue rule : root.array("gatherStrategy", limits::kMaxNetworkLevels))
    read_gather_rule(JsonObject::tolerant(rule, problems), to);
  if (problems.any()) note_problem(to, kSpec, text, problems.error().text());
}

void read_koordinator_pod_group(const KubeGangObject& object, GangReading& reading) {
  domain::GangSpec& to = reading.declare("koordinator", object.name);
  to.minimum = pods_of(reading.spec(), "minMember", 1);
  const Marks marks{object.labels, object.annotations};
  to.size = marks.number("gang.scheduling.koordinator.sh/total-number", limits::kMaxGangPods,
                         to.topology);
}

}  // namespace chipweave::codec

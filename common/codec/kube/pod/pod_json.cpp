// Pod documents that people and scripts post.
#include <nlohmann/json.hpp>

#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/kube/pod/nodes/node_pin.hpp"
#include "common/codec/kube/pod/pod.hpp"

namespace chipweave::codec {
namespace {

// Strings; with `numbers` also quantities without quotes ("nvidia.com/gpu": 1).
void read_text_map(const JsonObject& object, std::string_view key, bool numbers, StringMap& to) {
  for (const JsonValue value : object.map(key, limits::kMaxJsonValues)) {
    if (value.is_string() || (numbers && value.is_number())) {
      to[std::string(value.name())] = value.text();
    } else {
      object.problems().add(value, expected("a string", value));
    }
  }
}

KubeContainer read_container(JsonValue value, JsonProblems& problems) {
  KubeContainer out;
  const JsonObject container = JsonObject::tolerant(value, problems);
  out.name = container.text_or_empty("name");
  out.sidecar = container.text_or_empty("restartPolicy") == "Always";
  if (const JsonValue found = container.find("resources")) {
    const JsonObject resources = JsonObject::tolerant(found, problems);
    read_text_map(resources, "requests", true, out.requests);
    read_text_map(resources, "limits", true, out.limits);
  }
  return out;
}

void read_containers(const JsonObject& spec, std::string_view key, std::vector<KubeContainer>& to) {
  for (const JsonValue value : spec.array(key, limits::kMaxJsonValues)) {
    to.push_back(read_container(value, spec.problems()));
  }
}

void read_gates(const JsonObject& spec, std::vector<std::string>& to) {
  for (const JsonValue value : spec.array("schedulingGates", limits::kMaxJsonValues))
    to.push_back(JsonObject::tolerant(value, spec.problems()).text_or_empty("name"));
}

void read_spec(const JsonObject& root, KubePod& pod) {
  if (const JsonValue value = root.find("spec")) {
    const JsonObject spec = JsonObject::tolerant(value, root.problems());
    pod.node_name = spec.text_or_empty("nodeName");
    pod.scheduler = spec.text_or_empty("schedulerName");
    read_gates(spec, pod.gates);
    read_containers(spec, "initContainers", pod.init_containers);
    read_containers(spec, "containers", pod.containers);
    read_text_map(spec, "overhead", true, pod.overhead);
    if (const JsonValue resources = spec.find("resources"))
      read_text_map(JsonObject::tolerant(resources, root.problems()), "requests", true,
                    pod.requests);
  }
  if (const JsonValue value = root.find("status")) {
    pod.phase = JsonObject::tolerant(value, root.problems()).text_or_empty("phase");
  }
}

}  // namespace

Result<KubePod> read_pod(std::string_view json) {
  const Result<JsonTree> document = parse_json(json);
  if (!document) return document.error();
  JsonProblems problems;
  const JsonObject root = JsonObject::tolerant(JsonValue(*document), problems);
  const std::string kind = root.text("kind").value_or("Pod");
  if (kind != "Pod") root.problem("kind", "is '" + kind + "', only Pod is accepted here");
  KubePod pod;
  if (const JsonValue value = root.require("metadata")) {
    const JsonObject metadata = JsonObject::tolerant(value, problems);
    pod.name = metadata.text_or_empty("name");
    pod.ns = metadata.text_or_empty("namespace");
    pod.uid = metadata.text_or_empty("uid");
    read_text_map(metadata, "labels", false, pod.labels);
    read_text_map(metadata, "annotations", false, pod.annotations);
  }
  read_spec(root, pod);
  if (problems.any()) return problems.error();
  return pod;
}

Result<std::string> write_pod(std::string_view json, const PodChanges& changes) {
  using Json = nlohmann::json;  // the document is edited and written back
  if (const auto checked = parse_json(json); !checked) return checked.error();
  try {
    Json root = Json::parse(json);
    Json& metadata = root["metadata"];
    metadata["namespace"] = changes.ns;
    metadata["uid"] = changes.uid;
    for (const auto& [key, value] : changes.annotations) metadata["annotations"][key] = value;
    if (!changes.node.empty()) root["spec"]["nodeName"] = changes.node;
    if (!changes.without_gate.empty()) {
      Json& gates = root["spec"]["schedulingGates"];
      std::erase_if(gates.get_ref<Json::array_t&>(), [&](const Json& gate) {
        return gate.value("name", "") == changes.without_gate;
      });
      if (gates.empty()) root["spec"].erase("schedulingGates");
    }
    if (!changes.pin_to.empty()) {
      auto terms = pin_terms(json, changes.pin_to);
      if (!terms) return std::move(terms).error();
      root["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
          ["nodeSelectorTerms"] = Json::parse(*terms);
    }
    return root.dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const Json::exception& e) {
    return make_error(Errc::internal, std::string("pod cannot be written: ") + e.what());
  }
}

}  // namespace chipweave::codec

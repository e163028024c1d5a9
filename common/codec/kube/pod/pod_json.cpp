// Pod documents that people and scripts post.
#include <nlohmann/json.hpp>

#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
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

void read_spec(const JsonObject& root, KubePod& pod) {
  if (const JsonValue value = root.find("spec")) {
    const JsonObject spec = JsonObject::tolerant(value, root.problems());
    pod.node_name = spec.text_or_empty("nodeName");
    pod.scheduler = spec.text_or_empty("schedulerName");
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

Result<std::string> write_pod(std::string_view json, const std::string& ns, const std::string& uid,
                              const std::string& node,
                              const std::map<std::string, std::string>& annotations) {
  using Json = nlohmann::json;  // the document is edited and written back
  if (const auto checked = parse_json(json); !checked) return checked.error();
  try {
    Json root = Json::parse(json);
    Json& metadata = root["metadata"];
    metadata["namespace"] = ns;
    metadata["uid"] = uid;
    for (const auto& [key, value] : annotations) metadata["annotations"][key] = value;
    if (!node.empty()) root["spec"]["nodeName"] = node;
    return root.dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (const Json::exception& e) {
    return make_error(Errc::internal, std::string("pod cannot be written: ") + e.what());
  }
}

}  // namespace chipweave::codec

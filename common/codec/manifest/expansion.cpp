#include "common/codec/manifest/expansion.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>

#include "common/base/limits.hpp"

namespace chipweave::codec {
namespace {

using nlohmann::json;

// The one label whose value is known without a cluster: the node's name.
constexpr const char* kHostname = "kubernetes.io/hostname";

// What the pod requests of each extended resource, counted as the scheduler counts it.
std::map<std::string, int> pod_resources(const std::string& pod, const std::string& where,
                                         Shape& shape) {
  std::map<std::string, int> out;
  const Result<KubePod> read = read_pod(pod);
  if (!read) {
    shape.problem(where + ":", read.error().text());
    return out;
  }
  for (const std::string& name : resource_names(*read)) {
    if (!is_extended_resource(name)) continue;
    const Result<std::int64_t> count = count_resource(*read, name);
    if (!count) {
      shape.problem(where + ":", count.error().text());
    } else if (*count > 0) {
      out[name] = static_cast<int>(*count);
    }
  }
  return out;
}

// The API server's default: what is limited and not requested is requested.
void default_requests(json& spec) {
  for (const char* list : {"containers", "initContainers"}) {
    if (!spec.contains(list)) continue;
    for (json& container : spec[list]) {
      if (!container.contains("resources") || !container["resources"].is_object()) continue;
      json& resources = container["resources"];
      if (!resources.contains("limits") || !resources["limits"].is_object()) continue;
      json& requests = resources["requests"];
      if (requests.is_null()) requests = json::object();
      for (const auto& [name, value] : resources["limits"].items()) {
        if (!requests.contains(name)) requests[name] = value;
      }
    }
  }
}

// Labels and annotations are maps of strings; the API server also rejects numbers and booleans
// there.
void add_texts(json& into, JsonValue from, const std::string& where, Shape& shape) {
  for (const JsonValue value : from) {
    if (!value.is_string()) {
      shape.problem(fmt::format("{}.{}", where, value.name()),
                    expected("a string", value) + " (put it in quotes)");
      continue;
    }
    into[std::string(value.name())] = value.text();
  }
}

void add_texts(json& into, const StringMap& from) {
  for (const auto& [key, value] : from) into[key] = value;
}

json owner_reference(const ManifestObject& owner) {
  return json::array({{{"apiVersion", owner.api_version},
                       {"kind", owner.kind},
                       {"name", owner.name},
                       {"controller", true}}});
}

json make_pod(const ManifestObject& owner, JsonValue pod_template, const PodIdentity& identity,
              const std::string& where, Shape& shape) {
  const std::string in_metadata = where + ".metadata";
  const JsonValue given = shape.object(pod_template, "metadata", where);
  json metadata = {{"name", identity.name}, {"namespace", owner.ns}};
  json labels = json::object();
  add_texts(labels, shape.object(given, "labels", in_metadata), in_metadata + ".labels", shape);
  add_texts(labels, identity.labels);
  json annotations = json::object();
  add_texts(annotations, shape.object(given, "annotations", in_metadata),
            in_metadata + ".annotations", shape);
  add_texts(annotations, identity.annotations);
  if (!labels.empty()) metadata["labels"] = std::move(labels);
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  if (owner.kind != "Pod") metadata["ownerReferences"] = owner_reference(owner);

  const JsonValue given_spec = shape.object(pod_template, "spec", where);
  json spec = given_spec ? json::parse(given_spec.raw()) : json::object();
  for (const auto& [key, value] : identity.spec_defaults.items()) {
    if (!spec.contains(key)) spec[key] = value;
  }
  if (shape.array(given_spec, "containers", where + ".spec").empty()) {
    shape.problem(where + ".spec.containers", "must list at least one container");
  }
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)},
          {"status", {{"phase", "Pending"}}}};
}

}  // namespace

bool Expansion::room_for(int more, JsonValue pod_template, const std::string& where, Shape& shape) {
  if (!shape.sound()) return false;
  if (more > limits::kMaxManifestPods - static_cast<int>(manifest_.pods.size())) {
    shape.problem(where, "makes more than " + std::to_string(limits::kMaxManifestPods) +
                             " pods of one file; lower the replicas");
    return false;
  }
  bytes_ += pod_template.raw().size() * static_cast<std::size_t>(more);
  if (bytes_ > limits::kMaxManifestExpandedBytes) {
    shape.problem(where, "makes more than " +
                             std::to_string(limits::kMaxManifestExpandedBytes >> 20U) +
                             " MiB of pods; lower the replicas or split the file");
    return false;
  }
  return true;
}

void Expansion::add_pod(const ManifestObject& owner, JsonValue pod_template,
                        const PodIdentity& identity, const std::string& where, Shape& shape) {
  shape.check_name(identity.name, owner.kind + " " + owner.name + ": pod name");
  json pod = make_pod(owner, pod_template, identity, where, shape);
  if (!options_.owners) pod["metadata"].erase("ownerReferences");
  ManifestPod out;
  if (!shape.sound()) return;
  if (!names_.insert(owner.ns + "/" + identity.name).second) {
    shape.problem(where, "makes pod " + owner.ns + "/" + identity.name + " a second time");
    return;
  }
  default_requests(pod["spec"]);
  out.ns = owner.ns;
  out.name = identity.name;
  if (owner.kind != "Pod") out.owner = owner.kind + " " + owner.name;
  const JsonValue spec = pod_template["spec"];
  const JsonValue selector = shape.object(spec, "nodeSelector", where + ".spec");
  out.hostname = shape.text(selector, kHostname, where + ".spec.nodeSelector");
  out.selects_nodes = spec["affinity"] || selector.size() > (selector[kHostname] ? 1U : 0U);
  if (!shape.sound()) return;
  const json& metadata = pod["metadata"];
  if (metadata.contains("labels")) out.group = metadata["labels"].value("gpu-topology", "");
  out.json = pod.dump();
  out.resources = pod_resources(out.json, where, shape);
  if (!shape.sound()) return;
  manifest_.pods.push_back(std::move(out));
}

void Expansion::note(std::string text) { manifest_.notes.push_back(std::move(text)); }

}  // namespace chipweave::codec

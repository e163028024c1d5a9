#include "tests/unit/sched_kube/simulated_objects.hpp"

#include <nlohmann/json.hpp>

#include "common/base/json_writer.hpp"

namespace chipweave::sched::test {

void SimulatedProcess::run(std::function<void()> task) {
  if (!paused) return task();
  held.push_back(std::move(task));
}

void SimulatedProcess::resume() {
  paused = false;
  for (const auto& task : std::exchange(held, {})) task();
}

std::string pod_json(const ServerPod& pod) {
  JsonWriter w;
  w.begin_object().key("metadata").begin_object();
  w.field("namespace", pod.ns).field("name", pod.name).field("uid", pod.uid);
  w.field("resourceVersion", std::to_string(pod.version));
  if (pod.ending) w.field("deletionTimestamp", "2026-01-02T03:04:05Z");
  w.key("labels").begin_object();
  for (const auto& [name, value] : pod.labels) w.field(name, value);
  w.end_object().key("annotations").begin_object();
  for (const auto& [name, value] : pod.annotations) w.field(name, value);
  w.end_object().end_object().key("spec").begin_object();
  if (!pod.node.empty()) w.field("nodeName", pod.node);
  if (!pod.gang.empty()) {
    w.key("schedulingGroup").begin_object().field("podGroupName", pod.gang).end_object();
  }
  if (!pod.gates.empty()) {
    w.key("schedulingGates").begin_array();
    for (const std::string& gate : pod.gates) w.begin_object().field("name", gate).end_object();
    w.end_array();
  }
  if (!pod.node_selector.empty()) {
    w.key("nodeSelector").begin_object();
    for (const auto& [name, value] : pod.node_selector) w.field(name, value);
    w.end_object();
  }
  if (!pod.pinned_to.empty()) {
    w.key("affinity").begin_object().key("nodeAffinity").begin_object();
    w.key("requiredDuringSchedulingIgnoredDuringExecution").begin_object();
    w.key("nodeSelectorTerms").begin_array().begin_object().key("matchFields").begin_array();
    w.begin_object().field("key", "metadata.name").field("operator", "In").key("values");
    w.begin_array().string(pod.pinned_to).end_array().end_object();
    w.end_array().end_object().end_array().end_object().end_object().end_object();
  }
  if (!pod.claims.empty()) {
    w.key("resourceClaims").begin_array();
    for (const auto& [name, claim] : pod.claims)
      w.begin_object().field("name", name).field("resourceClaimTemplateName", "t").end_object();
    w.end_array();
  }
  w.key("priority").integer(pod.priority).key("containers").begin_array();
  w.begin_object().field("name", "c").key("resources").begin_object();
  w.key("requests").begin_object().field("cpu", std::to_string(pod.cores));
  w.field("memory", "1Gi").end_object().key("limits").begin_object();
  if (pod.chips > 0) w.field(pod.resource, std::to_string(pod.chips));
  w.end_object().end_object().end_object().end_array().end_object();
  w.key("status").begin_object().field("phase", pod.started ? "Running" : "Pending");
  if (!pod.claims.empty()) {
    w.key("resourceClaimStatuses").begin_array();
    for (const auto& [name, claim] : pod.claims)
      w.begin_object().field("name", name).field("resourceClaimName", claim).end_object();
    w.end_array();
  }
  if (!pod.claim.empty()) {
    w.key("extendedResourceClaimStatus").begin_object().field("resourceClaimName", pod.claim);
    w.key("requestMappings").begin_array();
    for (const auto& [container, request] : pod.mappings) {
      w.begin_object().field("containerName", container).field("resourceName", pod.resource);
      w.field("requestName", request).end_object();
    }
    w.end_array().end_object();
  }
  if (!pod.nominated.empty()) w.field("nominatedNodeName", pod.nominated);
  if (!pod.rejection.empty()) {
    w.key("conditions").begin_array().begin_object();
    w.field("type", "PodScheduled").field("status", "False").field("reason", "Unschedulable");
    w.field("message", pod.rejection).end_object().end_array();
  }
  w.end_object().end_object();
  return w.take();
}

std::string claim_json(const std::string& name,
                       const std::vector<std::pair<std::string, std::string>>& devices,
                       const std::string& pod, std::uint64_t version) {
  std::string results;
  std::map<std::pair<std::string, std::string>, int> seen;
  for (const auto& [driver, pool] : devices) {
    results += (results.empty() ? "" : ",") + std::string(R"({"request":"r","driver":")") + driver +
               R"(","pool":")" + pool + R"(","device":"gpu-)" +
               std::to_string(seen[{driver, pool}]++) + R"("})";
  }
  const std::string annotations =
      pod.empty() ? ""
                  : R"(,"annotations":{"resource.kubernetes.io/extended-resource-claim":"true"})";
  const std::string reserved =
      pod.empty() ? "" : R"({"resource":"pods","name":"p","uid":")" + pod + "\"}";
  return R"({"metadata":{"namespace":"ns","name":")" + name + R"(","uid":"c-)" + name +
         R"(","resourceVersion":")" + std::to_string(version) + "\"" + annotations +
         R"(},"spec":{},"status":{"allocation":{"devices":{"results":[)" + results +
         R"(]},"nodeSelector":{}},"reservedFor":[)" + reserved + "]}}";
}

std::string slice_json(const std::string& node, const std::vector<std::string>& ids, bool managed,
                       std::uint64_t version) {
  const std::string taints =
      managed ? R"(,"taints":[{"key":"chipweave.dev/managed","effect":"NoSchedule"}])" : "";
  std::string devices;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    devices += (i > 0 ? "," : "") + std::string(R"({"name":"gpu-)") + std::to_string(i) +
               R"(","attributes":{"uuid":{"string":")" + ids[i] +
               R"("},"type":{"string":"gpu"},"chipweave.dev/nvlinkIsland":{"string":")" + node +
               "-" + std::to_string(i / 4) + R"("}})" + taints + "}";
  }
  return R"({"metadata":{"name":")" + node + R"(-gpu.nvidia.com","uid":"s-)" + node +
         R"(","resourceVersion":")" + std::to_string(version) +
         R"("},"spec":{"driver":"gpu.nvidia.com","nodeName":")" + node + R"(","pool":{"name":")" +
         node + R"(","generation":1,"resourceSliceCount":1},"devices":[)" + devices + "]}}";
}

kube::Reply status(int code, const std::string& message) {
  return {
      code,
      R"({"kind":"Status","code":)" + std::to_string(code) + R"(,"message":")" + message + "\"}",
      std::nullopt};
}

bool SimulatedLeases::mine(const kube::Call& call, const std::string& path) {
  const bool one = !path.ends_with("/leases");
  return path.find("/leases") != std::string::npos && (one || call.method == "POST");
}

kube::Reply SimulatedLeases::answer(const kube::Call& call, const std::string& path,
                                    std::uint64_t& version) {
  using Json = nlohmann::json;
  const bool create = call.method == "POST";
  auto body = call.body.empty() ? Json() : Json::parse(call.body);
  const std::string name =
      create ? body["metadata"]["name"].get<std::string>() : path.substr(path.rfind('/') + 1);
  const auto it = all.find(name);
  if (!create && it == all.end()) return status(404, "not found");
  if (create && it != all.end()) return status(409, "already exists");
  if (call.method == "PUT" &&
      body["metadata"]["resourceVersion"] != Json::parse(it->second)["metadata"]["resourceVersion"])
    return status(409, "modified");
  if (call.method != "GET") {
    body["metadata"]["uid"] = "lease";
    body["metadata"]["resourceVersion"] = std::to_string(++version);
    all[name] = body.dump();
  }
  return {200, all[name], std::nullopt};
}

}  // namespace chipweave::sched::test

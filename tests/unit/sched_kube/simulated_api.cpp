#include "tests/unit/sched_kube/simulated_api.hpp"

#include <nlohmann/json.hpp>

#include "tests/support/partial_metadata.hpp"
#include "tests/unit/sched_kube/simulated_network.hpp"

namespace chipweave::sched::test {

using Json = nlohmann::json;

std::string watch_line(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

SimulatedApi::SimulatedApi() : network_(std::make_unique<Network>(*this)) {}
SimulatedApi::~SimulatedApi() = default;

void SimulatedApi::create(ServerPod pod) {
  pod.version = ++version_;
  if (pod.uid.empty()) pod.uid = "uid-" + std::to_string(++uids_);
  const std::string key = pod.key();
  network_->record(kPods, "ADDED", pod_json(pod));
  pods[key] = std::move(pod);
}

void SimulatedApi::remove(const std::string& key) {
  ServerPod gone = pods.at(key);
  gone.version = ++version_;
  pods.erase(key);
  network_->record(kPods, "DELETED", pod_json(gone));
}

void SimulatedApi::begin_end(const std::string& key) {
  pods.at(key).ending = true;
  network_->changed(pods.at(key));
}

void SimulatedApi::set_started(const std::string& key) {
  pods.at(key).started = true;
  network_->changed(pods.at(key));
}

void SimulatedApi::set_node(const std::string& key, const std::string& node,
                            const std::map<std::string, std::string>& annotations) {
  ServerPod& pod = pods.at(key);
  pod.node = node;
  for (const auto& [name, value] : annotations) pod.annotations[name] = value;
  network_->changed(pod);
}

void SimulatedApi::annotate(const std::string& key, const std::string& name,
                            const std::string& value) {
  ServerPod& pod = pods.at(key);
  pod.annotations[name] = value;
  network_->changed(pod);
}

void SimulatedApi::remove_gate(const std::string& key, const std::string& gate) {
  ServerPod& pod = pods.at(key);
  std::erase(pod.gates, gate);
  network_->changed(pod);
}

void SimulatedApi::reject(const std::string& key, const std::string& message,
                          const std::string& nominated) {
  ServerPod& pod = pods.at(key);
  pod.rejection = message;
  pod.nominated = nominated;
  network_->changed(pod);
}

void SimulatedApi::set_inventory(const std::string& node, const std::string& status) {
  auto& inventories = network_->inventories;
  const bool known = inventories.contains(node);
  const std::string text = R"({"metadata":{"name":")" + node + R"(","uid":"i-)" + node +
                           R"(","resourceVersion":")" + std::to_string(++version_) +
                           R"("},"status":)" + (status.empty() ? "{}" : status) + "}";
  if (status.empty()) {
    inventories.erase(node);
    if (known) network_->record(kInventories, "DELETED", text);
    return;
  }
  inventories[node] = text;
  network_->record(kInventories, known ? "MODIFIED" : "ADDED", text);
}

void SimulatedApi::create_tainted_node(const std::string& name, const std::string& taint) {
  taints_[name] = R"("taints":[{"key":")" + taint + R"(","effect":"NoExecute"}],)";
  create_node(name);
}

void SimulatedApi::create_node(const std::string& name, int cores,
                               const std::map<std::string, std::string>& labels,
                               const std::map<std::string, std::string>& annotations) {
  const std::string allocatable =
      cores == 0 ? std::string()
                 : R"(,"allocatable":{"memory":"1Ti","cpu":")" + std::to_string(cores) + "\"}";
  const bool known = network_->nodes.contains(name);
  network_->nodes[name] =
      R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"(","uid":"n-)" + name +
      R"(","resourceVersion":")" + std::to_string(++version_) + R"(","labels":)" +
      Json(labels).dump() + R"(,"annotations":)" + Json(annotations).dump() + R"(},"spec":{)" +
      taints_[name] + R"("podCIDR":"10.0.0.0/24"},"status":{"capacity":{"nvidia.com/gpu":"8"})" +
      allocatable + "}}";
  network_->record(kNodes, known ? "MODIFIED" : "ADDED", network_->nodes[name]);
}

void SimulatedApi::delete_node(const std::string& name) {
  ++version_;
  network_->record(kNodes, "DELETED", network_->nodes.extract(name).mapped());
}

void SimulatedApi::set_claim(const std::string& name,
                             const std::vector<std::pair<std::string, std::string>>& devices,
                             const std::string& pod) {
  auto& claims = network_->claims;
  const std::string text = claim_json(name, devices, pod, ++version_);
  const bool known = claims.contains(name);
  if (devices.empty()) {
    claims.erase(name);
  } else {
    claims[name] = text;
  }
  network_->record(kClaims, devices.empty() ? "DELETED" : (known ? "MODIFIED" : "ADDED"), text);
}

void SimulatedApi::set_slice(const std::string& node, const std::vector<std::string>& ids,
                             bool managed) {
  auto& slices = network_->slices;
  const std::string text = slice_json(node, ids, managed, ++version_);
  const bool known = slices.contains(node);
  slices[node] = text;
  if (ids.empty()) slices.erase(node);
  network_->record(kSlices, ids.empty() ? "DELETED" : (known ? "MODIFIED" : "ADDED"), text);
}

void SimulatedApi::serve(const std::string& path) { network_->documents[path]; }

void SimulatedApi::set_document(const std::string& path, const std::string& name,
                                const std::string& rest) {
  auto& all = network_->documents.at(path);
  const bool known = all.contains(name);
  const std::string text = R"({"metadata":{"name":")" + name + R"(","uid":"d-)" + name +
                           R"(","resourceVersion":")" + std::to_string(++version_) + "\"}" +
                           (rest.empty() ? "" : "," + rest) + "}";
  if (rest.empty()) {
    all.erase(name);
  } else {
    all[name] = text;
  }
  network_->record(path, rest.empty() ? "DELETED" : (known ? "MODIFIED" : "ADDED"), text);
}

void SimulatedApi::set_class(const std::string& name, const std::string& selector) {
  const bool known = network_->classes.contains(name);
  network_->classes[name] = R"({"metadata":{"name":")" + name + R"(","uid":"dc-)" + name +
                            R"(","resourceVersion":")" + std::to_string(++version_) +
                            R"("},"spec":{"selectors":[{"cel":{"expression":")" + selector +
                            R"("}}]}})";
  network_->record(kClasses, known ? "MODIFIED" : "ADDED", network_->classes[name]);
}

void SimulatedApi::forget_history() {
  for (auto& [path, all] : network_->history) all.clear();
  network_->oldest = version_;
}

void SimulatedApi::Network::changed(ServerPod& pod) {
  pod.version = ++api.version_;
  record(kPods, "MODIFIED", pod_json(pod));
}

void SimulatedApi::Network::record(const std::string& path, const std::string& type,
                                   const std::string& object) {
  history[path].emplace_back(api.version_, watch_line(type, object));
}

std::vector<std::string> SimulatedApi::Network::objects(const std::string& path) const {
  std::vector<std::string> all;
  if (path == kPods) {
    for (const auto& [key, pod] : api.pods) all.push_back(pod_json(pod));
  } else if (path == kInventories) {
    for (const auto& [node, text] : inventories) all.push_back(text);
  } else if (path == kNodes) {
    for (const auto& [name, text] : nodes) all.push_back(text);
  } else if (path == kClaims) {
    for (const auto& [name, text] : claims) all.push_back(text);
    for (std::string& text : api.pod_claims.objects()) all.push_back(std::move(text));
  } else if (path == kClasses) {
    for (const auto& [name, text] : classes) all.push_back(text);
  } else if (path == kSlices) {
    for (const auto& [name, text] : slices) all.push_back(text);
  } else if (const auto at = documents.find(path); at != documents.end()) {
    for (const auto& [name, text] : at->second) all.push_back(text);
  } else if (path == SimulatedConfigMaps::kPath) {
    all = api.config_maps.objects();
  }
  return all;
}

SimulatedClaims::Changed SimulatedApi::told() {
  return [this](const std::string& type, const std::string& object) {
    network_->record(kClaims, type, object);
  };
}

SimulatedConfigMaps::Changed SimulatedApi::told_of_config_maps() {
  return [this](const std::string& type, const std::string& object) {
    network_->record(SimulatedConfigMaps::kPath, type, object);
  };
}

kube::Reply SimulatedApi::answer_claim(const kube::Call& call, const std::string& path) {
  if (claim_refusal_ != 0) return status(std::exchange(claim_refusal_, 0), "refused");
  return pod_claims.answer(call, path, version_, told());
}

kube::Reply SimulatedApi::answer(const kube::Call& call) {
  const std::string path = call.target.substr(0, call.target.find('?'));
  if (path.ends_with("/events") || path.find("/events/") != std::string::npos) {
    if (call.method == "POST") {
      events.push_back(Json::parse(call.body)["reason"]);
      notes.push_back(Json::parse(call.body)["note"]);
    }
    if (call.method == "PATCH") events.push_back("again");
    return status(201, "");
  }
  if (call.method == "PATCH" && path.starts_with("/api/v1/nodes/")) {
    touched.push_back(path.substr(14));
    return status(200, "");
  }
  if ((path == kClaims || path == kSlices || path == kClasses) && !claims_api)
    return status(404, "no such API");
  if (SimulatedClaims::mine(call, path)) return answer_claim(call, path);
  if (SimulatedConfigMaps::mine(call, path))
    return config_maps.answer(call, path, version_, told_of_config_maps());
  if (path == SimulatedConfigMaps::kPath && config_maps.refuse_lists != 0)
    return status(config_maps.refuse_lists, "refused");
  if (SimulatedLeases::mine(call, path)) return leases.answer(call, path, version_);
  if (call.method == "PATCH" && call.body.find("\"labels\"") != std::string::npos) {
    auto& labels = labelled[path.substr(path.rfind('/') + 1)];
    const Json body = Json::parse(call.body);
    for (const auto& [key, value] : body["metadata"]["labels"].items()) {
      labels.erase(key);
      if (!value.is_null()) labels[key] = value.get<std::string>();
    }
    return status(200, "");
  }
  if (network_->misses(path)) return status(404, "no such API");
  const bool listing = network_->documents.contains(path) || path == kPods ||
                       path == kInventories || path == kClaims || path == kSlices ||
                       path == kClasses || path == kNodes || path == SimulatedConfigMaps::kPath ||
                       path.ends_with("/leases");
  if (call.method == "GET" && listing) {
    accepts[path] = call.accept;
    return chipweave::test::converted_list(call.accept, network_->list(call, path));
  }
  return network_->answer_pod(call, path);
}

kube::Reply SimulatedApi::Network::list(const kube::Call& call, const std::string& path) const {
  std::string items;
  const std::size_t of = call.target.find("%2Cspec.nodeName%3D");
  const std::string node = of == std::string::npos ? "" : call.target.substr(of + 19);
  for (const std::string& object : objects(path)) {
    if (!node.empty() && Json::parse(object)["spec"].value("nodeName", "") != node) continue;
    items += (items.empty() ? "" : ",") + object;
  }
  return {200,
          R"({"metadata":{"resourceVersion":")" + std::to_string(api.version_) + R"("},"items":[)" +
              items + "]}",
          std::nullopt};
}

// /api/v1/namespaces/NS/pods/NAME[/binding]
kube::Reply SimulatedApi::Network::answer_pod(const kube::Call& call, const std::string& path) {
  const std::string before = "/api/v1/namespaces/";
  const std::size_t slash = path.find('/', before.size());
  const std::string ns = path.substr(before.size(), slash - before.size());
  std::string name = path.substr(slash + 6);
  const bool binding = name.ends_with("/binding");
  if (binding) name.resize(name.size() - 8);
  const bool status_part = name.ends_with("/status");
  if (status_part) name.resize(name.size() - 7);
  const auto pod = api.pods.find(ns + "/" + name);
  if (pod == api.pods.end()) return status(404, "not found");
  if (call.method == "PATCH" && status_part) return patch_status(call, pod->second);
  if (call.method == "PATCH") return patch_pod(call, pod->second);
  if (binding) return bind(call, pod->first, pod->second);
  return {200, pod_json(pod->second), std::nullopt};
}

namespace {

// The node to which an ungating patch pins the pod; empty: to none.
std::string pin_of(const Json& patch) {
  static const Json::json_pointer kNode(
      "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/"
      "nodeSelectorTerms/0/matchFields/0/values/0");
  return patch.value(kNode, std::string());
}

}  // namespace

kube::Reply SimulatedApi::Network::patch_pod(const kube::Call& call, ServerPod& pod) {
  if (annotation_refusal != 0) {
    ++refused_annotations;
    return status(annotation_refusal, "refused");
  }
  const Json patch = Json::parse(call.body);
  const Json& body = patch["metadata"];
  if (body["uid"] != pod.uid) return status(422, "uid: field is immutable");
  if (body.value("resourceVersion", std::to_string(pod.version)) != std::to_string(pod.version))
    return status(409, "the object has been modified");
  if (const std::string node = pin_of(patch); !node.empty() && node != pod.pinned_to) {
    if (pod.gates.empty() || !pod.pinned_to.empty())
      return status(422, "pod updates may not change fields other than these");
    pod.pinned_to = node;
  }
  for (const auto& [name, value] : body["annotations"].items()) pod.annotations[name] = value;
  for (const Json& gate : patch.value(Json::json_pointer("/spec/schedulingGates"), Json::array()))
    std::erase(pod.gates, gate["name"].get<std::string>());
  changed(pod);
  return {200, pod_json(pod), std::nullopt};
}

kube::Reply SimulatedApi::Network::patch_status(const kube::Call& call, ServerPod& pod) {
  const Json body = Json::parse(call.body);
  if (body["metadata"]["uid"] != pod.uid) return status(409, "uid: precondition failed");
  const Json& claim = body["status"]["extendedResourceClaimStatus"];
  pod.claim = claim["resourceClaimName"];
  pod.mappings.clear();
  for (const Json& one : claim["requestMappings"])
    pod.mappings.emplace_back(one["containerName"], one["requestName"]);
  changed(pod);
  return {200, body.dump(), std::nullopt};
}

kube::Reply SimulatedApi::Network::bind(const kube::Call& call, const std::string& key,
                                        const ServerPod& pod) {
  if (refusal != 0) return status(std::exchange(refusal, 0), refusal_message);
  const Json body = Json::parse(call.body);
  if (body["metadata"]["uid"] != pod.uid) return status(409, "precondition failed: UID");
  if (!pod.node.empty()) return status(409, "pod is already assigned to a node");
  if (!pod.gates.empty()) return status(409, "pod has non-empty .spec.schedulingGates");
  api.set_node(key, body["target"]["name"],
               body["metadata"].value("annotations", std::map<std::string, std::string>()));
  return status(201, "");
}

}  // namespace chipweave::sched::test

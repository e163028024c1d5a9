#include "cli/plan/kube_objects.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "cli/cluster/api_server.hpp"
#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/kube/pod/pod.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::cli {
namespace {

using codec::JsonTree;
using codec::JsonValue;

constexpr codec::JsonLimits kPageLimits{limits::kMaxHttpBodyBytes, limits::kMaxPlanValues};
constexpr codec::JsonLimits kListLimits{std::size_t{1} << 30U, std::size_t{60'000'000}};
constexpr int kItemsAPage = 500;
constexpr std::size_t kMaxPages = 2000;

// ---- the lists ----

bool is_accelerator(std::string_view name, const std::string& resource) {
  if (!resource.empty()) return name == resource;
  const std::vector<std::string>& known = domain::whole_chip_resources();
  return std::find(known.begin(), known.end(), name) != known.end();
}

int within_limits(std::int64_t count) {
  return static_cast<int>(std::clamp<std::int64_t>(count, 0, limits::kMaxChipsOfPod));
}

// The most of one accelerator resource that the node offers.
int offered_by(JsonValue node, const std::string& resource) {
  int most = 0;
  for (const JsonValue one : node["status"]["allocatable"]) {
    if (!is_accelerator(one.name(), resource)) continue;
    const std::string_view amount = one.is_string() ? one.text() : one.raw();
    most = std::max(most, within_limits(codec::amount_of(amount, 0)));
  }
  return most;
}

// The most of one accelerator resource that the pod requests; 0 once it has ended.
int asked_by(const codec::KubePod& pod, const std::string& resource) {
  if (pod.phase == "Succeeded" || pod.phase == "Failed") return 0;
  int most = 0;
  for (const std::string& name : codec::resource_names(pod)) {
    if (is_accelerator(name, resource))
      most = std::max(most, within_limits(codec::amount_of_resource(pod, name, 0)));
  }
  return most;
}

JsonValue ready_condition(JsonValue node) {
  for (const JsonValue condition : node["status"]["conditions"]) {
    if (condition["type"].text() == "Ready") return condition;
  }
  return {};
}

Result<JsonTree> parsed_list(const std::string& items, const char* what) {
  auto tree = codec::parse_json("[" + items + "]", kListLimits);
  if (!tree) return std::move(tree).error().in(what);
  return tree;
}

// Names and labels only: a whole Node has some 10 KB.
void write_node(JsonWriter& out, JsonValue node) {
  out.begin_object().field("apiVersion", "v1").field("kind", "Node").key("metadata");
  out.begin_object().field("name", node["metadata"]["name"].text());
  if (const JsonValue labels = node["metadata"]["labels"]; labels.is_object())
    out.key("labels").reformatted(labels.raw());
  out.end_object().end_object();
}

// Items of a list lack what they are.
Result<void> write_items(JsonWriter& out, const std::string& items, const char* version,
                         const char* kind) {
  const auto tree = parsed_list(items, kind);
  if (!tree) return Error(tree.error());
  for (const JsonValue item : JsonValue(*tree)) {
    out.begin_object().field("apiVersion", version).field("kind", kind);
    for (const JsonValue member : item) {
      if (member.name() == "apiVersion" || member.name() == "kind") continue;
      out.key(member.name()).reformatted(member.raw());
    }
    out.end_object();
  }
  return {};
}

// ---- the server ----

// All items of a list, separated by commas. may_lack: the server may not know the resource.
Result<std::string> list_of(ApiServer& server, const std::string& path, bool may_lack) {
  std::string out;
  std::string token;
  for (std::size_t page = 0; page < kMaxPages; ++page) {
    const std::string target =
        concat(path, "?limit=", kItemsAPage, token.empty() ? "" : "&continue=", token);
    const auto reply = server.get(target);
    if (!reply) return Error(reply.error());
    if (reply->status == 404 && may_lack) return std::string();
    if (reply->status != 200)
      return make_error(Errc::unavailable,
                        concat("the API server answered ", reply->status, " to GET ", path));
    const auto tree = codec::parse_json(reply->body, kPageLimits);
    if (!tree) return make_error(Errc::unavailable, tree.error().text()).in("GET " + path);
    for (const JsonValue item : JsonValue(*tree)["items"]) {
      if (!out.empty()) out += ',';
      out += item.raw();
    }
    token = JsonValue(*tree)["metadata"]["continue"].text();
    if (token.empty()) return out;
    if (token.find_first_of(" \t\r\n&#") != std::string::npos) break;
  }
  return make_error(Errc::unavailable, "the API server's list does not end").in("GET " + path);
}

}  // namespace

Result<KubeObjects> kube_objects_of(const KubeLists& lists, const std::string& resource) {
  KubeObjects out;
  const auto nodes = parsed_list(lists.nodes, "nodes");
  if (!nodes) return Error(nodes.error());
  const auto pods = parsed_list(lists.pods, "pods");
  if (!pods) return Error(pods.error());
  JsonWriter description;
  description.begin_object().field("apiVersion", "v1").field("kind", "List");
  description.key("items").begin_array();
  for (const JsonValue node : JsonValue(*nodes)) {
    write_node(description, node);
    KubeObjects::Node& to = out.nodes[std::string(node["metadata"]["name"].text())];
    to.offered = to.free = offered_by(node, resource);
    const JsonValue ready = ready_condition(node);
    to.states_ready = static_cast<bool>(ready);
    to.cordoned = node["spec"]["unschedulable"].boolean().value_or(false);
    to.schedulable = ready["status"].text() == "True" && !to.cordoned;
  }
  for (const JsonValue item : JsonValue(*pods)) {
    const auto pod = codec::read_pod(item.raw());
    if (!pod) continue;
    const auto at = out.nodes.find(pod->node_name);
    if (at == out.nodes.end()) continue;
    at->second.free = std::max(at->second.free - asked_by(*pod, resource), 0);
  }
  auto written =
      lists.hypernodes.empty()
          ? write_items(description, lists.topologies, "kueue.x-k8s.io/v1beta2", "Topology")
          : write_items(description, lists.hypernodes, "topology.volcano.sh/v1alpha1", "HyperNode");
  if (!written) return std::move(written).error();
  out.description = description.end_array().end_object().take();
  return out;
}

Result<KubeObjects> read_kube_objects(const std::string& kubeconfig, const std::string& context,
                                      const std::string& resource) {
  auto server = ApiServer::connect(kubeconfig, context);
  if (!server) return std::move(server).error();
  KubeLists lists;
  const auto read = [&server](const char* path, std::string& to, bool may_lack) -> Result<void> {
    auto items = list_of(*server, path, may_lack);
    if (!items) return std::move(items).error();
    to = *std::move(items);
    return {};
  };
  auto done = read("/api/v1/nodes", lists.nodes, false);
  if (done) done = read("/api/v1/pods", lists.pods, false);
  if (done) done = read("/apis/topology.volcano.sh/v1alpha1/hypernodes", lists.hypernodes, true);
  for (const char* path :
       {"/apis/kueue.x-k8s.io/v1beta2/topologies", "/apis/kueue.x-k8s.io/v1beta1/topologies"}) {
    if (done && lists.topologies.empty()) done = read(path, lists.topologies, true);
  }
  if (!done) return std::move(done).error();
  return kube_objects_of(lists, resource);
}

}  // namespace chipweave::cli

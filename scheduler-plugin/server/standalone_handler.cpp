#include "scheduler-plugin/server/standalone_handler.hpp"

#include <chrono>
#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/kube/pod/pod.hpp"
#include "scheduler-plugin/kube/gang_gate.hpp"
#include "scheduler-plugin/server/api_handler.hpp"
#include "scheduler-plugin/server/http_errors.hpp"

namespace chipweave::sched {
namespace {

Error no_such_pod(std::string_view rest) {
  return make_error(Errc::not_found, "pod " + std::string(rest.substr(0, 512)) + " does not exist");
}

constexpr codec::JsonLimits kStatusLimits{4U << 10U, 16};

// As the API server would serve it.
Result<codec::KubePod> pod_as_served(const ClusterPod& pod, const std::string& document) {
  auto out = codec::read_pod(document);
  if (out) out->uid = pod.request.uid;
  return out;
}

}  // namespace

Result<std::string> StandaloneHandler::document(const ClusterPod& pod) const {
  const PodKey& key = pod.request.key;
  const MemoryCluster::Ungated& ungated = cluster_.ungated(key);
  return codec::write_pod(cluster_.document(key),
                          {key.ns, pod.request.uid, pod.node, cluster_.written(key),
                           ungated.done ? kGangGate : "", ungated.pinned_to});
}

http::Response StandaloneHandler::create(const std::string& body) {
  if (body.size() > limits::kMaxManifestBytes) {
    return error_response(make_error(Errc::limit_exceeded, "the pod is larger than 4 MiB"));
  }
  auto pod = codec::read_pod(body);
  if (!pod) return error_response(pod.error());
  if (!pod->node_name.empty()) {
    return error_response(
        make_error(Errc::invalid_argument, "spec.nodeName is set by bind; leave it empty"));
  }
  CountedRequest counted = count_request(*pod, resources_);
  ClusterPod entry;
  entry.request = std::move(counted.request);
  entry.request.mark = gang_mark_of(*pod);
  entry.refused = std::move(counted.refused);
  entry.scheduler = std::move(pod->scheduler);
  entry.created =
      std::chrono::duration_cast<std::chrono::seconds>(clock_.wall().time_since_epoch()).count();
  entry.gated = has_gang_gate(*pod);
  entry.foreign_gates = has_foreign_gates(*pod);
  auto added = cluster_.add(std::move(entry), body);
  if (!added) return error_response(added.error());
  auto text = document(**added);
  if (!text) return error_response(text.error());
  const auto served = pod_as_served(**added, *text);
  if (tables_ != nullptr && served) tables_->pod_seen(*served);
  return json_response(std::move(*text), 201);
}

http::Response StandaloneHandler::set_status(std::string_view rest, const std::string& body) {
  constexpr std::string_view kStatus = "/status";
  if (!rest.ends_with(kStatus))
    return error_response(404, "not_found", "the path is /standalone/pods/NAMESPACE/NAME/status");
  rest.remove_suffix(kStatus.size());
  const ClusterPod* pod = cluster_.find(pod_key_of(rest));
  if (pod == nullptr) return error_response(no_such_pod(rest));
  const auto tree = codec::parse_json(body, kStatusLimits);
  if (!tree) return error_response(tree.error());
  codec::JsonProblems problems;
  const codec::JsonObject status(codec::JsonValue(*tree), {"hostIP", "podIP"}, problems);
  const std::string host_ip = status.text_or_empty("hostIP");
  const std::string pod_ip = status.text_or_empty("podIP");
  if (problems.any()) return error_response(problems.error());
  if (pod->node.empty())
    return error_response(
        make_error(Errc::conflict, "pod " + pod->request.key.text() + " is not bound"));
  auto text = document(*pod);
  if (!text) return error_response(text.error());
  auto served = pod_as_served(*pod, *text);
  if (!served) return error_response(served.error());
  served->host_ip = host_ip;
  served->pod_ip = pod_ip;
  if (tables_ != nullptr) tables_->pod_seen(*served);
  return json_response(std::move(*text));
}

http::Response StandaloneHandler::list() const {
  JsonWriter out;
  out.begin_object().key("items").begin_array();
  cluster_.each([&](const ClusterPod& pod) {
    if (const auto text = document(pod)) out.raw(*text);
  });
  return json_response(out.end_array().end_object().take());
}

http::Response StandaloneHandler::get(std::string_view rest) const {
  const ClusterPod* pod = cluster_.find(pod_key_of(rest));
  if (pod == nullptr) return error_response(no_such_pod(rest));
  auto text = document(*pod);
  if (!text) return error_response(text.error());
  return json_response(std::move(*text));
}

http::Response StandaloneHandler::remove(std::string_view rest) {
  const ClusterPod* pod = cluster_.find(pod_key_of(rest));
  if (pod == nullptr) return error_response(no_such_pod(rest));
  auto text = document(*pod);
  const PodKey key = pod->request.key;
  if (auto ended = cluster_.end(key); !ended) return error_response(ended.error());
  if (!text) return error_response(text.error());
  if (tables_ != nullptr) tables_->pod_gone(key.text());
  return json_response(std::move(*text));
}

}  // namespace chipweave::sched

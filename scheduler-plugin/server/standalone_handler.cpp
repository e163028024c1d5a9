#include "scheduler-plugin/server/standalone_handler.hpp"

#include <utility>

#include "common/base/json_writer.hpp"
#include "common/base/limits.hpp"
#include "common/codec/kube/pod/pod.hpp"
#include "scheduler-plugin/kube/gang_gate.hpp"
#include "scheduler-plugin/server/api_handler.hpp"
#include "scheduler-plugin/server/http_errors.hpp"

namespace chipweave::sched {
namespace {

Error no_such_pod(std::string_view rest) {
  return make_error(Errc::not_found, "pod " + std::string(rest.substr(0, 512)) + " does not exist");
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
  entry.gated = has_gang_gate(*pod);
  entry.foreign_gates = has_foreign_gates(*pod);
  auto added = cluster_.add(std::move(entry), body);
  if (!added) return error_response(added.error());
  auto text = document(**added);
  if (!text) return error_response(text.error());
  return json_response(std::move(*text), 201);
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
  if (auto ended = cluster_.end(PodKey(pod->request.key)); !ended)
    return error_response(ended.error());
  if (!text) return error_response(text.error());
  return json_response(std::move(*text));
}

}  // namespace chipweave::sched

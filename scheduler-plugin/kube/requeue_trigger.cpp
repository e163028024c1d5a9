#include "scheduler-plugin/kube/requeue_trigger.hpp"

#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/json_writer.hpp"
#include "common/obs/log.hpp"

namespace chipweave::sched {

void RequeueTrigger::check() {
  const Clock::Steady now = scheduler_.clock().now();
  if ((scheduler_.changes() == seen_ && !all_) || call_ != nullptr) return;
  if (touched_ > 0 && now - last_ < options_.at_most_every) return;
  seen_ = scheduler_.changes();
  const bool all = std::exchange(all_, false);
  const std::string node = all ? any_node_if_pods_wait() : scheduler_.room_for_rejected();
  if (node.empty() || !is_dns_subdomain(node)) return;
  last_ = now;
  touch(node, all);
}

std::string RequeueTrigger::any_node_if_pods_wait() const {
  bool waits = false;
  scheduler_.cluster().each([&](const ClusterPod& pod) {
    waits = waits || (pod.node.empty() && pod.request.chips > 0 && pod.refused.empty());
  });
  const NodeTable& nodes = scheduler_.nodes();
  for (NodeId id = 0; waits && id < nodes.size(); ++id) {
    if (nodes.node(id).has_inventory()) return nodes.node(id).name;
  }
  return {};
}

void RequeueTrigger::touch(const std::string& node, bool all) {
  JsonWriter w;
  w.begin_object().key("metadata").begin_object().key("annotations").begin_object();
  w.field(kRequeueAnnotation,
          rfc3339(scheduler_.clock().wall()) + " " + std::to_string(++touched_));
  w.end_object().end_object().end_object();
  kube::Call call;
  call.method = "PATCH";
  call.target = "/api/v1/nodes/" + node;
  call.content_type = "application/merge-patch+json";
  call.body = w.take();
  call.deadline = std::chrono::milliseconds(5000);
  call_ = transport_.call(std::move(call), [this, node, all](const Result<kube::Reply>& reply) {
    const auto over = std::move(call_);
    if (reply && reply->status == 200) return;
    obs::log(obs::Level::warn, "cannot make kube-scheduler retry waiting pods",
             {{"node", node},
              {"error", reply ? "HTTP " + std::to_string(reply->status) : reply.error().text()}});
    scheduler_.requeue_again();
    seen_ = 0;
    all_ = all_ || all;
  });
}

}  // namespace chipweave::sched

#include "scheduler-plugin/kube/requeue_trigger.hpp"

#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/json_writer.hpp"
#include "common/obs/log.hpp"

namespace chipweave::sched {

void RequeueTrigger::check() {
  const bool urgent = all_ || scheduler_.gains() != gains_ || scheduler_.gathered() != gathered_;
  if ((!urgent && scheduler_.freed() == freed_) || call_ != nullptr) return;
  const Clock::Steady now = scheduler_.clock().now();
  const bool useful = scheduler_.stored() != stored_;
  const auto wait = urgent || useful ? options_.at_most_every : wait_;
  if (touched_ > 0 && now - last_ < wait) return;
  const bool waits = scheduler_.pods_wait();
  const std::string node = waits ? any_node() : std::string();
  all_ = all_ && waits && node.empty();
  gains_ = scheduler_.gains();
  gathered_ = scheduler_.gathered();
  freed_ = scheduler_.freed();
  if (node.empty()) return;
  stored_ = scheduler_.stored();
  if (urgent || useful) waits_.reset();
  wait_ = waits_.next();
  last_ = now;
  touch(node);
}

std::string RequeueTrigger::any_node() const {
  const NodeTable& nodes = scheduler_.nodes();
  for (NodeId id = 0; id < nodes.size(); ++id) {
    const Node& node = nodes.node(id);
    if (node.has_inventory() && !node.stale && is_dns_subdomain(node.name)) return node.name;
  }
  return {};
}

void RequeueTrigger::touch(const std::string& node) {
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
  call_ = transport_.call(std::move(call), [this, node](const Result<kube::Reply>& reply) {
    const auto over = std::move(call_);
    if (reply && reply->status == 200) return;
    obs::log(obs::Level::warn, "cannot make kube-scheduler retry waiting pods",
             {{"node", node},
              {"error", reply ? "HTTP " + std::to_string(reply->status) : reply.error().text()}});
    all_ = true;
  });
}

}  // namespace chipweave::sched

#include "node-agent/device_plugin/cluster.hpp"

#include <utility>

#include "common/codec/kube/inventory/inventory.hpp"
#include "common/kube/annotate_pod.hpp"
#include "common/obs/log.hpp"
#include "node-agent/device_plugin/core/ack_label.hpp"

namespace chipweave::device_plugin {
namespace {

kube::Reflector<codec::KubePod>::Options pods_of(const std::string& node) {
  kube::Reflector<codec::KubePod>::Options out;
  out.path = "/api/v1/pods";
  out.selector = "fieldSelector=spec.nodeName%3D" + node;
  return out;
}

kube::Reflector<codec::KubeInventory>::Options inventory_of(const std::string& node) {
  kube::Reflector<codec::KubeInventory>::Options out;
  out.path = codec::kInventoryPath;
  out.selector = "fieldSelector=metadata.name%3D" + node;
  return out;
}

kube::Reflector<codec::KubeNodeMetadata>::Options node_of(const std::string& node) {
  kube::Reflector<codec::KubeNodeMetadata>::Options out;
  out.path = "/api/v1/nodes";
  out.selector = "fieldSelector=metadata.name%3D" + node;
  out.metadata_only = true;
  return out;
}

}  // namespace

Cluster::Cluster(kube::Transport& transport, std::string node, bool machine, std::uint64_t seed,
                 ClusterEvents events, Waits waits)
    : transport_(transport),
      node_(std::move(node)),
      events_(std::move(events)),
      random_(seed),
      waits_(waits) {
  if (events_.node_label) {
    own_node_.emplace(transport, node_of(node_),
                      kube::Reflector<codec::KubeNodeMetadata>::Events{
                          {[this](codec::KubeNodeMetadata&& seen) { node_seen(seen); },
                           [](const std::string&) {}},
                          [this] { own_node_failing_ = false; },
                          [this](const kube::WatchFailure& failure) {
                            failed(own_node_failing_, failure,
                                   "cannot watch the node: its label counts as last seen");
                          }},
                      [this] { return std::uniform_real_distribution<double>(0, 1)(random_); });
  }
  if (!machine) return;
  machine_.emplace(transport, inventory_of(node_),
                   kube::Reflector<codec::KubeInventory>::Events{
                       {[this](codec::KubeInventory&& inventory) { inventory_seen(inventory); },
                        [this](const std::string& name) {
                          if (name == node_) events_.machine(std::nullopt);
                        }},
                       [this] { machine_failing_ = false; },
                       [this](const kube::WatchFailure& failure) {
                         failed(machine_failing_, failure,
                                "cannot watch the node's inventory: its health is as last seen");
                       }},
                   [this] { return std::uniform_real_distribution<double>(0, 1)(random_); });
}

void Cluster::start() {
  watch_pods();
  if (machine_) machine_->start();
  if (own_node_) own_node_->start();
}

void Cluster::watch_pods() {
  listed_pods_.clear();
  pods_.emplace(transport_, pods_of(node_),
                kube::Reflector<codec::KubePod>::Events{
                    {[this](codec::KubePod&& pod) { pod_seen(pod); },
                     [this](const std::string& key) {
                       known_pods_.erase(key);
                       listed_pods_.erase(key);
                       events_.pod_gone(key);
                     }},
                    [this] { pods_listed(); },
                    [this](const kube::WatchFailure& failure) { pods_failed(failure); }},
                [this] { return std::uniform_real_distribution<double>(0, 1)(random_); });
  events_.list_requested();
  pods_->start();
}

void Cluster::pod_seen(const codec::KubePod& pod) {
  // The selector is the server's business; a proxy may not know it.
  if (pod.node_name != node_) return;
  const std::string key = pod.ns + "/" + pod.name;
  known_pods_.insert(key);
  listed_pods_.insert(key);
  events_.pod_seen(pod);
}

// A new reflector does not know which pods have gone meanwhile.
void Cluster::pods_listed() {
  for (const std::string& key : std::exchange(known_pods_, listed_pods_)) {
    if (!listed_pods_.contains(key)) events_.pod_gone(key);
  }
  again_.reset();
  pods_failing_ = pods_stale_ = false;
  events_.pods_listed();
}

// A watch that goes on after a failure does not report that, thus a list settles it.
void Cluster::pods_failed(const kube::WatchFailure& failure) {
  failed(pods_failing_, failure,
         "cannot watch the pods of the node: chips cannot be given to new ones");
  if (again_ == nullptr) again_ = transport_.after(waits_.relist, [this] { list_pods_again(); });
}

void Cluster::list_soon() {
  if (again_ == nullptr) again_ = transport_.after(waits_.soon, [this] { list_pods_again(); });
}

void Cluster::list_pods_again() {
  watch_pods();
  again_ = transport_.after(waits_.stale, [this] {
    if (!std::exchange(pods_stale_, true)) events_.pods_stale();
    again_ = transport_.after(waits_.relist, [this] { list_pods_again(); });
  });
}

void Cluster::inventory_seen(const codec::KubeInventory& inventory) {
  if (inventory.name != node_ || inventory.status.empty()) return;
  auto read = codec::read_inventory_status(inventory.status, node_);
  if (read) return events_.machine(read->topology);
  obs::log(obs::Level::warn, "cannot read the node's inventory: its chips count as unhealthy",
           {{"node", node_}, {"error", read.error().text()}});
  events_.machine(std::nullopt);
}

void Cluster::node_seen(const codec::KubeNodeMetadata& node) {
  if (node.name != node_) return;
  const auto label = node.labels.find(kAckLabel);
  events_.node_label(label == node.labels.end() ? std::nullopt : std::optional(label->second));
}

void Cluster::failed(bool& failing, const kube::WatchFailure& failure, const char* what) {
  if (std::exchange(failing, true)) return;  // once an outage
  obs::log(obs::Level::warn, what, {{"node", node_}, {"problem", failure.what}});
}

void Cluster::correct(const PodRecord& pod, const std::string& placement,
                      std::function<void(Result<void>)> done) {
  const std::size_t slash = pod.key.find('/');
  kube::AnnotateRequest request;
  request.ns = pod.key.substr(0, slash);
  request.name = pod.key.substr(slash + 1);
  request.uid = pod.uid;
  request.annotations = {{kPlacementAnnotation, placement}};
  request.unless = kPlacementAnnotation;
  // What the scheduler has written is what must be corrected.
  request.replaceable = [](const std::string&) { return true; };
  const auto at = corrections_.emplace(corrections_.end());
  *at = kube::annotate_pod(transport_, std::move(request),
                           [this, at, done = std::move(done)](const Result<void>& result) {
                             const auto tell = done;
                             corrections_.erase(at);  // this callback ends with it
                             tell(result);
                           });
}

}  // namespace chipweave::device_plugin

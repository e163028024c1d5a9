// Cluster — what the plugin learns from the API server, and the one thing that it writes there: the
// pods of this node, its machine and the health of its chips as chipweave-agent reports them
// (NodeInventory), the Node's label for ACK, and the corrected annotation of a pod that got other
// chips.
//
// Loop thread only; ends with its destructor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "common/codec/kube/watch.hpp"
#include "common/domain/node_topology.hpp"
#include "common/kube/reflector.hpp"
#include "common/kube/transport.hpp"
#include "node-agent/device_plugin/core/pod_book.hpp"

namespace chipweave::device_plugin {

struct ClusterEvents {
  std::function<void(const codec::KubePod&)> pod_seen;
  std::function<void(const std::string& key)> pod_gone;
  // All pods are requested; when they have been shown, pods_listed() follows.
  std::function<void()> list_requested;
  std::function<void()> pods_listed;
  // Not for a while; pods_listed() follows when they are.
  std::function<void()> pods_stale;
  // nullopt: no agent reports the machine (any more).
  std::function<void(const std::optional<domain::NodeTopology>&)> machine;
  // kAckLabel of the Node whenever the Node has been seen; nullopt: it has none. Empty: the Node is
  // not watched. What was seen last holds while it cannot be watched, or does not exist.
  std::function<void(const std::optional<std::string>&)> node_label;
};

class Cluster {
 public:
  struct Waits {
    std::chrono::milliseconds relist{10'000};  // after the watch of the pods has failed
    std::chrono::milliseconds stale{5'000};    // then, without a list
    std::chrono::milliseconds soon{2'000};     // list_soon()
  };
  // node: a DNS subdomain, checked before. machine: false if it need not be watched.
  Cluster(kube::Transport& transport, std::string node, bool machine, std::uint64_t seed,
          ClusterEvents events)
      : Cluster(transport, std::move(node), machine, seed, std::move(events), Waits{}) {}
  Cluster(kube::Transport& transport, std::string node, bool machine, std::uint64_t seed,
          ClusterEvents events, Waits waits);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  void start();
  // Lists the pods again, however often this is called meanwhile.
  void list_soon();
  // done: when the API server has stored it, or an error. Only for the pod of that uid.
  void correct(const PodRecord& pod, const std::string& placement,
               std::function<void(Result<void>)> done);

 private:
  void watch_pods();
  void pod_seen(const codec::KubePod& pod);
  void pods_listed();
  void pods_failed(const kube::WatchFailure& failure);
  void list_pods_again();
  void inventory_seen(const codec::KubeInventory& inventory);
  void node_seen(const codec::KubeNodeMetadata& node);
  void failed(bool& failing, const kube::WatchFailure& failure, const char* what);

  kube::Transport& transport_;
  std::string node_;
  ClusterEvents events_;
  std::mt19937_64 random_;
  Waits waits_;
  bool pods_failing_ = false;  // as logged
  bool pods_stale_ = false;
  std::set<std::string> known_pods_;
  std::set<std::string> listed_pods_;  // since the newest list began
  bool machine_failing_ = false;
  std::optional<kube::Reflector<codec::KubePod>> pods_;
  std::unique_ptr<kube::Ticket> again_;  // when the pods are listed again
  std::optional<kube::Reflector<codec::KubeInventory>> machine_;
  bool own_node_failing_ = false;
  std::optional<kube::Reflector<codec::KubeNodeMetadata>> own_node_;
  std::list<std::unique_ptr<kube::Ticket>> corrections_;
};

}  // namespace chipweave::device_plugin

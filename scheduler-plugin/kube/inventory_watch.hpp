// InventoryWatch — nodes from the API server: the agents' NodeInventory objects, their Leases as
// heartbeats, and Nodes: the CPU and memory that they have, and their deletion, which ends both.
//
// Owner: the loop thread; ends with its destructor.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "common/kube/reflector.hpp"
#include "scheduler-plugin/app/inventory_sink.hpp"

namespace chipweave::sched {

class InventoryWatch {
 public:
  struct Options {
    std::string lease_namespace;
  };
  struct Events {
    std::function<void()> synced;                           // after each complete list
    std::function<void(const kube::WatchFailure&)> failed;  // a watch failed and will be retried
    // An inventory cannot be used; called once for each of its versions.
    std::function<void(const std::string& node, const Error& why)> unusable;
    std::function<void()> taken{};  // an inventory was taken
    std::function<void(const codec::KubeNode&)> node_seen{};
    std::function<void(const std::string& node)> node_gone{};
    std::function<void()> nodes_synced{};  // after each complete list of Nodes
    std::function<void(const kube::WatchFailure&)> nodes_failed{};  // in addition to failed
  };
  InventoryWatch(kube::Transport& transport, const Options& options, InventorySink& sink,
                 Events events, const std::function<double()>& jitter);

  void start();
  // Whether all inventories were listed once. Leases and Nodes need not be: they only report what
  // is gone.
  bool synced() const { return inventories_.synced(); }

 private:
  void take(const codec::KubeInventory& seen);
  void take_node(const codec::KubeNode& seen);

  InventorySink& sink_;
  Events events_;
  kube::Reflector<codec::KubeInventory> inventories_;
  kube::Reflector<codec::KubeLease> leases_;
  kube::Reflector<codec::KubeNode> nodes_;
};

}  // namespace chipweave::sched

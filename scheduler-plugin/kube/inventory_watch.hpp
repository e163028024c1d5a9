// InventoryWatch — what the nodes are, from the API server: NodeInventory objects that agents keep,
// their Leases as signs of life, and Nodes, whose end is the end of both.
//
// Owner: the loop thread; ends with its destructor.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "common/kube/reflector.hpp"
#include "scheduler-plugin/app/decide.hpp"

namespace chipweave::sched {

class InventoryWatch {
 public:
  struct Options {
    std::string lease_namespace;
  };
  struct Events {
    std::function<void()> synced;                           // each time a whole list was seen
    std::function<void(const kube::WatchFailure&)> failed;  // what a watch waits out
    // An inventory cannot be used; told once for each version of it.
    std::function<void(const std::string& node, const Error& why)> unusable;
    // One was given to the scheduler, with its status as it came. May be empty.
    std::function<void(const std::string& node, std::string_view status)> seen = {};
  };
  InventoryWatch(kube::Transport& transport, const Options& options, Decide& decide, Events events,
                 const std::function<double()>& jitter);

  void start();
  // Whether all inventories were seen once. Leases and Nodes are not waited for: they only say what
  // is no more.
  bool synced() const { return inventories_.synced(); }

 private:
  void take(const codec::KubeInventory& seen);

  Decide& decide_;
  Events events_;
  kube::Reflector<codec::KubeInventory> inventories_;
  kube::Reflector<codec::KubeLease> leases_;
  kube::Reflector<codec::KubeNode> nodes_;
};

}  // namespace chipweave::sched

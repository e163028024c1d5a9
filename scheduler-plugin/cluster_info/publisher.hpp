// ClusterInfoPublisher — maintains MindCluster's cluster-info ConfigMaps while this replica leads,
// in clusters without ClusterD.
//
// A component beside the decisions: it only reads their nodes and chips, watches the NodeInventory
// objects itself for what decisions do not need, has connections of its own, and rebuilds a bounded
// number of entries a tick. Writes on change, at most once per `every`, and only over the version
// it has read. ConfigMaps of another program (ClusterD) are left alone; our own are deleted when no
// node needs them. Sends nothing after its term. Loop thread only; ends with its destructor.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "common/kube/config_map_keeper.hpp"
#include "common/kube/reflector.hpp"
#include "scheduler-plugin/cluster_info/content.hpp"

namespace chipweave::sched {

class ClusterInfoPublisher {
 public:
  struct Options {
    std::chrono::milliseconds every{5'000};
    std::uint64_t seed = 0;  // for the jitter
    // Consulted right before a write is sent, since a paused leader may have lost its Lease. Empty:
    // always.
    std::function<bool()> may_send{};
    // A number from 0 to 1 that shortens a wait of the watch.
    std::function<double()> jitter = [] { return 1.0; };
  };
  // Entries that one tick rebuilds: about 2 ms of work.
  static constexpr std::size_t kEntriesATick = 250;
  // `transport` and `clock` must outlive it.
  ClusterInfoPublisher(kube::Transport& transport, const Clock& clock, Options options);
  ClusterInfoPublisher(const ClusterInfoPublisher&) = delete;
  ClusterInfoPublisher& operator=(const ClusterInfoPublisher&) = delete;

  // Call several times a second. leads: this replica leads and has synced.
  void tick(const NodeTable& nodes, const Ledger& ledger, bool leads);

 private:
  struct Kept {
    codec::mindcluster::ClusterTexts::Text
        text;  // last desired text; null: the ConfigMap must not exist
    std::unique_ptr<kube::ConfigMapKeeper> keeper;
  };
  void watch();
  void take(const codec::KubeInventory& seen);
  void begin();
  void add(const std::string& name);
  void want(const ClusterInfoContent::Texts& texts);

  kube::Transport& transport_;
  const Clock& clock_;
  Options options_;
  ClusterInfoContent content_;
  std::unique_ptr<kube::Reflector<codec::KubeInventory>> inventories_;  // null: not leading
  std::map<std::string, Kept> kept_;  // by name; empty until the first pass of a term is over
  Clock::Steady next_pass_{};
  bool passing_ = false;  // a pass is not over
};

}  // namespace chipweave::sched

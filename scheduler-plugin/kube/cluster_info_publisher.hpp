// ClusterInfoPublisher — maintains MindCluster's cluster-info ConfigMaps while this replica leads,
// in clusters without ClusterD.
//
// Writes on change, at most once per `every`, and only over the version it has read. ConfigMaps of
// another program (ClusterD) are left alone; our own are deleted when no node needs them. Sends
// nothing after its term. Loop thread only; ends with its destructor.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "common/kube/config_map_keeper.hpp"
#include "scheduler-plugin/kube/cluster_info_content.hpp"

namespace chipweave::sched {

class ClusterInfoPublisher {
 public:
  struct Options {
    std::chrono::milliseconds every{5'000};
    std::uint64_t seed = 0;  // of the jitter
    // Consulted right before a write is sent, since a paused leader may have lost its Lease. Empty:
    // always.
    std::function<bool()> may_send{};
  };
  // `transport` and `clock` must outlive it.
  ClusterInfoPublisher(kube::Transport& transport, const Clock& clock, Options options);
  ClusterInfoPublisher(const ClusterInfoPublisher&) = delete;
  ClusterInfoPublisher& operator=(const ClusterInfoPublisher&) = delete;

  // A NodeInventory's status as stored in the API server; unreadable parts count as absent.
  void set_report(const std::string& node, std::string_view status);
  // Call several times a second. leads: this replica leads and has synced.
  void tick(const NodeTable& nodes, const Ledger& ledger, bool leads);

 private:
  struct Kept {
    codec::mindcluster::ClusterTexts::Text
        text;  // last desired text; null: the ConfigMap must not exist
    std::unique_ptr<kube::ConfigMapKeeper> keeper;
  };
  void begin();
  void add(const std::string& name);
  void want(const ClusterInfoContent::Texts& texts);

  kube::Transport& transport_;
  const Clock& clock_;
  Options options_;
  ClusterInfoContent content_;
  std::map<std::string, Kept> kept_;  // by name; empty while another replica leads
  Clock::Steady next_update_{};
};

}  // namespace chipweave::sched

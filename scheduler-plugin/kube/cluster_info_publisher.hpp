// ClusterInfoPublisher — keeps MindCluster's cluster-info ConfigMaps while this replica leads, in
// place of a ClusterD.
//
// Written on change and at most once in `every`; each ConfigMap has a keeper of its own, guarded by
// the version that was seen. One that another program made (a ClusterD) is left as it is; of ours,
// those that no node needs any more are deleted. After the term nothing more is sent.
// Loop thread only; ends with its destructor.
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
    // Asked right before a write is sent: a leader that was stopped for a while may be none any
    // more. Empty: nobody is.
    std::function<bool()> may_send{};
  };
  // `transport` and `clock` must outlive it.
  ClusterInfoPublisher(kube::Transport& transport, const Clock& clock, Options options);
  ClusterInfoPublisher(const ClusterInfoPublisher&) = delete;
  ClusterInfoPublisher& operator=(const ClusterInfoPublisher&) = delete;

  // A NodeInventory's status as it is in the API server; what of it cannot be read counts as not
  // told.
  void set_report(const std::string& node, std::string_view status);
  // To be called several times a second. leads: this replica, and everything is known.
  void tick(const NodeTable& nodes, const Ledger& ledger, bool leads);

 private:
  struct Kept {
    codec::mindcluster::ClusterTexts::Text
        text;  // as it was wanted last; null: it must not be there
    std::unique_ptr<kube::ConfigMapKeeper> keeper;
  };
  void begin();
  void add(const std::string& name);
  void want(const ClusterInfoContent::Texts& texts);

  kube::Transport& transport_;
  const Clock& clock_;
  Options options_;
  ClusterInfoContent content_;
  std::map<std::string, Kept> kept_;  // by name; none while another replica leads
  Clock::Steady next_update_{};
};

}  // namespace chipweave::sched

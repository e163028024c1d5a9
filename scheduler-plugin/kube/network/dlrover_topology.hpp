// DlroverTopology — DLRover's ConfigMap node-topology-config, kept up to date in the namespaces of
// its jobs while this replica leads: what `chipweave network export --to dlrover` writes of the
// network as it is, with the addresses of the nodes, by which DLRover's master looks them up.
//
// At most one reading of the network each kEvery, in slices. As long as the network has no levels,
// or is not known yet, nothing is written. Another program's ConfigMap of that name, such as the
// one of DLRover's chart, is taken over, of which other keys stay. Owner: the loop thread; ends
// with its destructor.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.hpp"
#include "common/domain/network_table.hpp"
#include "common/kube/config_map_keeper.hpp"
#include "scheduler-plugin/state/network/network.hpp"

namespace chipweave::sched {

class DlroverTopology {
 public:
  static constexpr const char* kName = "node-topology-config";  // the only one that DLRover reads
  static constexpr const char* kKey = "topology_config";
  static constexpr std::chrono::seconds kEvery{5};
  static constexpr std::size_t kNodesATick = 2'000;  // about 2 ms of work
  static constexpr std::size_t kMaxBytes = 900'000;  // an object has at most 1 MiB

  struct Ways {
    // Whether what is wanted from now on may still be sent later (KubeCluster::fence).
    std::function<std::function<bool()>()> fence;
    // Why the network cannot be written; once for each reason.
    std::function<void(const std::string& why)> failed;
  };
  DlroverTopology(kube::Transport& transport, const Clock& clock, const Network& network,
                  std::vector<std::string> namespaces, Ways ways, std::size_t max_bytes = kMaxBytes)
      : transport_(transport),
        clock_(clock),
        network_(network),
        namespaces_(std::move(namespaces)),
        ways_(std::move(ways)),
        max_bytes_(max_bytes) {}

  // Of a Node, its KubeNode::address; empty: none.
  void set_address(const std::string& node, const std::string& address);
  void node_gone(const std::string& node) { set_address(node, {}); }
  // Call it several times a second. term: the one in which this replica leads; nullopt: none.
  void tick(std::optional<std::uint64_t> term);

 private:
  // A reading that is not over.
  struct Reading {
    std::uint64_t version = 0;    // Network::version() at its beginning
    std::uint64_t addresses = 0;  // likewise
    std::string next;             // node
    domain::NetworkTable table;
  };
  bool is_due() const;
  void read();
  void write(const domain::NetworkTable& table);
  void keep(const std::string& text);
  void report(const std::string& problem);

  kube::Transport& transport_;
  const Clock& clock_;
  const Network& network_;
  std::vector<std::string> namespaces_;
  Ways ways_;
  std::size_t max_bytes_;
  std::map<std::string, std::string> addresses_;  // by node
  std::uint64_t address_changes_ = 0;
  std::optional<std::uint64_t> term_;
  std::optional<Reading> reading_;
  std::uint64_t version_ = 0;  // Network::version() of the last reading
  std::uint64_t seen_addresses_ = 0;
  std::optional<Clock::Steady> begun_;  // the last reading; nullopt: none in this term
  std::string text_;                    // that is wanted
  std::string problem_;                 // that was reported last
  std::vector<std::unique_ptr<kube::ConfigMapKeeper>> keepers_;  // by namespace; empty: not begun
};

}  // namespace chipweave::sched

// ClusterInfoContent — what MindCluster's cluster-info ConfigMaps say of the Ascend nodes that the
// scheduler knows, for Volcano's Ascend plugin where no ClusterD writes them.
//
// Pure but for what it remembers: each node's entry carries the time of its last change, because
// readers drop what is not newer than what they hold. Free chips are those that no bound pod has;
// a promise of a few seconds makes no change. All entries of nodes whose agents live get a new time
// every kRenewAfter. Cost of a look: one look-up a node; an entry is made anew only when its node's
// report or its pods are others.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/codec/mindcluster/cluster_info.hpp"
#include "common/domain/fault.hpp"
#include "scheduler-plugin/state/ledger.hpp"

namespace chipweave::sched {

class ClusterInfoContent {
 public:
  static constexpr std::int64_t kRenewAfter = 240;  // seconds

  // What an agent tells of its node besides the topology.
  struct Word {
    std::vector<domain::Fault> faults;
    std::string rack;  // as its probe said it; empty: not known
  };
  void told(const std::string& node, Word word);

  // Whether the texts are others than after the last look. now: seconds since 1970.
  bool look(const NodeTable& nodes, const Ledger& ledger, std::int64_t now);
  // By the names of their ConfigMaps; none where there is no Ascend node.
  codec::mindcluster::ClusterParts texts() const;

 private:
  // What an entry was made from.
  struct Source {
    std::string boot_id;
    std::uint64_t sequence = 0;
    ChipSet bound;
    std::uint64_t word = 0;
    friend bool operator==(const Source&, const Source&) = default;
  };
  struct Known {
    Source source;
    std::uint64_t look = 0;  // the last one that saw the node
  };
  struct Said {
    Word word;
    std::uint64_t version = 0;
  };

  bool look_at(const Node& node, ChipSet bound, bool renew, std::int64_t now);
  bool describe(const Node& node, ChipSet bound, std::int64_t now);
  bool forget_unseen();

  std::map<std::string, Said> said_;
  std::map<std::string, Known> known_;
  std::map<std::string, codec::mindcluster::DeviceInfo> devices_;
  std::map<std::string, codec::mindcluster::NodeInfo> nodes_;  // with faults of their own
  std::map<std::string, codec::mindcluster::SwitchInfo> switches_;
  std::uint64_t versions_ = 0;
  std::uint64_t looks_ = 0;
  std::int64_t renewed_ = 0;
};

}  // namespace chipweave::sched

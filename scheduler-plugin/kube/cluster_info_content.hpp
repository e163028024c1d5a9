// ClusterInfoContent — what MindCluster's cluster-info ConfigMaps say of the Ascend nodes that the
// scheduler knows, for Volcano's Ascend plugin where no ClusterD writes them.
//
// Pure but for what it remembers: each node's entry carries the time of its last change, because
// readers drop what is not newer than what they hold. Free chips are those that no bound pod has;
// a reservation of a few seconds makes no change. Entries of nodes whose agents live get a new time
// every kRenewAfter, a part after the other, one a look. Cost of a look: a comparison a node; an
// entry is made anew only when its node's report or its pods are others.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/codec/mindcluster/cluster_texts.hpp"
#include "common/domain/fault.hpp"
#include "scheduler-plugin/state/ledger.hpp"

namespace chipweave::sched {

class ClusterInfoContent {
 public:
  ClusterInfoContent();

  static constexpr std::int64_t kRenewAfter = 180;  // seconds

  // What an agent tells of its node besides the topology.
  struct AgentReport {
    std::vector<domain::Fault> faults;
    std::string rack;  // as its probe said it; empty: not known
  };
  void set_report(const std::string& node, AgentReport report);

  // Whether the texts are others than after the last look. now: seconds since 1970.
  bool update(const NodeTable& nodes, const Ledger& ledger, std::int64_t now);
  // By the names of their ConfigMaps; none where there is no Ascend node. A pointer as before: the
  // same text.
  using Texts = std::map<std::string, codec::mindcluster::ClusterTexts::Text>;
  Texts texts();

 private:
  // What an entry was made from.
  struct Known {
    std::string name;  // empty: there is no entry
    std::string boot_id;
    std::uint64_t sequence = 0;
    ChipSet bound;
    std::uint64_t report = 0;
  };
  struct KnownReport {
    AgentReport report;
    std::uint64_t version = 0;
  };

  bool forget(const NodeTable& nodes);
  bool update_entry(const Node& node, ChipSet bound, Known& known, std::int64_t now);
  bool describe(const Node& node, ChipSet bound, const AgentReport& report, std::int64_t now);
  void drop_reports(const NodeTable& nodes);

  std::unordered_map<std::string, KnownReport> reports_;
  std::vector<Known> known_;  // by id
  codec::mindcluster::ClusterTexts devices_;
  codec::mindcluster::ClusterTexts switches_;
  codec::mindcluster::ClusterTexts nodes_;  // with faults of their own; one part
  codec::mindcluster::ClusterTexts::Text no_faults_ = std::make_shared<const std::string>();
  std::uint64_t versions_ = 0;
};

}  // namespace chipweave::sched

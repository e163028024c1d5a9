// ClusterInfoContent — the content of MindCluster's cluster-info ConfigMaps for the scheduler's
// Ascend nodes, read by Volcano's Ascend plugin in clusters without ClusterD.
//
// Each node's entry carries the time of its last change, because readers ignore entries that are
// not newer. Free chips are those without a bound pod; reservations do not count. Entries of nodes
// with a live agent get a new time every kRenewAfter, one part per update. Cost of an update: one
// comparison per node; an entry is rebuilt only when its node's report or pods change.
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

  // What an agent reports besides the topology.
  struct AgentReport {
    std::vector<domain::Fault> faults;
    std::string rack;  // from its probe; empty: unknown
  };
  void set_report(const std::string& node, AgentReport report);

  // Whether the texts have changed since the last update. now: seconds since 1970.
  bool update(const NodeTable& nodes, const Ledger& ledger, std::int64_t now);
  // By ConfigMap name; empty without Ascend nodes. An unchanged pointer means unchanged text.
  using Texts = std::map<std::string, codec::mindcluster::ClusterTexts::Text>;
  Texts texts();

 private:
  // The inputs of an entry.
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

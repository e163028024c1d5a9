// ClusterInfoContent — the content of MindCluster's cluster-info ConfigMaps for the scheduler's
// Ascend nodes, read by Volcano's Ascend plugin in clusters without ClusterD.
//
// Each node's entry carries the time of its last change, because readers ignore entries that are
// not newer. Free chips are those without a bound pod; reservations do not count. Entries of nodes
// with a live agent get a new time every kRenewAfter, one part per pass over the nodes. Cost of a
// pass: one comparison per node, 0.1 µs; an entry is rebuilt, in about 8 µs, only when its node's
// report or pods change.
#pragma once

#include <cstddef>
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
  // For at most limits::kMaxNodes nodes; reports of further ones are ignored.
  void set_report(const std::string& node, AgentReport report);
  // Forgets the reports and an unfinished pass.
  void begin_again();

  enum class Pass { unfinished, unchanged, changed };
  // Goes on with a pass over the nodes, or begins one, until `most` entries were rebuilt. changed:
  // the pass is over, and the texts are not those of the last one. now: seconds since 1970.
  Pass go_on(const NodeTable& nodes, const Ledger& ledger, std::int64_t now, std::size_t most);
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
  const KnownReport& report_of(const std::string& node) const;
  bool describe(const Node& node, ChipSet bound, const AgentReport& report, std::int64_t now);

  std::unordered_map<std::string, KnownReport> reports_;
  std::vector<Known> known_;  // by id
  NodeId next_ = 0;           // the pass's next node
  bool changed_ = false;      // by the pass so far
  codec::mindcluster::ClusterTexts devices_;
  codec::mindcluster::ClusterTexts switches_;
  codec::mindcluster::ClusterTexts nodes_;  // with faults of their own; one part
  codec::mindcluster::ClusterTexts::Text no_faults_ = std::make_shared<const std::string>();
  std::uint64_t versions_ = 0;
};

}  // namespace chipweave::sched

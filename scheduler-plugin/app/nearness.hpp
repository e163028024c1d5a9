// Nearness — how far nodes are, in the network, from those where pods of a job are.
//
// Levels above the node itself count: how a pod shares a node with others of its job is the
// machine's business. Cost of begin(): O(nodes of the job · levels); of a look: O(levels), no
// allocation. Owner: the loop thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "scheduler-plugin/app/verdict_table.hpp"
#include "scheduler-plugin/state/ledger.hpp"
#include "scheduler-plugin/state/network/network.hpp"

namespace chipweave::sched {

class Nearness {
 public:
  // Farther nodes count as this far.
  static constexpr int kMaxFar = 15;

  // network: null: nothing is known of it.
  explicit Nearness(Network* network) : network_(network) {}
  Nearness(const Nearness&) = delete;
  Nearness& operator=(const Nearness&) = delete;

  // of_job: where pods of the pod's job hold chips (null: it has no job); own: the part of the pod
  // itself (null: none). False: no node is nearer than another.
  bool begin(const std::string& resource, const Ledger::ByNode* of_job, const Holding* own);
  // 0: in the finest domain of one of these pods; rises by one with each level on which it is in
  // none. Precondition: begin() was true, and nothing has changed since.
  int far(NodeId node) const;
  // The number of this verdict for a node as far as that one. Precondition: that of far(), and all
  // verdicts since begin() are of one table.
  std::uint32_t verdict_of(NodeId node, std::uint32_t number, VerdictTable& table);

 private:
  Network* network_;
  const ResourceFabric* fabric_ = nullptr;
  std::vector<std::uint32_t> marks_;  // by domain: the begin() in which it had a pod
  std::uint32_t begin_ = 0;
  // By verdict and distance: the number of the same verdict so far off; 0: not made yet.
  std::vector<std::array<std::uint32_t, kMaxFar + 1>> farther_;
};

}  // namespace chipweave::sched

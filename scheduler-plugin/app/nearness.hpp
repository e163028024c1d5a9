// Nearness — how far nodes are, in the network, from those where pods of a job are.
//
// Levels above the node itself count: how a pod shares a node with others of its job is the
// machine's business. Cost of begin(): O(nodes of the job · levels); of a look: O(levels), no
// allocation. Owner: the loop thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler-plugin/state/ledger.hpp"
#include "scheduler-plugin/state/network/network.hpp"

namespace chipweave::sched {

class Nearness {
 public:
  // Farther nodes count as this far.
  static constexpr int kMaxFar = 15;

  explicit Nearness(Network& network) : network_(network) {}
  Nearness(const Nearness&) = delete;
  Nearness& operator=(const Nearness&) = delete;

  // For a pod of a job: where its pods hold chips, own: the part of the pod itself (null: none).
  // False: no node is nearer than another.
  bool begin(const std::string& resource, const Ledger::ByNode& of_job, const Holding* own);
  // 0: in the finest domain of one of these pods; rises by one with each level on which it is in
  // none. Precondition: begin() was true, and nothing has changed since.
  int far(NodeId node) const;

 private:
  Network& network_;
  const ResourceFabric* fabric_ = nullptr;
  std::vector<std::uint32_t> marks_;  // by domain: the begin() in which it had a pod
  std::uint32_t begin_ = 0;
};

}  // namespace chipweave::sched

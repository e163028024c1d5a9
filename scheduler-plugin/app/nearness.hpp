// Nearness — what the network says about nodes that are equally fast for a single pod: how far they
// are from those where other pods of its job are, whether they are on the same leaf switches, and
// whether the pod would be the first one with chips in a domain, which is then no longer free as a
// whole for a gang.
//
// Levels above the node itself count: how a pod shares a node with others of its job is the
// machine's business. Cost of begin(): O(nodes of the job · levels); of a look: O(levels), no
// allocation. Owner: the loop thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "scheduler-plugin/app/verdict_table.hpp"
#include "scheduler-plugin/state/ledger.hpp"
#include "scheduler-plugin/state/network/network.hpp"

namespace chipweave::sched {

class Nearness {
 public:
  // Farther nodes count as this far, and more levels as so many.
  static constexpr int kMaxFar = 15;

  // network: null: nothing is known of it.
  explicit Nearness(Network* network) : network_(network) {}
  Nearness(const Nearness&) = delete;
  Nearness& operator=(const Nearness&) = delete;

  // of_job: where pods of the pod's job hold chips (null: it has no job); own: the part of the pod
  // itself (null: none). False: the network has no levels, so that all nodes are alike.
  bool begin(const std::string& resource, const Ledger::ByNode* of_job, const Holding* own);
  // 0: in the finest domain of one of these pods, or there are none; rises by one with each level
  // on which it is in none. Precondition: begin() was true, and nothing has changed since.
  int far(NodeId node) const;
  // The number of this verdict for a node at that place. Preconditions: that of far(), and all
  // verdicts since begin() are of one table.
  std::uint32_t verdict_of(NodeId node, std::uint32_t number, VerdictTable& table);

 private:
  struct Place {
    int far = 0;
    int other_leaves = 0;
    int breaks = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  Place place_of(NodeId node) const;

  Network* network_;
  const ResourceFabric* fabric_ = nullptr;
  bool near_ = false;                 // whether there are other pods of the job
  std::vector<std::uint32_t> marks_;  // by domain: the begin() in which it had a pod
  std::uint32_t begin_ = 0;
  std::vector<int> leaves_;  // of the nodes of the job, ascending
  // By verdict: the numbers of the same verdict at other places. There are few.
  std::vector<std::vector<std::pair<Place, std::uint32_t>>> elsewhere_;
};

}  // namespace chipweave::sched

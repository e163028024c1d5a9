// Submit — acts as the controllers and kube-scheduler for a scheduler without a cluster: creates
// all pods, then for each one calls filter → prioritize (only if two or more nodes are left) →
// bind.
//
// As in kube-scheduler the highest score wins; among equal scores the first node by name wins
// instead of a random one, so that runs are repeatable. Each pod is tried once. Pods of a name that
// exists are left as they are, and tried if they have no node.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/compare.hpp"
#include "cli/scheduler_client.hpp"
#include "common/codec/manifest/manifest.hpp"

namespace chipweave::cli {

struct SubmitOptions {
  std::vector<std::string>
      only_nodes;        // candidates, as a node affinity would name them; empty: all
  bool compare = false;  // also show the choice of other allocators
  // The measured constants that the scheduler uses, for `compare`.
  std::vector<domain::RateOverlay> overlays{};
};

struct SubmittedPod {
  std::string ns;
  std::string name;
  std::string resource;  // "" if the pod requests no extended resource
  int requested = 0;     // chips
  std::string node;      // "" while pending
  std::vector<int> chips;
  double gbps = 0;         // for the pod's chips, or for all chips of its group on the node
  double best_gbps = 0;    // for the best set of that size on that machine, empty and healthy
  std::string reason;      // why it is pending
  std::string annotation;  // chipweave.dev/placement as written
  std::optional<Comparison> comparison;
  bool existed = false;  // before this submission; if it was pending, it was tried again
  bool placed() const { return !node.empty(); }
};

// One entry per pod, in the order given. An Error only if the scheduler cannot be used at all: not
// reachable, malformed answers, a node of only_nodes that does not exist.
Result<std::vector<SubmittedPod>> submit(SchedulerClient& scheduler,
                                         const std::vector<codec::ManifestPod>& pods,
                                         const SubmitOptions& options);

// For people: the table, then the reasons of pending pods.
std::string submit_text(const std::vector<SubmittedPod>& pods, bool compare, bool colours);
// For scripts: {"pods":[…],"placed":N,"pending":M}.
std::string submit_json(const std::vector<SubmittedPod>& pods);

}  // namespace chipweave::cli

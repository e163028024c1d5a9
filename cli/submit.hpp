// Submit — plays the controllers' and kube-scheduler's part on a scheduler without a cluster:
// creates all pods, then for each in turn filter → prioritize (only when two nodes or more are
// left) → bind.
//
// As in kube-scheduler the highest score wins; where it picks at random among equals, this takes
// the first by name, so that a run can be repeated. Pods are tried once.
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
  bool compare = false;  // also say what others would have chosen
};

struct SubmittedPod {
  std::string ns;
  std::string name;
  std::string resource;  // "" if it asks for no extended resource
  int asked = 0;         // chips
  std::string node;      // "" while pending
  std::vector<int> chips;
  double gbps = 0;  // of the pod's chips, or of all chips of its group on the node
  double best_gbps =
      0;  // the best such a number of chips could have on that machine, empty and healthy
  std::string reason;      // why it is pending, in words
  std::string annotation;  // chipweave.dev/placement as written
  std::optional<Comparison> comparison;
  bool placed() const { return !node.empty(); }
};

// One entry a pod, in the order given. An Error only when the scheduler cannot be used at all: not
// reachable, answers that are none, a node of only_nodes that does not exist.
Result<std::vector<SubmittedPod>> submit(SchedulerClient& scheduler,
                                         const std::vector<codec::ManifestPod>& pods,
                                         const SubmitOptions& options);

// For people: the table, then the reasons of pending pods.
std::string submit_text(const std::vector<SubmittedPod>& pods, bool compare, bool colours);
// For scripts: {"pods":[…],"placed":N,"pending":M}.
std::string submit_json(const std::vector<SubmittedPod>& pods);

}  // namespace chipweave::cli

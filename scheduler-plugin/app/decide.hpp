// Decide — the one decision core behind every protocol handler (HTTP kube, Volcano, admission of
// bindings, gRPC Placement).
//
// Handlers translate their protocol to these calls and hold no logic. All calls on the loop thread;
// none blocks: calls that need the API server answer through a callback.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "scheduler-plugin/model/binding.hpp"
#include "scheduler-plugin/model/inventory.hpp"
#include "scheduler-plugin/model/placement.hpp"

namespace chipweave::sched {

struct Rejection {
  std::string node;
  std::string reason;  // short, the same words for the same cause on every node
};

struct FilterAnswer {
  std::vector<std::string_view> fit;  // in input order; views into the scheduler's node table
  std::vector<Rejection> rejected;
};

struct Score {
  std::string_view node;
  int score = 0;  // 0..10
};

struct PlacedChips {
  std::string node;
  std::vector<int> chips;  // vendor indices, ascending
  double gbps = 0;
  double best_gbps = 0;
  // How long the chips stay reserved. Zero: no limit, or nothing is reserved.
  std::chrono::milliseconds lifetime{};
};

// Why a pod is where it is, or why it is pending: as JSON (keys documented in
// docs/reference/http.md) so that every handler shows the same.
struct ExplainText {
  std::string json;
};

class Decide {
 public:
  Decide() = default;
  Decide(const Decide&) = delete;
  Decide& operator=(const Decide&) = delete;
  virtual ~Decide() = default;

  virtual ReportAnswer report(InventoryReport report) = 0;
  // The agent's stream ended or timed out: the node becomes stale (it stays known, but nothing new
  // is placed on it).
  virtual void agent_gone(std::string_view node, std::string_view boot_id) = 0;
  // The agent is alive; nothing changed.
  virtual void heartbeat(std::string_view node, std::string_view boot_id) = 0;
  // The agent's report was withdrawn, or the node was deleted.
  virtual void inventory_gone(std::string_view node) = 0;

  virtual Result<FilterAnswer> filter(const PodRequest& pod,
                                      std::span<const std::string_view> nodes) = 0;
  virtual Result<std::vector<Score>> prioritize(const PodRequest& pod,
                                                std::span<const std::string_view> nodes) = 0;
  // ok: the pod is bound there, with its chips in its annotations. Errors: not_found, conflict,
  // invalid_argument: it was not bound. unavailable: try again; it may have been bound.
  virtual void bind(const Binding& binding, Done done) = 0;
  // Admission of a binding, from any scheduler, before the API server stores it. Answers the
  // annotations to add: none for a pod without chips, or if the API server will reject the binding
  // anyway. The pod then keeps the chips until the outcome of the binding is known. A dry run gets
  // the same answer and keeps nothing. Errors: conflict, not_found: the pod must not be bound this
  // way. unavailable: cannot be decided now.
  virtual void admit(const AdmissionRequest& request, Admitted done) = 0;

  // For other schedulers and tools: choose (and with `reserve` hold until the reservation's
  // lifetime ends) on one of `nodes` (empty: all).
  virtual Result<PlacedChips> place(const PodRequest& pod, std::span<const std::string_view> nodes,
                                    bool reserve) = 0;
  // Reserves the best set of exactly this node for the pod. Repeated, it keeps the chips and renews
  // the lifetime. An earlier reservation elsewhere is released first.
  virtual Result<PlacedChips> reserve(const PodRequest& pod, std::string_view node) = 0;
  // Releases what a pod holds or has reserved.
  virtual Result<void> release(const PodKey& key, std::string_view uid) = 0;
  virtual Result<ExplainText> explain(const PodKey& key) = 0;
  // What the pod would get now; reserves nothing.
  virtual Result<PlacedChips> what_if(const PodRequest& pod,
                                      std::span<const std::string_view> nodes) = 0;
  // Visits up to `most` bound pods whose chips are known, in uid order, beginning after `after`.
  // Returns the last uid; empty: there are no more.
  virtual Result<std::string> placed_pods(
      std::string_view after, std::size_t most,
      const std::function<void(const PlacedPod&)>& visit) const = 0;
};

}  // namespace chipweave::sched

// Decide — the one decision core behind every protocol handler (HTTP kube, Volcano, admission of
// bindings, gRPC Placement).
//
// Handlers translate their protocol to these calls and hold no logic. All calls on the loop thread;
// none blocks: what needs the API server's word answers later.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler-plugin/app/model.hpp"

namespace chipweave::sched {

struct PlacedChips {
  std::string node;
  std::vector<int> chips;  // vendor indices, ascending
  double gbps = 0;
  double best_gbps = 0;
  // Of what is held: how long, from now on. Zero: no time ends it, or nothing is held.
  std::chrono::milliseconds lifetime{};
};

// Why a pod is where it is, or why it is nowhere: as JSON text (keys documented in
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
  // The agent's stream ended or fell silent: the node turns stale (kept, but nothing new is placed
  // on it).
  virtual void agent_gone(std::string_view node, std::string_view boot_id) = 0;
  // Sign of life of an agent without changes.
  virtual void heartbeat(std::string_view node, std::string_view boot_id) = 0;
  // What the agent reported was withdrawn, or the machine is no more.
  virtual void inventory_gone(std::string_view node) = 0;

  virtual Result<FilterAnswer> filter(const PodAsk& pod,
                                      std::span<const std::string_view> nodes) = 0;
  virtual Result<std::vector<Score>> prioritize(const PodAsk& pod,
                                                std::span<const std::string_view> nodes) = 0;
  // ok: the cluster holds the pod bound there with its chips in its annotations. Errors: not_found,
  // conflict, invalid_argument: it is not bound so. unavailable: try again, it may be bound by
  // then.
  virtual void bind(const Binding& binding, Done done) = 0;
  // Asked by the API server before it takes a binding, whoever sent that: what is to be added to
  // the pod's annotations; nothing for a pod without chips, or where the API server will refuse the
  // binding anyway. From then on the chips are the pod's until it turns out what became of the
  // binding. A dry run is answered as if, and nothing is kept. Errors: conflict, not_found: the pod
  // must not be bound so. unavailable: that cannot be said now.
  virtual void admit(const AdmissionAsk& ask, Admitted done) = 0;

  // For other schedulers and tools: choose (and with `reserve` hold until the reservation's
  // lifetime ends) on one of `nodes` (empty: all).
  virtual Result<PlacedChips> place(const PodAsk& pod, std::span<const std::string_view> nodes,
                                    bool reserve) = 0;
  // Holds the best set of exactly that node for the pod; asked again it keeps the chips, for a new
  // lifetime. What it had reserved otherwise is given back first.
  virtual Result<PlacedChips> reserve(const PodAsk& pod, std::string_view node) = 0;
  // Gives back what a pod holds or has reserved.
  virtual Result<void> release(const PodKey& key, std::string_view uid) = 0;
  virtual Result<ExplainText> explain(const PodKey& key) = 0;
  // What `chips` more chips of `resource` would get now, without holding anything.
  virtual Result<PlacedChips> what_if(const PodAsk& pod,
                                      std::span<const std::string_view> nodes) = 0;
  // The next `most` bound pods whose chips are known, by uid, from the first above `after` on. The
  // uid of the last; empty: there are no more.
  virtual Result<std::string> placed_pods(
      std::string_view after, std::size_t most,
      const std::function<void(const PlacedPod&)>& visit) const = 0;
};

}  // namespace chipweave::sched

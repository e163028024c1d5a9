// The values that protocol handlers and use cases of the scheduler exchange: the parts of pods that
// placement needs, inventory reports of agents, answers with reasons. Independent of transport: no
// JSON, no HTTP or gRPC status.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/result.hpp"
#include "common/domain/fault.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::sched {

struct PodKey {
  std::string ns;
  std::string name;
  std::string text() const { return ns + "/" + name; }
  friend auto operator<=>(const PodKey&, const PodKey&) = default;
};

// Pods of one job that want to be placed together (ACK labels gpu-topology, gpu-topology-replica).
struct GroupRef {
  std::string name;  // unique within the namespace
  int replicas = 1;
};

// What a pod requests, as Kubernetes counts it (the larger of the largest init container and the
// sum of the other containers).
struct PodRequest {
  PodKey key;
  std::string uid;
  std::string resource;  // "nvidia.com/gpu"; empty: no accelerator
  int chips = 0;
  bool distributed = false;  // one of several pods of a job with accelerators
  std::optional<GroupRef> group;
  std::string job;  // its job identity, if already known
  // kube-scheduler's own PodGroup, "namespace/name": it tries all members before it binds one.
  // Empty: none.
  std::string gang;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
};

struct LinkChange {
  domain::ChipIndex a, b;
  int lanes_down = 0;
};
struct ChipChange {
  domain::ChipIndex chip;
  domain::Health health = domain::Health::healthy;
};

// One report of an agent. Full: topology set. Delta: changes against the last report of the same
// boot.
struct InventoryReport {
  std::string node;
  std::string boot_id;
  std::uint64_t sequence = 0;          // rises by at least 1 within one boot id
  std::string machine;                 // display name: profile or model
  std::vector<std::string> resources;  // extended resources of these chips
  std::optional<domain::NodeTopology> topology;
  std::vector<ChipChange> chips;
  std::vector<LinkChange> links;
  // All current faults, for display only. Absent: unchanged in a delta, unknown otherwise.
  std::optional<std::vector<domain::Fault>> faults;
};

// Whether a report was accepted, or why not (older than the current one, delta without its base,
// node table full).
enum class ReportOutcome { taken, older, needs_full, no_room };
struct ReportAnswer {
  ReportAnswer(ReportOutcome o, std::string why = {}) : outcome(o), problem(std::move(why)) {}
  ReportOutcome outcome;
  std::string problem;  // message for the agent's log; empty if accepted
  friend bool operator==(const ReportAnswer& a, ReportOutcome o) { return a.outcome == o; }
};

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

// The chips of a bound pod according to its annotations (chipweave.dev/placement, or what other
// schedulers and the kubelet write).
struct Placement {
  std::string node;
  std::string uid;  // of the pod it was decided for
  std::string resource;
  std::vector<int> chips;  // vendor indices, ascending
  double gbps = 0;
  std::string decision;  // empty: not one of chipweave's
  Clock::Wall time{};
};

// A bound pod whose chips are known, and which they are.
struct PlacedPod {
  PodKey pod;
  Placement placement;
  double best_gbps = 0;  // 0: its machine is not known
};

struct Binding {
  PodKey key;
  std::string uid;
  std::string node;
};

// Receives the result of a request, once, possibly before the call returns.
using Done = std::function<void(Result<void>)>;

// The decision as it is written to the pod: annotation key → value.
using Annotations = std::map<std::string, std::string>;

// A Binding as it comes to admission.
struct AdmissionRequest {
  Binding binding;        // uid empty: the Binding carries none
  std::string placement;  // the placement it already carries; empty: none
  bool dry_run = false;
};
// What to add to the pod. uid: of the pod that was considered; empty: the Binding carries another
// uid, which the API server refuses itself.
struct Admission {
  std::string uid;
  Annotations annotations;
};
using Admitted = std::function<void(Result<Admission>)>;

}  // namespace chipweave::sched

// The values that protocol handlers and use cases of the scheduler exchange: pods as far as
// placement cares, inventory reports of agents, answers with reasons. No transport here: no JSON,
// no HTTP or gRPC status.
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

// What a pod asks for, as Kubernetes counts it (largest of init containers and the sum of the
// others).
struct PodAsk {
  PodKey key;
  std::string uid;
  std::string resource;  // "nvidia.com/gpu"; empty: asks for no accelerator
  int chips = 0;
  bool distributed = false;  // one of several pods of a job with accelerators
  std::optional<GroupRef> group;
  std::string job;  // its identity, where it was found out already
  // Of kube-scheduler's own (PodGroup), "namespace/name": all its members are tried before one is
  // bound. Empty: none.
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
  std::string machine;                 // what people call it: profile or model name
  std::vector<std::string> resources;  // extended resources these chips are counted as
  std::optional<domain::NodeTopology> topology;
  std::vector<ChipChange> chips;
  std::vector<LinkChange> links;
  // All that there are now, for people; absent in a delta: as before, else: not told.
  std::optional<std::vector<domain::Fault>> faults;
};

// What became of a report: taken, or why not (older than what is held, delta without its base, no
// room for one more node).
enum class ReportOutcome { taken, older, needs_full, no_room };
struct ReportAnswer {
  ReportAnswer(ReportOutcome o, std::string why = {}) : outcome(o), problem(std::move(why)) {}
  ReportOutcome outcome;
  std::string problem;  // in words, for the agent's log; empty if taken
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

// Which chips a bound pod has, as the pod itself says (annotation chipweave.dev/placement, or what
// other schedulers and the kubelet write).
struct Placement {
  std::string node;
  std::string uid;  // of the pod that it was decided for
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

// Told how something ended that was asked for; once, perhaps before the question returns.
using Done = std::function<void(Result<void>)>;

// The decision as it is written to the pod: annotation key → value.
using Annotations = std::map<std::string, std::string>;

// A Binding that the API server is asked for, as it comes to admission.
struct AdmissionAsk {
  Binding binding;        // uid empty: the Binding does not say it
  std::string placement;  // the placement that stands in it already; empty: none
  bool dry_run = false;
};
// What is to be added. uid: of the pod that it was decided for, also where that was nothing; empty:
// the Binding says another one, and the API server goes by that.
struct Admission {
  std::string uid;
  Annotations annotations;
};
using Admitted = std::function<void(Result<Admission>)>;

}  // namespace chipweave::sched

// GangMark — what a pod says about the gang that it belongs to: which one, which of its pods it is,
// and how many there are where the pod itself tells. Each framework has its own labels and
// annotations for that, see frameworks.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/gangs/gang_spec.hpp"
#include "scheduler-plugin/model/pod.hpp"

namespace chipweave::sched {

// The scheduling gate of pods that wait for the plan of their gang.
inline constexpr const char* kGangGate = "chipweave.dev/gang";

// What becomes of a bound pod whose node or chip fails (MindCluster's label fault-scheduling).
enum class FaultRule {
  off,    // nothing
  grace,  // it is deleted with its grace period
  force   // it is deleted at once
};

// Chips that a gang keeps idle are not in any quota.
inline constexpr int kMaxGangSpares = 16;

// Null in PodRequest: no framework's mark. Two pods of one namespace are in one gang if framework
// and name are equal.
struct GangMark {
  std::string framework;          // whose mark it is: "volcano"
  std::string name;               // of the gang, within the pod's namespace
  std::string role;               // "worker"; empty: the framework knows none
  std::optional<int> index;       // of the pod within its role, from 0, fixed by the framework
  std::optional<int> size;        // all pods of the gang
  std::optional<int> minimum;     // fewer must not start
  domain::TopologyWish topology;  // how close it asks to be; empty: not, or not read
  // Some of its pods are made only once others are bound or run, so all are planned with the first.
  bool sequential = false;
  int spares = 0;  // places beside the gang that are kept free for replacements
  FaultRule fault = FaultRule::off;
  std::string problem;  // a value that cannot be used, in words; empty: none

  friend bool operator==(const GangMark&, const GangMark&) = default;
};

// Of several marks the name counts that the scheduler of the pods goes by, before that of the job;
// role and index are those of the first framework that numbers its pods. Cost: a few look-ups a
// framework; nothing is allocated for a pod without a mark.
std::optional<GangMark> gang_mark_of(const PodRequest& pod);

// "NAMESPACE/FRAMEWORK/NAME"; "": the pod names no gang.
std::string gang_id(const PodRequest& pod);

// The names that GangMark::framework can have.
std::vector<std::string_view> gang_frameworks();

}  // namespace chipweave::sched

// What pods of gangs say that wait: which new ones get the scheduling gate chipweave.dev/gang, so
// that no scheduler looks at them before their gang is planned, and where they may run.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "scheduler-plugin/app/annotations.hpp"
#include "scheduler-plugin/kube/pod_request.hpp"

namespace chipweave::sched {

// A variable of containers with the rank that is annotated when the gate is removed.
inline constexpr const char* kRankVariable = "CHIPWEAVE_RANK";

struct GateOptions {
  // By default those whose pods themselves say how many they are. Not ack: its groups are placed on
  // one node, by another mechanism.
  std::vector<std::string> frameworks = {"chipweave", "koordinator", "lws", "kueue"};
  bool inject_rank = false;  // kRankVariable, beside the gate
};

// Whether a pod that is about to be created gets the gate: it requests whole chips, belongs to a
// gang of one of the frameworks, is not for a certain node already and does not have the gate.
// Pods without chips are never gated, because nothing of a gang without chips is planned. Pure.
bool wants_gate(const codec::KubePod& pod, const ResourceTable& resources,
                const GateOptions& options);

// Whether it has kGangGate, or any other scheduling gate.
bool has_gang_gate(const codec::KubePod& pod);
bool has_foreign_gates(const codec::KubePod& pod);

// The gang that it may be planned in; null: none. chips: that it requests.
std::shared_ptr<const GangMark> planned_mark_of(const codec::KubePod& pod, int chips);
// The most that a pod may say about nodes for it to count in plans, which look at it for each node:
// requirements and tolerations / values of requirements.
inline constexpr std::size_t kMaxWishes = 32;
inline constexpr std::size_t kMaxWishedValues = 256;
// Where it may run, by its own wish: without the pin that it got when its gate was opened, which
// does not bind the pod that replaces it. Null: it does not say, or says more than the above, and
// it is up to its scheduler. Returns `like` if that says the same.
std::shared_ptr<const domain::NodeWishes> own_wishes(
    const codec::KubePod& pod, const std::shared_ptr<const domain::NodeWishes>& like);

}  // namespace chipweave::sched

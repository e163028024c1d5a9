// RequestKind — everything in a request that a verdict depends on, except the chips that its own
// job already holds.
#pragma once

#include <string>

#include "scheduler-plugin/app/request_context.hpp"

namespace chipweave::sched {

struct RequestKind {
  std::string resource;
  int chips = 0;
  bool distributed = false;
  int members = 1;   // pods that must fit together
  int replicas = 1;  // size of their whole group
  domain::Objective objective = domain::Objective::bandwidth;
  solver::Room needs{};  // of each, if it is known what nodes have
  friend bool operator==(const RequestKind&, const RequestKind&) = default;
};

// rooms: it is known what CPU and memory nodes have.
RequestKind kind_of(const RequestContext& context, bool rooms);
// A pod of that kind; its context also needs `distributed` and `members`.
PodRequest pod_of(const RequestKind& kind);

}  // namespace chipweave::sched

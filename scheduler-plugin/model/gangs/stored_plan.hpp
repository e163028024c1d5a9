// StoredPlan — the plan of a gang as it outlives a restart of the scheduler.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace chipweave::sched {

struct StoredSlot {
  std::string role;
  std::optional<int> index;  // within the role; nullopt: any pod of the role
  int chips = 0;             // that its pod requests
  std::string uid;           // of its pod; empty: it has not come
  std::string node;          // empty: it has no place
  std::vector<int> indices;  // of its chips there, ascending

  friend bool operator==(const StoredSlot&, const StoredSlot&) = default;
};

struct StoredPlan {
  std::string gang;               // gang_id() of its pods: "namespace/framework/name"
  std::string plan;               // its id
  std::vector<StoredSlot> slots;  // by rank

  friend bool operator==(const StoredPlan&, const StoredPlan&) = default;
};

}  // namespace chipweave::sched

// Condition — a condition of a node, as in the status of Kubernetes objects.
#pragma once

#include <cstdint>
#include <string>

namespace chipweave::domain {

struct Condition {
  std::string type;  // "ChipsHealthy"
  bool holds = true;
  std::string reason;      // CamelCase: "ChipsUnusable"
  std::string message;     // human-readable; may be ""
  std::int64_t since = 0;  // last transition; Unix time in ms

  friend bool operator==(const Condition&, const Condition&) = default;
};

}  // namespace chipweave::domain

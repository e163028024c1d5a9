// Condition — one question about a node and today's answer, as Kubernetes objects carry them.
#pragma once

#include <cstdint>
#include <string>

namespace chipweave::domain {

struct Condition {
  std::string type;  // "ChipsHealthy"
  bool holds = true;
  std::string reason;      // one word: "ChipsUnusable"
  std::string message;     // for people; may be ""
  std::int64_t since = 0;  // that it holds or not; Unix time in ms

  friend bool operator==(const Condition&, const Condition&) = default;
};

}  // namespace chipweave::domain

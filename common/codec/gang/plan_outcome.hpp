// PlanOutcome — the figures by which plans of one gang are compared.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace chipweave::codec {

struct PlanOutcome {
  bool fits = false;
  int placed = 0;                 // pods
  int nodes = 0;                  // that get pods
  std::vector<int> domains = {};  // by level; empty: does not fit
  std::optional<double> gbps = std::nullopt;
  std::string reason = {};  // why it does not fit
};

}  // namespace chipweave::codec

// PodDisruptionBudget of policy/v1: how many pods it lets be evicted now, and which it covers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

inline constexpr std::string_view kDisruptionBudgetsPath = "/apis/policy/v1/poddisruptionbudgets";

struct KubeDisruptionBudget {
  std::string ns;
  std::string name;
  // status.disruptionsAllowed; 0 as long as the status is not of the current spec.
  int allowed = 0;
  // Its pods, as a value of the parameter labelSelector, percent-encoded; empty: all of its
  // namespace; nullopt: none.
  std::optional<std::string> selector;
};

struct DisruptionBudgetPage {
  std::string next;  // metadata.continue; empty: this was the last page
  std::vector<KubeDisruptionBudget> budgets;
};

inline constexpr std::size_t kMaxBudgetsOfPage = 1000;
inline constexpr std::size_t kMaxSelectorParts = 256;  // of one kind, and values of each

// A page of a list. Errors: invalid_argument, limit_exceeded, naming the key.
Result<DisruptionBudgetPage> read_disruption_budgets(std::string_view body);

// A text as part of a URL's query.
std::string percent_encoded(std::string_view text);

}  // namespace chipweave::codec

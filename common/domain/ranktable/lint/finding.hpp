// Finding — one thing that is wrong with a rank table: rule, place, severity and message.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/ranktable/table.hpp"

namespace chipweave::domain::ranktable {

enum class Severity { info, warning, error };
const char* to_string(Severity severity);

// An object of the document and one of its members. No member, or one that does not exist: the
// object itself.
struct Place {
  Source object;
  std::string_view member = {};  // a literal
};

struct Finding {
  std::string_view code;  // "RT012", a literal
  Severity severity = Severity::error;
  Place place;
  std::optional<Place> related;  // the other one of two that collide
  std::string message;           // the fact only; the rule adds consequence and remedy
};
using Findings = std::vector<Finding>;

// FindingLimit — limits the findings of each rule: millions of them would only cost memory.
class FindingLimit {
 public:
  static constexpr std::size_t kMaxPerRule = 1000;

  // Counts a finding. Whether it is below the limit.
  bool admit(std::string_view code);
  // Adds one finding at `table` for each rule that exceeded the limit.
  void add_summaries(Source table, Findings& findings) const;

 private:
  std::map<std::string_view, std::size_t> counts_;  // by rule
};

// What all findings of a rule have in common.
struct Rule {
  std::string_view code;
  std::string_view title;
  std::string_view breaks;  // at run time
  std::string_view remedy;
};

const std::vector<Rule>& rules();
// An empty rule for an unknown code; findings have known ones.
const Rule& rule_of(std::string_view code);

}  // namespace chipweave::domain::ranktable

// Finding — one thing that is wrong with a rank table: which rule, where, how bad, and in words
// that say what breaks and how to mend it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/domain/ranktable/table.hpp"

namespace chipweave::domain::ranktable {

enum class Severity { info, warning, error };
const char* to_string(Severity severity);

// An object of the document and one of its members; no member: the object itself. A member that is
// not there stands for its object.
struct Place {
  Source object;
  std::string_view member = {};  // a literal
};

struct Finding {
  std::string_view code;  // "RT012", a literal
  Severity severity = Severity::error;
  Place place;
  std::optional<Place> related;  // the other of two that collide
  std::string message;           // the fact; the rule adds what breaks and the remedy
};
using Findings = std::vector<Finding>;

// FindingLimit — how many findings of a rule are told one by one: a file that is wrong everywhere
// is not made clearer, and costs no more memory, by millions of them.
class FindingLimit {
 public:
  static constexpr std::size_t kMaxOfARule = 1000;

  // Whether this one is told; counts it.
  bool admit(std::string_view code);
  // One finding, at `table`, for all of a rule that were not told.
  void tell_rest(Source table, Findings& findings) const;

 private:
  struct Count {
    std::string_view code;
    std::size_t seen = 0;
  };
  std::vector<Count> counts_;
};

// What is the same for every finding of a rule.
struct Rule {
  std::string_view code;
  std::string_view title;
  std::string_view breaks;  // at run time
  std::string_view remedy;
  bool mechanical;  // `lint --fix` mends it
};

const std::vector<Rule>& rules();
// A rule with "" where the code is none of rules(), which no finding's is.
const Rule& rule_of(std::string_view code);

}  // namespace chipweave::domain::ranktable

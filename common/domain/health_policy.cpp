#include "common/domain/health_policy.hpp"

namespace chipweave::domain {

std::string_view to_string(Effect effect) {
  switch (effect) {
    case Effect::note:
      return "note";
    case Effect::link:
      return "link";
    case Effect::network:
      return "network";
    case Effect::unusable:
      return "unusable";
  }
  return "note";
}

bool matches(const HealthRule& rule, std::string_view code) {
  const std::string_view pattern = rule.code;
  std::size_t at = 0;          // in code
  std::size_t in_pattern = 0;  // in pattern
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;  // where in code the star's text would end next
  while (at < code.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
      star = in_pattern++;
      resume = at;
    } else if (in_pattern < pattern.size() && pattern[in_pattern] == code[at]) {
      ++in_pattern;
      ++at;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

}  // namespace chipweave::domain

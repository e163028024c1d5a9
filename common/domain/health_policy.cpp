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
  std::size_t at = 0;    // in code
  std::size_t want = 0;  // in pattern
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;  // where in code the star's text would end next
  while (at < code.size()) {
    if (want < pattern.size() && pattern[want] == '*') {
      star = want++;
      resume = at;
    } else if (want < pattern.size() && pattern[want] == code[at]) {
      ++want;
      ++at;
    } else if (star != std::string_view::npos) {
      want = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', want) == std::string_view::npos;
}

}  // namespace chipweave::domain

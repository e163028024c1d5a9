#include "common/domain/availability.hpp"

#include <algorithm>

#include "common/base/text.hpp"

namespace chipweave::domain {

std::string insufficient(std::string_view resource) { return concat("Insufficient ", resource); }

std::string insufficient_healthy(std::string_view resource) {
  return concat("Insufficient healthy ", resource);
}

std::string without_resource(std::string_view resource) { return concat("without ", resource); }

std::string availability_text(std::size_t fitting, std::vector<Unavailable> others,
                              std::size_t not_offered) {
  std::sort(others.begin(), others.end(), [](const Unavailable& a, const Unavailable& b) {
    return a.nodes != b.nodes ? a.nodes > b.nodes : a.reason < b.reason;
  });
  if (not_offered > 0)
    others.push_back(
        {not_offered, "not offered by the scheduler (node selector, taints or other resources)"});
  std::size_t nodes = fitting;
  std::string why;
  for (const Unavailable& one : others) {
    nodes += one.nodes;
    why += concat(why.empty() ? ": " : ", ", one.nodes, " ", one.reason);
  }
  return concat(fitting, "/", nodes, " nodes are available", why);
}

}  // namespace chipweave::domain

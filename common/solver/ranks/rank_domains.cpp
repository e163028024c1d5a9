#include "common/solver/ranks/rank_domains.hpp"

#include <map>
#include <utility>

namespace chipweave::solver {

RankDomains rank_domains(std::size_t levels, const std::vector<RankPath>& pods) {
  RankDomains out;
  out.names.emplace_back();  // the root
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> children;
  for (const RankPath& path : pods) {
    std::vector<std::uint32_t>& numbers = out.of_pod.emplace_back();
    std::uint32_t at = 0;
    bool known = true;
    for (std::size_t level = 0; level < levels; ++level) {
      known = known && level < path.size() && !path[level].empty();
      const std::string name = known ? path[level] : std::string();
      const auto [it, fresh] =
          children.try_emplace({at, name}, static_cast<std::uint32_t>(out.names.size()));
      if (fresh) out.names.push_back(name);
      at = it->second;
      numbers.push_back(at);
    }
  }
  return out;
}

}  // namespace chipweave::solver

#include "common/solver/collectives/all_to_all.hpp"

#include <numeric>

namespace chipweave::solver {

std::int64_t pairs_across(const std::vector<std::int64_t>& chips) {
  std::int64_t before = 0;
  std::int64_t out = 0;
  for (const std::int64_t here : chips) {
    out += before * here;
    before += here;
  }
  return out;
}

AllToAll all_to_all(const std::vector<AllToAllNode>& nodes,
                    const std::vector<AllToAllLevel>& levels) {
  AllToAll out;
  std::vector<std::int64_t> shares;
  shares.reserve(nodes.size());
  for (const AllToAllNode& node : nodes) shares.push_back(node.chips);
  const auto all =
      static_cast<double>(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}));
  const auto offer = [&out](double gbps, const std::string& name) {
    if (out.gbps && *out.gbps <= gbps) return;
    out.gbps = gbps;
    out.limit = name;
  };
  for (const AllToAllNode& node : nodes) {
    const auto here = static_cast<double>(node.chips);
    if (here > 1 && node.inside_gbps)
      offer(*node.inside_gbps * (all - 1) / (here - 1), "chips of " + node.name);
    if (here > 0 && here < all && node.adapters_gbps)
      offer(*node.adapters_gbps * (all - 1) / (here * (all - here)), "adapters of " + node.name);
  }
  for (const AllToAllLevel& level : levels) {
    std::vector<std::int64_t> in_domain;
    for (const DomainShare& domain : level.domains) {
      in_domain.push_back(domain.chips);
      const auto here = static_cast<double>(domain.chips);
      if (level.gbps && here > 0 && here < all)
        offer(*level.gbps * domain.nodes * (all - 1) / (here * (all - here)),
              "level " + level.name);
    }
    out.crossing_pairs.push_back(pairs_across(in_domain));
  }
  out.node_pairs = pairs_across(shares);
  return out;
}

}  // namespace chipweave::solver

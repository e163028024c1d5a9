#include "common/solver/collectives/all_to_all.hpp"

#include <algorithm>
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

namespace {

// A node's terms by name; visit(gbps, name of the term).
template <class Visit>
void each_term(const AllToAllNode& node, std::int64_t chips, const Visit& visit) {
  const auto all = static_cast<double>(chips);
  const auto here = static_cast<double>(node.chips);
  if (here > 1 && node.inside_gbps) visit(*node.inside_gbps * (all - 1) / (here - 1), "chips of ");
  if (here > 0 && here < all && node.adapters_gbps)
    visit(*node.adapters_gbps * (all - 1) / (here * (all - here)), "adapters of ");
}

}  // namespace

std::optional<double> node_limit(const AllToAllNode& node, std::int64_t chips) {
  std::optional<double> least;
  each_term(node, chips,
            [&least](double gbps, const char*) { least = std::min(least.value_or(gbps), gbps); });
  return least;
}

AllToAll all_to_all(const std::vector<AllToAllNode>& nodes,
                    const std::vector<AllToAllLevel>& levels) {
  AllToAll out;
  std::vector<std::int64_t> shares;
  shares.reserve(nodes.size());
  for (const AllToAllNode& node : nodes) shares.push_back(node.chips);
  const std::int64_t chips = std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
  const auto all = static_cast<double>(chips);
  const auto offer = [&out](double gbps, const std::string& name) {
    if (out.gbps && *out.gbps <= gbps) return;
    out.gbps = gbps;
    out.limit = name;
  };
  for (const AllToAllNode& node : nodes) {
    each_term(node, chips, [&](double gbps, const char* term) { offer(gbps, term + node.name); });
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

#include "common/solver/gang/uniform/uniform_pods.hpp"

#include <algorithm>

#include "common/solver/gang/uniform/even_shares.hpp"

namespace chipweave::solver {

UniformPlacement place_uniform(const Fabric& fabric, const NodeUsages& usages,
                               const UniformRequest& request) {
  UniformPlacement out;
  const bool hosts =
      std::any_of(request.candidates.begin(), request.candidates.end(), [&](DomainId domain) {
        return fabric.level(domain) + 1 == static_cast<int>(fabric.levels());
      });
  const Capacity capacity(fabric, request.kind, usages, hosts);
  int most = 0;
  for (const DomainId one : request.candidates) {
    out.broken = out.broken || capacity.broken(one);
    if (capacity.broken(one)) continue;
    const int here = capacity.at_most(one, request.kind.pods);
    if (!out.best || capacity.most(one) > out.best_capacity) {
      out.best = one;
      out.best_capacity = capacity.most(one);
    }
    if (here <= request.kind.pods) most = std::max(most, here);
  }
  if (most == 0 || most < request.at_least) return out;
  FewestDomains fewest(fabric, capacity, most, request.limits);
  std::vector<DomainId> able;
  for (const DomainId one : request.candidates) {
    if (!capacity.broken(one) && capacity.at_most(one, request.kind.pods) == most)
      able.push_back(one);
  }
  out.placed = most;
  out.exact = fewest.exact();
  if (request.policy == domain::GangPolicy::even) {
    EvenShares even(fabric, capacity, request.kind, fewest, request.preferred_level);
    out.shares = even.place(able, most);
    out.exact = out.exact && !even.lifted();
    return out;
  }
  std::vector<FewestDomains::Candidate> candidates;
  candidates.reserve(able.size());
  for (const DomainId one : able) candidates.push_back(fewest.candidate(one));
  out.shares = fewest.place(fewest.choose(candidates, most), most);
  return out;
}

}  // namespace chipweave::solver

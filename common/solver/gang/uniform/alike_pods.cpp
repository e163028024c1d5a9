#include "common/solver/gang/uniform/alike_pods.hpp"

#include <algorithm>

#include "common/solver/gang/uniform/even_shares.hpp"

namespace chipweave::solver {
namespace {

void collect(const Fabric& fabric, DomainId domain, int level, std::vector<DomainId>& out) {
  if (fabric.level(domain) == level) return out.push_back(domain);
  for (const DomainId child : fabric.children(domain)) collect(fabric, child, level, out);
}

}  // namespace

std::vector<DomainId> domains_of_level(const Fabric& fabric, DomainId inside, int level) {
  std::vector<DomainId> out;
  if (fabric.level(inside) >= level)
    out.push_back(inside);
  else
    collect(fabric, inside, level, out);
  return out;
}

AlikePods place_alike(const Fabric& fabric, const Notes& notes, const AlikeAsk& ask) {
  AlikePods out;
  const bool hosts =
      std::any_of(ask.candidates.begin(), ask.candidates.end(), [&](DomainId domain) {
        return fabric.level(domain) + 1 == static_cast<int>(fabric.levels());
      });
  const Room room(fabric, ask.kind, notes, hosts);
  int most = 0;
  for (const DomainId one : ask.candidates) {
    out.broken = out.broken || room.broken(one);
    if (room.broken(one)) continue;
    const int here = room.at_most(one, ask.kind.pods);
    if (!out.best || room.most(one) > out.most) {
      out.best = one;
      out.most = room.most(one);
    }
    if (here <= ask.kind.pods) most = std::max(most, here);
  }
  if (most == 0 || most < ask.at_least) return out;
  FewestDomains fewest(fabric, room, most, ask.limits);
  std::vector<DomainId> able;
  for (const DomainId one : ask.candidates) {
    if (!room.broken(one) && room.at_most(one, ask.kind.pods) == most) able.push_back(one);
  }
  out.placed = most;
  out.exact = fewest.exact();
  if (ask.policy == domain::GangPolicy::even) {
    EvenShares even(fabric, room, ask.kind, fewest, ask.preferred_level);
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

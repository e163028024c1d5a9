#include "common/solver/ranks/search/pod_places.hpp"

#include <algorithm>
#include <map>

namespace chipweave::solver {
namespace {

// Levels that can make a difference, and what being apart from each on costs.
struct KeptLevels {
  std::vector<std::size_t> levels;
  std::vector<std::int64_t> prices;
};

KeptLevels kept_levels(std::size_t levels, const RankDomains& domains) {
  KeptLevels out;
  std::size_t before = 1;
  for (std::size_t level = 0; level < levels; ++level) {
    std::vector<bool> seen(domains.names.size(), false);
    for (const auto& numbers : domains.of_pod) seen[numbers[level]] = true;
    const auto distinct = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
    // Every pod is alone, here and below, so these levels cost the same for every pair of
    // positions.
    if (distinct == domains.of_pod.size()) break;
    if (distinct > before) {
      out.levels.push_back(level);
      out.prices.push_back(0);
    }
    before = distinct;
    for (std::int64_t& price : out.prices) price += level_weight(levels, level);
  }
  return out;
}

}  // namespace

PodPlaces::PodPlaces(std::size_t levels, const std::vector<RankPath>& pods) : pods_(pods.size()) {
  find_classes(levels, pods);
  build_domains();
  give_shapes();
}

void PodPlaces::find_classes(std::size_t levels, const std::vector<RankPath>& pods) {
  const RankDomains domains = rank_domains(levels, pods);
  KeptLevels kept = kept_levels(levels, domains);
  prices_ = std::move(kept.prices);
  std::vector<std::uint32_t> path(kept.levels.size());
  std::vector<std::uint32_t> last;
  for (const std::size_t pod : depth_first(levels, pods)) {
    for (std::size_t i = 0; i < path.size(); ++i) path[i] = domains.of_pod[pod][kept.levels[i]];
    if (members_.empty() || path != last) {
      members_.emplace_back();
      paths_.insert(paths_.end(), path.begin(), path.end());
      last = path;
    }
    members_.back().push_back(pod);
  }
}

void PodPlaces::build_domains() {
  domain_of_.resize(classes());
  add_domain(kNoDomain, 0, 0, static_cast<PodClass>(classes()));
}

// The classes first .. end - 1 share their first `depth` levels. Recursion: as deep as there are
// levels.
std::uint32_t PodPlaces::add_domain(std::uint32_t parent, std::size_t depth, PodClass first,
                                    PodClass end) {
  const auto self = static_cast<std::uint32_t>(domains_.size());
  PlaceDomain& domain = domains_.emplace_back();
  domain.parent = parent;
  domain.first = first;
  domain.end = end;
  for (PodClass c = first; c < end; ++c) domain.pods += members_[c].size();
  if (depth == prices_.size()) {
    domain_of_[first] = self;
    return self;
  }
  const auto at = [&](PodClass c) { return paths_[c * prices_.size() + depth]; };
  for (PodClass begin = first; begin < end;) {
    PodClass stop = begin + 1;
    while (stop < end && at(stop) == at(begin)) ++stop;
    const std::uint32_t child = add_domain(self, depth + 1, begin, stop);
    domains_[self].children.push_back(child);
    begin = stop;
  }
  return self;
}

// Children have higher numbers than their parents.
void PodPlaces::give_shapes() {
  std::map<std::vector<std::size_t>, std::uint32_t> shapes;
  for (std::size_t i = domains_.size(); i-- > 0;) {
    PlaceDomain& domain = domains_[i];
    std::vector<std::size_t> key;
    for (const std::uint32_t child : domain.children) key.push_back(domains_[child].shape);
    std::sort(key.begin(), key.end());
    if (domain.children.empty()) key.push_back(domain.pods);
    key.push_back(domain.children.size());
    domain.shape =
        shapes.try_emplace(std::move(key), static_cast<std::uint32_t>(shapes.size())).first->second;
    std::map<std::uint32_t, std::uint32_t> last;
    for (const std::uint32_t child : domain.children) {
      const auto [it, fresh] = last.try_emplace(domains_[child].shape, child);
      if (fresh) continue;
      domains_[child].twin_before = it->second;
      it->second = child;
    }
  }
}

Arrangement PodPlaces::depth_first_arrangement() const {
  Arrangement out;
  out.reserve(pods_);
  for (PodClass c = 0; c < classes(); ++c) out.insert(out.end(), members_[c].size(), c);
  return out;
}

Arrangement PodPlaces::canonical(const Arrangement& at) const {
  std::vector<std::size_t> seen(domains_.size(), pods_);  // first position of a domain's pods
  for (std::size_t p = pods_; p-- > 0;) seen[domain_of_[at[p]]] = p;
  for (std::size_t i = domains_.size(); i-- > 1;)
    seen[domains_[i].parent] = std::min(seen[domains_[i].parent], seen[i]);

  std::vector<std::uint32_t> becomes(domains_.size(), 0);
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    // Parents are settled first. Of each shape: children by first position take the places of
    // becomes[i]'s children by number.
    using Children = std::map<std::uint32_t, std::vector<std::uint32_t>>;
    Children from;
    Children to;
    for (const std::uint32_t child : domains_[i].children)
      from[domains_[child].shape].push_back(child);
    for (const std::uint32_t child : domains_[becomes[i]].children)
      to[domains_[child].shape].push_back(child);
    for (auto& [shape, children] : from) {
      std::sort(children.begin(), children.end(),
                [&](std::uint32_t x, std::uint32_t y) { return seen[x] < seen[y]; });
      for (std::size_t k = 0; k < children.size(); ++k) becomes[children[k]] = to[shape][k];
    }
  }
  Arrangement out(at.size());
  for (std::size_t p = 0; p < at.size(); ++p) out[p] = domains_[becomes[domain_of_[at[p]]]].first;
  return out;
}

std::vector<std::size_t> PodPlaces::order(const Arrangement& at) const {
  std::vector<std::size_t> taken(classes(), 0);
  std::vector<std::size_t> out;
  out.reserve(at.size());
  for (const PodClass c : at) out.push_back(members_[c][taken[c]++]);
  return out;
}

}  // namespace chipweave::solver

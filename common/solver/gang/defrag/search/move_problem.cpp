#include "common/solver/gang/defrag/search/move_problem.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

#include "common/base/natural_order.hpp"

namespace chipweave::solver {
MoveProblem::MoveProblem(const DefragRequest& request) : request_(request) {
  lay_out_nodes();
  lay_out_pods();
  describe_domains();
  find_most_gain();
}

void MoveProblem::lay_out_nodes() {
  const Fabric& fabric = *request_.fabric;
  const int level = request_.target.level;
  std::uint32_t open = kNowhere;
  std::unordered_map<int, int> groups;
  fabric.each_node_below(kRootDomain, [&](FabricNodeId id) {
    const FabricNode& node = fabric.node(id);
    const std::uint32_t domain = whole_nodes() ? id : fabric.domain_of(id, level);
    const int position = static_cast<int>(nodes_.size());
    if (domains_.empty() || domain != open) {
      domains_.push_back({.id = domain, .first_node = position});
      open = domain;
    }
    domains_.back().last_node = position + 1;
    nodes_.push_back({.id = id,
                      .healthy = node.healthy,
                      .free = node.free,
                      .slots = node.max_pods,
                      .domain = static_cast<int>(domains_.size()) - 1});
    if (request_.groups.empty()) return;
    nodes_.back().group =
        groups.try_emplace(request_.groups[id], static_cast<int>(groups.size())).first->second;
  });
  groups_ = std::max(1, static_cast<int>(groups.size()));
}

void MoveProblem::lay_out_pods() {
  const std::vector<DefragPod>& pods = *request_.pods;
  std::vector<int> node_at(request_.fabric->node_numbers(), 0);
  for (std::size_t i = 0; i < nodes_.size(); ++i) node_at[nodes_[i].id] = static_cast<int>(i);
  for (const FabricNodeId id : request_.occupied) nodes_[to_index(node_at[id])].pinned = true;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const int position = node_at[pods[i].node];
    PlacedNode& node = nodes_[to_index(position)];
    if (!pods[i].movable) node.pinned = true;
    // Unhealthy nodes neither keep a domain from being free nor receive pods.
    if (!pods[i].movable || !node.healthy) continue;
    pods_.push_back({.input = i,
                     .node = position,
                     .chips = pods[i].chips,
                     .released = pods[i].released,
                     .group = node.group,
                     .distributed = pods[i].distributed});
  }
  std::sort(pods_.begin(), pods_.end(), [&](const MovablePod& a, const MovablePod& b) {
    if (a.node != b.node) return a.node < b.node;
    const std::string& x = pods[a.input].name;
    const std::string& y = pods[b.input].name;
    if (x != y) return natural_less(x, y);
    return std::tie(a.chips, a.input) < std::tie(b.chips, b.input);
  });
  int next = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].first_pod = next;
    while (next < static_cast<int>(pods_.size()) &&
           pods_[to_index(next)].node == static_cast<int>(i))
      ++next;
    nodes_[i].last_pod = next;
  }
  find_keep_ranges();
}

void MoveProblem::find_keep_ranges() {
  const Fabric& fabric = *request_.fabric;
  std::set<int> levels;
  for (const MovablePod& pod : pods_) levels.insert((*request_.pods)[pod.input].keep_level);
  std::unordered_map<DomainId, std::pair<int, int>> ranges;
  for (const int level : levels) {
    if (level == domain::kNoLevel) continue;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const DomainId domain = fabric.domain_of(nodes_[i].id, level);
      const int position = static_cast<int>(i);
      ranges.try_emplace(domain, position, position).first->second.second = position + 1;
      nodes_[i].keep_class = domain;  // of the finest level in the end
    }
  }
  for (MovablePod& pod : pods_) {
    const DefragPod& input = (*request_.pods)[pod.input];
    const auto whole = std::pair(0, static_cast<int>(nodes_.size()));
    const auto range = input.keep_level == domain::kNoLevel
                           ? whole
                           : ranges.at(fabric.domain_of(input.node, input.keep_level));
    pod.first_node = range.first;
    pod.last_node = range.second;
  }
  // Pods without a level to keep to go everywhere; else the coarsest level separates components.
  std::unordered_map<DomainId, int> components;
  const bool one = levels.empty() || *levels.begin() == domain::kNoLevel;
  for (TargetDomain& domain : domains_) {
    if (one) break;
    const DomainId in = fabric.domain_of(nodes_[to_index(domain.first_node)].id, *levels.begin());
    domain.component =
        components.try_emplace(in, static_cast<int>(components.size())).first->second;
  }
  components_ = std::max(1, static_cast<int>(components.size()));
}

void MoveProblem::describe_domains() {
  std::int64_t unit = 0;
  std::int64_t largest = 0;
  for (const MovablePod& pod : pods_) {
    // A node with a pod that leaves has its chips as a hole, too.
    unit = std::gcd(std::gcd(unit, pod.chips), pod.released);
    largest = std::max(largest, pod.chips);
  }
  for (std::size_t d = 0; d < domains_.size(); ++d) {
    TargetDomain& domain = domains_[d];
    bool pinned = false;
    bool may_leave = true;
    for (int n = domain.first_node; n < domain.last_node; ++n) {
      const PlacedNode& node = nodes_[to_index(n)];
      if (!node.healthy) continue;
      const bool has_pods = node.first_pod < node.last_pod;
      domain.counts = domain.counts || node.free > 0 || has_pods || node.pinned;
      pinned = pinned || node.pinned;
      if (unit > 0) {
        std::int64_t hole = node.free / unit * unit;
        if (!has_pods) hole = std::min(hole, node.slots * largest);
        domain.holes += hole;
      }
      for (int p = node.first_pod; p < node.last_pod; ++p) {
        const MovablePod& pod = pods_[to_index(p)];
        domain.chips += pod.chips;
        ++domain.pods;
        may_leave =
            may_leave && (pod.first_node < domain.first_node || pod.last_node > domain.last_node);
      }
    }
    domain.free = domain.counts && !pinned && domain.pods == 0;
    domain.candidate = domain.counts && !pinned && domain.pods > 0 && may_leave &&
                       domain.pods <= request_.target.max_moves;
    if (domain.free) ++free_domains_;
    if (domain.candidate) candidates_.push_back(static_cast<int>(d));
  }
  std::stable_sort(candidates_.begin(), candidates_.end(), [this](int a, int b) {
    const TargetDomain& x = domains_[to_index(a)];
    const TargetDomain& y = domains_[to_index(b)];
    return std::tie(x.chips, x.pods) < std::tie(y.chips, y.pods);
  });
}

// Chips that leave a domain need as many free ones in domains that are not free afterwards, so the
// free domains together have at most as many chips as are free now.
void MoveProblem::find_most_gain() {
  std::vector<std::vector<std::int64_t>> needs(to_index(components_));
  std::vector<std::int64_t> holes(to_index(components_), 0);
  for (const TargetDomain& domain : domains_) {
    holes[to_index(domain.component)] += domain.holes;
    if (domain.free) needs[to_index(domain.component)].push_back(domain.holes);
    if (domain.candidate) needs[to_index(domain.component)].push_back(domain.chips + domain.holes);
  }
  int most = 0;
  for (std::size_t c = 0; c < needs.size(); ++c) {
    std::sort(needs[c].begin(), needs[c].end());
    for (const std::int64_t need : needs[c]) {
      if (need > holes[c]) break;
      holes[c] -= need;
      ++most;
    }
  }
  most_gain_ = std::min(most - free_domains_, request_.target.domains);
  if (request_.target.max_moves == DefragTarget::kNoLimit) return;
  std::vector<int> pods;
  for (const int domain : candidates_) pods.push_back(domains_[to_index(domain)].pods);
  std::sort(pods.begin(), pods.end());
  std::int64_t left = request_.target.max_moves;
  int movable = 0;
  for (const int one : pods) {
    left -= one;
    if (left < 0) break;
    ++movable;
  }
  most_gain_ = std::min(most_gain_, movable);
}

MoveScore MoveProblem::least_cost(int gain) const {
  MoveScore out{.gain = gain};
  for (int i = 0; i < gain; ++i) {
    const TargetDomain& domain = domains_[to_index(candidates_[to_index(i)])];
    out.chips += domain.chips;
    out.pods += domain.pods;
  }
  return out;
}

std::vector<char> MoveProblem::free_after(const Targets& targets) const {
  std::vector<char> out(domains_.size(), 0);
  for (std::size_t d = 0; d < domains_.size(); ++d) {
    const TargetDomain& domain = domains_[d];
    if (!domain.counts) continue;
    bool used = false;
    for (int n = domain.first_node; n < domain.last_node; ++n) {
      const PlacedNode& node = nodes_[to_index(n)];
      used = used || (node.healthy && node.pinned);
      for (int p = node.first_pod; p < node.last_pod; ++p)
        used = used || targets[to_index(p)] == kStays;
    }
    out[d] = used ? 0 : 1;
  }
  for (const int target : targets)
    if (target != kStays) out[to_index(nodes_[to_index(target)].domain)] = 0;
  return out;
}

MoveScore MoveProblem::score(const Targets& targets) const {
  MoveScore out;
  for (const char free : free_after(targets)) out.gain += free;
  out.gain = std::min(out.gain - free_domains_, request_.target.domains);
  for (std::size_t p = 0; p < targets.size(); ++p) {
    if (targets[p] == kStays) continue;
    out.chips += pods_[p].chips;
    ++out.pods;
  }
  return out;
}

}  // namespace chipweave::solver

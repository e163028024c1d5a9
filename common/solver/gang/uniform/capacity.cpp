#include "common/solver/gang/uniform/capacity.hpp"

#include <algorithm>

#include "common/solver/bandwidth/flat_map.hpp"

namespace chipweave::solver {
namespace {

constexpr int kMaxPods = kUnlimitedPods / 4;

// Pods that complete the last slice.
int missing_pods(int running, int slice) {
  const int over = running % slice;
  return over == 0 ? 0 : slice - over;
}

}  // namespace

Capacity::Capacity(const Fabric& fabric, const PodKind& kind, const NodeUsages& usages, bool hosts)
    : fabric_(fabric),
      kind_(kind),
      usages_(usages),
      hosts_(hosts),
      steps_(fabric.levels() + 2, 1),
      domains_(fabric.domain_numbers()) {
  for (std::size_t level = fabric.levels(); level-- > 0;) {
    const int slice = level < kind.slices.size() ? kind.slices[level] : 0;
    steps_[level + 1] = slice > 1 ? slice : steps_[level + 2];
  }
  steps_[fabric.levels() + 1] = 1;
  steps_[0] = fabric.levels() > 0 ? steps_[1] : 1;
  for (const auto& [node, usage] : usages) with_usage_[pool_of(node)].push_back(node);
  for (auto& [pool, nodes] : with_usage_) std::sort(nodes.begin(), nodes.end());
  count(kRootDomain);
}

int Capacity::node_level(DomainId pool) const {
  return fabric_.is_rack(pool) ? fabric_.level(pool) + 1 : static_cast<int>(fabric_.levels());
}

int Capacity::inner_step(DomainId domain) const {
  return is_pool(domain) ? step_at(node_level(domain)) : step_at(fabric_.level(domain) + 1);
}

int Capacity::pods_on(int free, int max_pods) const {
  const int by_chips = kind_.chips == 0 ? kind_.pods : free / kind_.chips;
  return std::max(0, std::min({by_chips, max_pods, kind_.pods}));
}

Capacity::Kind Capacity::kind_with_usage(FabricNodeId id, DomainId pool, bool* broken) const {
  const FabricNode& node = fabric_.node(id);
  const NodeUsage& usage = usages_.at(id);
  const int step = step_at(node_level(pool));
  const int free = std::max(0, node.free - usage.used_chips);
  const int max_pods =
      node.max_pods == kUnlimitedPods ? kUnlimitedPods : node.max_pods - usage.used_pods;
  const int capacity =
      node.healthy && !usage.excluded ? pods_on(free, std::min(max_pods, usage.most)) : 0;
  Kind kind;
  kind.free = node.healthy ? static_cast<std::uint64_t>(free) : 0;
  kind.count = 1;
  kind.already_used = usage.already_used || usage.running > 0;
  kind.node = id;
  kind.base = missing_pods(usage.running, step);
  const int most = capacity - (capacity + usage.running) % step;
  if (most < kind.base && broken != nullptr) *broken = true;
  kind.units = std::max(0, (most - kind.base) / step);
  return kind;
}

Capacity::Kind Capacity::of_node(FabricNodeId id) const {
  const DomainId pool = pool_of(id);
  if (usages_.contains(id)) return kind_with_usage(id, pool, nullptr);
  const FabricNode& node = fabric_.node(id);
  Kind kind;
  kind.count = 1;
  if (!node.healthy) return kind;
  kind.free = static_cast<std::uint64_t>(node.free);
  kind.units = pods_on(node.free, node.max_pods) / step_at(node_level(pool));
  return kind;
}

int Capacity::fewest_nodes(DomainId domain, int pods) const {
  const OfDomain& of = domains_[domain];
  if (of.already_used) return 0;
  int used = 0;
  const auto take = [&](int capacity, int there) {
    if (pods <= capacity * std::int64_t{there}) {
      used += (pods + capacity - 1) / capacity;
      pods = 0;
    } else {
      used += there;
      pods -= capacity * there;
    }
  };
  if (of.pool) {
    const int step = inner_step(domain);
    for (const Kind& kind : kinds(domain)) {
      if (pods == 0 || kind.units == 0) break;
      take(kind.units * step, kind.count);
    }
    return used;
  }
  if (largest_node_ > kMaxTracked) return 0;
  const Histogram& nodes = histograms_[of.histogram];
  for (std::size_t capacity = largest_node_; capacity > 0 && pods > 0; --capacity) {
    if (nodes[capacity] > 0) take(static_cast<int>(capacity), static_cast<int>(nodes[capacity]));
  }
  return used;
}

void Capacity::count_kind(OfDomain& of, const Kind& kind, int step) {
  of.free += kind.free * static_cast<std::uint64_t>(kind.count);
  of.already_used = of.already_used || kind.already_used;
  of.base_inside += kind.base;
  if (kind.units == 0 && kind.base == 0) return;
  kinds_.push_back(kind);
  const int capacity = kind.base + kind.units * step;
  largest_node_ = std::max(largest_node_, static_cast<std::size_t>(capacity));
  if (first_capacity_ == 0) {
    first_capacity_ = capacity;
    first_free_ = kind.free;
  }
  nodes_follow_ = nodes_follow_ && !kind.already_used && capacity == first_capacity_ &&
                  kind.free == first_free_ && (capacity == 1 || steps_[0] == 1);
}

// The kinds of the fabric without the nodes that have a usage; those are kinds of their own.
void Capacity::count_pool(DomainId pool) {
  OfDomain& of = domains_[pool];
  of.pool = true;
  of.first_kind = static_cast<std::uint32_t>(kinds_.size());
  const int step = step_at(node_level(pool));
  one_node_each_ = one_node_each_ && (fabric_.is_rack(pool) || fabric_.nodes(pool).size() <= 1);
  const auto it = with_usage_.find(pool);
  for (const NodeKind& nodes : fabric_.kinds(pool)) {
    Kind kind;
    kind.count = nodes.count;
    if (it != with_usage_.end()) {
      for (const FabricNodeId id : it->second) {
        const FabricNode& node = fabric_.node(id);
        if (node.healthy && node.free == nodes.free && node.max_pods == nodes.max_pods)
          --kind.count;
      }
    }
    if (kind.count == 0) continue;
    kind.free = static_cast<std::uint64_t>(nodes.free);
    kind.units = pods_on(nodes.free, nodes.max_pods) / step;
    count_kind(of, kind, step);
  }
  if (it != with_usage_.end()) {
    for (const FabricNodeId id : it->second) {
      of.running += usages_.at(id).running;
      count_kind(of, kind_with_usage(id, pool, &of.broken), step);
    }
  }
  of.last_kind = static_cast<std::uint32_t>(kinds_.size());
  std::sort(kinds_.begin() + of.first_kind, kinds_.end(), [](const Kind& a, const Kind& b) {
    return a.units != b.units ? a.units > b.units : a.free < b.free;
  });
  std::int64_t most = 0;
  for (const Kind& kind : kinds(pool)) {
    most += kind.count * (kind.base + std::int64_t{kind.units} * step);
    const auto of_kind = hash_key(static_cast<std::uint64_t>(kind.units) << 32U ^ kind.free) +
                         static_cast<std::uint64_t>(kind.base) * 2 + (kind.already_used ? 1 : 0);
    of.symmetry_hash += hash_key(of_kind) * static_cast<std::uint64_t>(kind.count);
  }
  of.symmetry_hash += hash_key(of.free);
  close(pool, most, of.base_inside);
}

// Depth-first, as deep as there are levels.
void Capacity::count(DomainId domain) {
  if (counts_as_pool(domain)) return count_pool(domain);
  const auto which = histograms_.size();
  histograms_.emplace_back();
  std::int64_t most = 0;
  OfDomain of;
  of.histogram = static_cast<std::uint32_t>(which);
  for (const DomainId child : fabric_.children(domain)) {
    count(child);
    const OfDomain& part = domains_[child];
    add_histogram(child, histograms_[which]);
    most += part.most;
    of.base_inside += part.base;
    of.running += part.running;
    of.free += part.free;
    of.already_used = of.already_used || part.already_used;
    of.broken = of.broken || part.broken;
    of.symmetry_hash += hash_key(part.symmetry_hash);
  }
  domains_[domain] = of;
  close(domain, most, of.base_inside);
}

// Nodes by capacity; all above kMaxTracked count as one.
void Capacity::add_histogram(DomainId from, Histogram& to) const {
  const OfDomain& part = domains_[from];
  if (part.pool) {
    const int step = inner_step(from);
    for (const Kind& kind : kinds(from))
      to[std::min(kMaxTracked, static_cast<std::size_t>(kind.base + kind.units * step))] +=
          static_cast<std::uint32_t>(kind.count);
    return;
  }
  const Histogram& below = histograms_[part.histogram];
  for (std::size_t capacity = 1; capacity <= std::min(largest_node_, kMaxTracked); ++capacity)
    to[capacity] += below[capacity];
}

// Rounds the capacity of the parts to whole slices of the domain.
void Capacity::close(DomainId domain, std::int64_t most, std::int64_t base) {
  OfDomain& of = domains_[domain];
  const int level = fabric_.level(domain);
  const int slice = level < 0 ? 1 : step_at(level);
  most = std::min<std::int64_t>(most, kMaxPods);
  of.most = static_cast<int>(most - (most + of.running) % slice);
  of.base = static_cast<int>(base);
  if (of.running > 0) of.base += missing_pods(static_cast<int>(base) + of.running, slice);
  if (of.most < of.base) of.broken = true;
  of.most = std::max(of.most, of.base);
  of.symmetry_hash = hash_key(of.symmetry_hash ^ static_cast<std::uint64_t>(level + 1) ^
                              static_cast<std::uint64_t>(of.running) << 8U ^
                              static_cast<std::uint64_t>(of.already_used ? 1 : 0) << 5U);
}

int Capacity::at_most(DomainId domain, int pods) const {
  const OfDomain& of = domains_[domain];
  const int top = std::min(pods, of.most);
  if (top < of.base) return of.base;
  return of.base + (top - of.base) / step(domain) * step(domain);
}

}  // namespace chipweave::solver

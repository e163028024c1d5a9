#include "common/solver/gang/room.hpp"

#include <algorithm>
#include <utility>

namespace chipweave::solver {

Room::Room(const Fabric& fabric, std::vector<int> slice, const Existing& existing,
           const std::function<int(FabricNodeId)>& node_room)
    : slice_(std::move(slice)),
      existing_(existing),
      nodes_(fabric.node_numbers(), 0),
      domains_(fabric.domain_numbers()),
      level_(fabric.domain_numbers(), -1) {
  count(fabric, kRootDomain, node_room);
}

int Room::fewest_nodes(DomainId domain, int pods) const {
  const std::int32_t which = domains_[domain].histogram;
  if (which < 0 || !histograms_whole_ || domains_[domain].existing > 0) return 0;
  const Histogram& nodes = histograms_[static_cast<std::size_t>(which)];
  int used = 0;
  for (auto room = static_cast<int>(kMostRoom); room > 0 && pods > 0; --room) {
    const int there = static_cast<int>(nodes[static_cast<std::size_t>(room)]);
    const int needed = std::min(there, (pods + room - 1) / room);
    used += needed;
    pods -= std::min(pods, needed * room);
  }
  return used;
}

// Depth-first, as deep as there are levels.
void Room::count(const Fabric& fabric, DomainId domain,
                 const std::function<int(FabricNodeId)>& node_room) {
  const Domain& d = fabric.domain(domain);
  OfDomain& sum = domains_[domain];
  level_[domain] = d.level;
  std::int64_t most = 0;
  for (const FabricNodeId id : d.nodes) {
    const FabricNode& node = fabric.node(id);
    const int here = existing_on(id);
    const int room = std::max(0, node_room(id));
    nodes_[id] = room;
    most += room;
    sum.existing += here;
    if (node.healthy) sum.free += static_cast<std::uint64_t>(node.free);
    if (room == 0) continue;
    if (uniform_room_ == 0) {
      uniform_room_ = room;
      uniform_free_ = node.free;
    }
    uniform_ = uniform_ && here == 0 && room == uniform_room_ && node.free == uniform_free_;
  }
  one_node_each_ = one_node_each_ && d.nodes.size() <= 1;
  std::int64_t base = 0;
  if (!d.children.empty()) {
    sum.histogram = static_cast<std::int32_t>(histograms_.size());
    histograms_.emplace_back();
  }
  for (const DomainId child : d.children) {
    count(fabric, child, node_room);
    const OfDomain& part = domains_[child];
    add_histogram(fabric, child, histograms_[static_cast<std::size_t>(sum.histogram)]);
    most += part.most;
    base += part.base;
    sum.existing += part.existing;
    sum.free += part.free;
    sum.broken = sum.broken || part.broken;
  }
  const int slice = d.level < 0 ? 1 : std::max(1, slice_[static_cast<std::size_t>(d.level)]);
  most = std::min<std::int64_t>(most, kAnyPods / 2);
  const auto over = static_cast<int>((most + sum.existing) % slice);
  sum.most = static_cast<int>(most) - over;
  const auto lacks = static_cast<int>((base + sum.existing) % slice);
  sum.base = static_cast<int>(base) + (lacks == 0 || sum.existing == 0 ? 0 : slice - lacks);
  if (sum.most < sum.base) sum.broken = true;
  sum.most = std::max(sum.most, 0);
}

void Room::add_histogram(const Fabric& fabric, DomainId from, Histogram& to) {
  if (const std::int32_t which = domains_[from].histogram; which >= 0) {
    const Histogram& part = histograms_[static_cast<std::size_t>(which)];
    for (std::size_t room = 1; room < part.size(); ++room) to[room] += part[room];
    return;
  }
  for (const FabricNodeId node : fabric.domain(from).nodes) {
    const auto room = static_cast<std::size_t>(nodes_[node]);
    histograms_whole_ = histograms_whole_ && room <= kMostRoom;
    ++to[std::min(room, kMostRoom)];
  }
}

int Room::step(int level) const {
  for (std::size_t l = static_cast<std::size_t>(std::max(level, 0)); l < slice_.size(); ++l) {
    if (slice_[l] > 1) return slice_[l];
  }
  return 1;
}

int Room::at_most(DomainId domain, int pods) const {
  const OfDomain& of = domains_[domain];
  const int step_here = step(level_[domain]);
  const int top = std::min(pods, of.most);
  if (top < of.base) return of.base;
  return of.base + (top - of.base) / step_here * step_here;
}

}  // namespace chipweave::solver

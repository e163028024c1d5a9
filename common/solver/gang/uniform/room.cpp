#include "common/solver/gang/uniform/room.hpp"

#include <algorithm>

namespace chipweave::solver {
namespace {

constexpr int kMaxPods = kAnyPods / 4;

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of the input moves all others.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

int lacking(int running, int slice) {
  const int over = running % slice;
  return over == 0 ? 0 : slice - over;
}

}  // namespace

Room::Room(const Fabric& fabric, const PodKind& kind, const Notes& notes, bool hosts)
    : fabric_(fabric),
      kind_(kind),
      notes_(notes),
      hosts_(hosts),
      steps_(fabric.levels() + 2, 1),
      domains_(fabric.domain_numbers()) {
  for (std::size_t level = fabric.levels(); level-- > 0;) {
    const int slice = level < kind.slices.size() ? kind.slices[level] : 0;
    steps_[level + 1] = slice > 1 ? slice : steps_[level + 2];
  }
  steps_[fabric.levels() + 1] = 1;
  steps_[0] = fabric.levels() > 0 ? steps_[1] : 1;
  for (const auto& [node, note] : notes) noted_[unit_of(node)].push_back(node);
  for (auto& [unit, nodes] : noted_) std::sort(nodes.begin(), nodes.end());
  count(kRootDomain);
}

int Room::node_level(DomainId unit) const {
  return fabric_.is_rack(unit) ? fabric_.level(unit) + 1 : static_cast<int>(fabric_.levels());
}

int Room::inner_step(DomainId domain) const {
  return unit(domain) ? step_at(node_level(domain)) : step_at(fabric_.level(domain) + 1);
}

int Room::pods_on(int free, int max_pods) const {
  const int by_chips = kind_.chips == 0 ? kind_.pods : free / kind_.chips;
  return std::max(0, std::min({by_chips, max_pods, kind_.pods}));
}

Room::Kind Room::noted(FabricNodeId id, DomainId unit, bool* broken) const {
  const FabricNode& node = fabric_.node(id);
  const NodeNote& note = notes_.at(id);
  const int step = step_at(node_level(unit));
  const int free = std::max(0, node.free - note.used_chips);
  const int room =
      node.healthy && !note.closed
          ? pods_on(free, node.max_pods == kAnyPods ? kAnyPods : node.max_pods - note.used_pods)
          : 0;
  Kind kind;
  kind.free = node.healthy ? static_cast<std::uint64_t>(free) : 0;
  kind.count = 1;
  kind.paid = note.paid || note.running > 0;
  kind.node = id;
  kind.base = lacking(note.running, step);
  const int most = room - (room + note.running) % step;
  if (most < kind.base && broken != nullptr) *broken = true;
  kind.amount = std::max(0, (most - kind.base) / step);
  return kind;
}

Room::Kind Room::of_node(FabricNodeId id) const {
  const DomainId unit = unit_of(id);
  if (notes_.contains(id)) return noted(id, unit, nullptr);
  const FabricNode& node = fabric_.node(id);
  Kind kind;
  kind.count = 1;
  if (!node.healthy) return kind;
  kind.free = static_cast<std::uint64_t>(node.free);
  kind.amount = pods_on(node.free, node.max_pods) / step_at(node_level(unit));
  return kind;
}

int Room::fewest_nodes(DomainId domain, int pods) const {
  const OfDomain& of = domains_[domain];
  if (of.paid) return 0;
  int used = 0;
  const auto take = [&](int room, int there) {
    if (pods <= room * std::int64_t{there}) {
      used += (pods + room - 1) / room;
      pods = 0;
    } else {
      used += there;
      pods -= room * there;
    }
  };
  if (of.unit) {
    const int step = inner_step(domain);
    for (const Kind& kind : kinds(domain)) {
      if (pods == 0 || kind.amount == 0) break;
      take(kind.amount * step, kind.count);
    }
    return used;
  }
  if (most_room_ > kMaxTracked) return 0;
  const Histogram& nodes = histograms_[of.histogram];
  for (std::size_t room = most_room_; room > 0 && pods > 0; --room) {
    if (nodes[room] > 0) take(static_cast<int>(room), static_cast<int>(nodes[room]));
  }
  return used;
}

void Room::count_kind(OfDomain& of, const Kind& kind, int step) {
  of.free += kind.free * static_cast<std::uint64_t>(kind.count);
  of.paid = of.paid || kind.paid;
  of.base_inside += kind.base;
  if (kind.amount == 0 && kind.base == 0) return;
  kinds_.push_back(kind);
  const int room = kind.base + kind.amount * step;
  most_room_ = std::max(most_room_, static_cast<std::size_t>(room));
  if (like_room_ == 0) {
    like_room_ = room;
    like_free_ = kind.free;
  }
  nodes_follow_ = nodes_follow_ && !kind.paid && room == like_room_ && kind.free == like_free_ &&
                  (room == 1 || steps_[0] == 1);
}

// Kinds of the fabric, less the nodes that have notes; these one by one.
void Room::count_unit(DomainId unit) {
  OfDomain& of = domains_[unit];
  of.unit = true;
  of.first_kind = static_cast<std::uint32_t>(kinds_.size());
  const int step = step_at(node_level(unit));
  one_node_each_ = one_node_each_ && (fabric_.is_rack(unit) || fabric_.nodes(unit).size() <= 1);
  const auto it = noted_.find(unit);
  for (const NodeKind& alike : fabric_.kinds(unit)) {
    Kind kind;
    kind.count = alike.count;
    if (it != noted_.end()) {
      for (const FabricNodeId id : it->second) {
        const FabricNode& node = fabric_.node(id);
        if (node.healthy && node.free == alike.free && node.max_pods == alike.max_pods)
          --kind.count;
      }
    }
    if (kind.count == 0) continue;
    kind.free = static_cast<std::uint64_t>(alike.free);
    kind.amount = pods_on(alike.free, alike.max_pods) / step;
    count_kind(of, kind, step);
  }
  if (it != noted_.end()) {
    for (const FabricNodeId id : it->second) {
      of.running += notes_.at(id).running;
      count_kind(of, noted(id, unit, &of.broken), step);
    }
  }
  of.last_kind = static_cast<std::uint32_t>(kinds_.size());
  std::sort(kinds_.begin() + of.first_kind, kinds_.end(), [](const Kind& a, const Kind& b) {
    return a.amount != b.amount ? a.amount > b.amount : a.free < b.free;
  });
  std::int64_t most = 0;
  for (const Kind& kind : kinds(unit)) {
    most += kind.count * (kind.base + std::int64_t{kind.amount} * step);
    const auto of_kind = mixed(static_cast<std::uint64_t>(kind.amount) << 32U ^ kind.free) +
                         static_cast<std::uint64_t>(kind.base) * 2 + (kind.paid ? 1 : 0);
    of.likeness += mixed(of_kind) * static_cast<std::uint64_t>(kind.count);
  }
  of.likeness += mixed(of.free);
  close(unit, most, of.base_inside);
}

// Depth-first, as deep as there are levels.
void Room::count(DomainId domain) {
  if (is_unit(domain)) return count_unit(domain);
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
    of.paid = of.paid || part.paid;
    of.broken = of.broken || part.broken;
    of.likeness += mixed(part.likeness);
  }
  domains_[domain] = of;
  close(domain, most, of.base_inside);
}

// Nodes by what they take; more than kMaxTracked is not told apart.
void Room::add_histogram(DomainId from, Histogram& to) const {
  const OfDomain& part = domains_[from];
  if (part.unit) {
    const int step = inner_step(from);
    for (const Kind& kind : kinds(from))
      to[std::min(kMaxTracked, static_cast<std::size_t>(kind.base + kind.amount * step))] +=
          static_cast<std::uint32_t>(kind.count);
    return;
  }
  const Histogram& below = histograms_[part.histogram];
  for (std::size_t room = 1; room <= std::min(most_room_, kMaxTracked); ++room)
    to[room] += below[room];
}

// What its slice leaves of what is inside.
void Room::close(DomainId domain, std::int64_t most, std::int64_t base) {
  OfDomain& of = domains_[domain];
  const int level = fabric_.level(domain);
  const int slice = level < 0 ? 1 : step_at(level);
  most = std::min<std::int64_t>(most, kMaxPods);
  of.most = static_cast<int>(most - (most + of.running) % slice);
  of.base = static_cast<int>(base);
  if (of.running > 0) of.base += lacking(static_cast<int>(base) + of.running, slice);
  if (of.most < of.base) of.broken = true;
  of.most = std::max(of.most, of.base);
  of.likeness = mixed(of.likeness ^ static_cast<std::uint64_t>(level + 1) ^
                      static_cast<std::uint64_t>(of.running) << 8U ^
                      static_cast<std::uint64_t>(of.paid ? 1 : 0) << 5U);
}

int Room::at_most(DomainId domain, int pods) const {
  const OfDomain& of = domains_[domain];
  const int top = std::min(pods, of.most);
  if (top < of.base) return of.base;
  return of.base + (top - of.base) / step(domain) * step(domain);
}

}  // namespace chipweave::solver

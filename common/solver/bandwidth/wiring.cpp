#include "common/solver/bandwidth/wiring.hpp"

#include <algorithm>
#include <map>

namespace chipweave::solver {
namespace {

using domain::LinkKind;

// Share of the nominal port rate that staged copies through host memory reach: 0.64-0.70 on PCIe 4
// boxes, 0.73 of PCIe 5 on the published four-card runs (docs/concepts/bandwidth-model.md,
// "Machines without peer-to-peer").
constexpr double kStagedShare = 0.75;

// Union-find over slots, small enough to be a vector.
struct Groups {
  std::vector<int> parent;
  explicit Groups(int n) : parent(static_cast<std::size_t>(n)) {
    for (int i = 0; i < n; ++i) parent[static_cast<std::size_t>(i)] = i;
  }
  int root(int i) {
    while (parent[static_cast<std::size_t>(i)] != i) i = parent[static_cast<std::size_t>(i)];
    return i;
  }
  void join(int a, int b) {
    parent[static_cast<std::size_t>(std::max(root(a), root(b)))] = std::min(root(a), root(b));
  }
  std::vector<ChipSet> sets() {
    std::map<int, ChipSet> by_root;
    for (std::size_t i = 0; i < parent.size(); ++i)
      by_root[root(static_cast<int>(i))].insert(static_cast<int>(i));
    std::vector<ChipSet> out;
    out.reserve(by_root.size());
    for (const auto& [root_slot, set] : by_root) out.push_back(set);
    return out;
  }
};

}  // namespace

Wiring::Wiring(const domain::NodeTopology& t) : n_(t.chip_count()), p2p_(t.p2p()), rule_(t.rule()) {
  const std::size_t cells = static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_);
  direct_.assign(cells, 0);
  routed_.assign(cells, 0);
  host_.assign(cells, 0);
  host_kind_.assign(cells, LinkKind::self);
  neighbours_.assign(idx(n_), ChipSet());
  port_ = to_rate(t.host_bandwidth().pix);
  collect_links(t);
  collect_planes(t);
  find_routes(t);
  collect_host_side(t);
  for (const domain::Chip& c : t.chips()) {
    rule_group_.push_back(c.index.value / rule_.group_size);
    rule_position_.push_back(c.index.value % rule_.group_size);
  }
  partitions_ = t.partitions();
  std::sort(partitions_.begin(), partitions_.end(),
            [](ChipSet a, ChipSet b) { return a.bits() < b.bits(); });
}

void Wiring::collect_links(const domain::NodeTopology& t) {
  for (const domain::DirectLink& l : t.links()) {
    if (l.lanes_up() == 0) continue;
    direct_[at(l.a, l.b)] = direct_[at(l.b, l.a)] = to_rate(l.gbps());
    neighbours_[idx(l.a)].insert(l.b);
    neighbours_[idx(l.b)].insert(l.a);
  }
  for (int a = 0; a < n_; ++a) {
    for (int b = 0; b < n_; ++b) {
      if (a == b) continue;
      host_kind_[at(a, b)] = t.host_path(a, b);
      const Rate rate = to_rate(t.host_bandwidth().of(t.host_path(a, b)));
      host_[at(a, b)] = p2p_ ? rate : std::llround(kStagedShare * static_cast<double>(port_));
    }
  }
}

void Wiring::collect_planes(const domain::NodeTopology& t) {
  for (const domain::Switch& s : t.switches()) {
    ChipSet members;
    for (const domain::SwitchPort& p : s.ports) {
      if (p.lanes_up() > 0) members.insert(p.slot);
    }
    if (members.size() < 2) continue;
    auto plane = std::find_if(planes_.begin(), planes_.end(),
                              [members](const Plane& p) { return p.members == members; });
    if (plane == planes_.end()) plane = planes_.insert(planes_.end(), Plane{members, {}});
    for (const domain::SwitchPort& p : s.ports) {
      plane->egress[idx(p.slot)] += to_rate(p.lanes_up() * s.gbps_per_lane);
    }
  }
}

void Wiring::find_routes(const domain::NodeTopology& t) {
  for (const domain::DirectLink& l : t.links()) {
    if (domain::is_routed(l.kind) && l.lanes_up() > 0) {
      routed_[at(l.a, l.b)] = routed_[at(l.b, l.a)] = to_rate(l.gbps());
    }
  }
  // Widest path between all pairs: Floyd-Warshall over (max, min).
  for (int k = 0; k < n_; ++k) {
    for (int a = 0; a < n_; ++a) {
      for (int b = 0; b < n_; ++b) {
        if (a == b || a == k || b == k) continue;
        routed_[at(a, b)] =
            std::max(routed_[at(a, b)], std::min(routed_[at(a, k)], routed_[at(k, b)]));
      }
    }
  }
}

void Wiring::collect_host_side(const domain::NodeTopology& t) {
  Groups uplinks(n_);
  for (int a = 0; a < n_; ++a) {
    for (int b = a + 1; b < n_; ++b) {
      const LinkKind k = t.host_path(a, b);
      if (k == LinkKind::pix || k == LinkKind::pxb || k == LinkKind::board) uplinks.join(a, b);
    }
  }
  uplink_groups_ = uplinks.sets();
  // NUMA node where known; chips of unknown node form a group with those that are not across
  // sockets from them.
  Groups numa(n_);
  for (int a = 0; a < n_; ++a) {
    for (int b = a + 1; b < n_; ++b) {
      const bool known = t.chip(a).numa >= 0 && t.chip(b).numa >= 0;
      if (known ? t.chip(a).numa == t.chip(b).numa : t.host_path(a, b) != LinkKind::sys)
        numa.join(a, b);
    }
  }
  numa_groups_ = numa.sets();
  for (const domain::Nic& nic : t.nics()) {
    ChipSet near;
    for (int s = 0; s < n_; ++s) {
      const LinkKind k = nic.paths[idx(s)];
      if (k == LinkKind::pix || k == LinkKind::pxb || k == LinkKind::board) near.insert(s);
    }
    if (!near.empty()) near_nics_.push_back(near);
  }
}

}  // namespace chipweave::solver

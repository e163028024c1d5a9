#include "tests/oracle/oracle.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

namespace chipweave::oracle {
namespace {

using domain::ChipSet;
using domain::LinkKind;
using domain::NodeTopology;
using domain::RuleKind;

double direct(const NodeTopology& m, int a, int b) {
  const domain::DirectLink* l = m.link(a, b);
  return l == nullptr ? 0 : l->gbps();
}

// Chip's rate into the bank of switches that have exactly these members (dead ports are not
// members).
std::map<std::uint64_t, std::map<int, double>> banks(const NodeTopology& m) {
  std::map<std::uint64_t, std::map<int, double>> out;
  for (const domain::Switch& s : m.switches()) {
    ChipSet members;
    for (const auto& p : s.ports) {
      if (p.lanes_up() > 0) members.insert(p.slot);
    }
    if (members.size() < 2) continue;
    for (const auto& p : s.ports) out[members.bits()][p.slot] += p.lanes_up() * s.gbps_per_lane;
  }
  return out;
}

double over_switches(const NodeTopology& m, int a, int b) {
  double out = 0;
  for (const auto& [members, egress] : banks(m)) {
    if (ChipSet(members).contains(a) && ChipSet(members).contains(b))
      out += std::min(egress.at(a), egress.at(b));
  }
  return out;
}

double widest_path(const NodeTopology& m, int from, int to) {
  double best = 0;
  ChipSet seen{from};
  const std::function<void(int, double)> walk = [&](int at, double width) {
    if (at == to) {
      best = std::max(best, width);
      return;
    }
    for (const domain::DirectLink& l : m.links()) {
      if (l.kind != LinkKind::xgmi || l.lanes_up() == 0 || (l.a != at && l.b != at)) continue;
      const int next = l.a == at ? l.b : l.a;
      if (seen.contains(next) || std::min(width, l.gbps()) <= best) continue;
      seen.insert(next);
      walk(next, std::min(width, l.gbps()));
      seen.erase(next);
    }
  };
  walk(from, 1e18);
  return best;
}

double host(const NodeTopology& m, int a, int b) {
  return m.p2p() ? m.host_bandwidth().of(m.host_path(a, b)) : 0.75 * m.host_bandwidth().pix;
}

double best_hop(const NodeTopology& m, int a, int b) {
  return std::max({direct(m, a, b), over_switches(m, a, b), widest_path(m, a, b), host(m, a, b)});
}

// Every directed ring over the chips, each once: starts at the first chip.
void for_each_ring(std::vector<int> chips, const std::function<void(const std::vector<int>&)>& f) {
  std::sort(chips.begin() + 1, chips.end());
  do {
    f(chips);
  } while (std::next_permutation(chips.begin() + 1, chips.end()));
}

// Largest total rate of directed rings over direct links and switch banks.
double ring_packing(const NodeTopology& m, const std::vector<int>& chips) {
  if (chips.size() == 2)
    return std::max(direct(m, chips[0], chips[1]), over_switches(m, chips[0], chips[1]));
  using Resource =
      std::tuple<int, std::uint64_t, int, int>;  // 0: link a→b; 1: into bank; 2: out of bank
  std::map<Resource, std::size_t> rows;
  std::vector<double> capacity;
  std::vector<std::vector<std::pair<std::size_t, double>>> columns;
  const auto bank_list = banks(m);
  const auto row = [&](const Resource& r, double c) {
    const auto [it, fresh] = rows.try_emplace(r, capacity.size());
    if (fresh) capacity.push_back(c);
    return it->second;
  };
  for_each_ring(chips, [&](const std::vector<int>& ring) {
    // All ways of taking the ring's hops: one where each pair has one medium, several where banks
    // overlap.
    std::vector<std::vector<std::vector<std::size_t>>> hops;
    for (std::size_t k = 0; k < ring.size(); ++k) {
      const int a = ring[k];
      const int b = ring[(k + 1) % ring.size()];
      std::vector<std::vector<std::size_t>> ways;
      const double link = direct(m, a, b);
      if (link > 0 && link >= over_switches(m, a, b)) {
        ways.push_back({row({0, 0, a, b}, link)});
      } else {
        for (const auto& [members, egress] : bank_list) {
          if (!ChipSet(members).contains(a) || !ChipSet(members).contains(b)) continue;
          ways.push_back(
              {row({1, members, a, 0}, egress.at(a)), row({2, members, b, 0}, egress.at(b))});
        }
      }
      if (ways.empty()) return;
      hops.push_back(std::move(ways));
    }
    std::vector<std::size_t> choice(hops.size(), 0);
    while (true) {
      std::vector<std::pair<std::size_t, double>> column;
      for (std::size_t k = 0; k < hops.size(); ++k) {
        for (const std::size_t r : hops[k][choice[k]]) column.emplace_back(r, 1.0);
      }
      columns.push_back(std::move(column));
      std::size_t k = 0;
      while (k < hops.size() && ++choice[k] == hops[k].size()) choice[k++] = 0;
      if (k == hops.size()) break;
    }
  });
  if (columns.empty()) return 0;
  std::vector<std::vector<double>> a(capacity.size(), std::vector<double>(columns.size(), 0.0));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (const auto& [r, amount] : columns[c]) a[r][c] += amount;
  }
  return linear_programme(a, capacity, std::vector<double>(columns.size(), 1.0));
}

double staged_limit(const NodeTopology& m, const std::vector<int>& chips) {
  const auto near = [&m](int a, int b) {
    const LinkKind k = m.host_path(a, b);
    return a == b || k == LinkKind::pix || k == LinkKind::pxb || k == LinkKind::board;
  };
  double limit = 1e18;
  for (const int a : chips) {
    double on_uplink = 0;
    double on_node = 0;
    for (const int b : chips) {
      on_uplink += near(a, b) ? 1 : 0;
      on_node += a == b || (m.chip(a).numa >= 0 && m.chip(b).numa >= 0
                                ? m.chip(a).numa == m.chip(b).numa
                                : m.host_path(a, b) != LinkKind::sys)
                     ? 1
                     : 0;
    }
    if (on_uplink > 1) limit = std::min(limit, m.host_bandwidth().pix / on_uplink);
    if (on_node > 1) limit = std::min(limit, 2 * m.host_bandwidth().pix / on_node);
  }
  return limit;
}

double bottleneck(const NodeTopology& m, const std::vector<int>& chips) {
  double best = 0;
  std::map<std::pair<int, int>, double> hop;
  for (const int a : chips) {
    for (const int b : chips) {
      if (a != b) hop[{a, b}] = best_hop(m, a, b);
    }
  }
  for_each_ring(chips, [&](const std::vector<int>& ring) {
    double least = 1e18;
    for (std::size_t k = 0; k < ring.size(); ++k)
      least = std::min(least, hop[{ring[k], ring[(k + 1) % ring.size()]}]);
    best = std::max(best, least);
  });
  if (!m.p2p() && best <= m.host_bandwidth().pix) best = std::min(best, staged_limit(m, chips));
  return best;
}

}  // namespace

double linear_programme(const std::vector<std::vector<double>>& a, const std::vector<double>& b,
                        const std::vector<double>& c) {
  const std::size_t m = a.size();
  const std::size_t n = c.size();
  std::vector<std::vector<double>> t(m + 1, std::vector<double>(n + m + 1, 0.0));
  std::vector<std::size_t> basis(m);
  for (std::size_t i = 0; i < m; ++i) {
    std::copy(a[i].begin(), a[i].end(), t[i].begin());
    t[i][n + i] = 1;
    t[i][n + m] = b[i];
    basis[i] = n + i;
  }
  for (std::size_t j = 0; j < n; ++j) t[m][j] = -c[j];
  for (int pivots = 0;; ++pivots) {
    // Steepest first, because there are thousands of columns; Bland's rule later on, because it
    // cannot cycle.
    std::size_t enter = n + m;
    for (std::size_t j = 0; j < n + m; ++j) {
      if (t[m][j] >= -1e-9) continue;
      if (enter == n + m || (pivots < 2000 && t[m][j] < t[m][enter])) enter = j;
      if (pivots >= 2000) break;
    }
    if (enter == n + m) return t[m][n + m];
    std::size_t leave = m;
    for (std::size_t i = 0; i < m; ++i) {
      if (t[i][enter] <= 1e-9) continue;
      if (leave == m) {
        leave = i;
        continue;
      }
      const double ratio = t[i][n + m] / t[i][enter];
      const double least = t[leave][n + m] / t[leave][enter];
      if (ratio < least - 1e-12 || (ratio <= least + 1e-12 && basis[i] < basis[leave])) leave = i;
    }
    if (leave == m) return 1e18;
    const double by = t[leave][enter];
    for (double& x : t[leave]) x /= by;
    for (std::size_t i = 0; i <= m; ++i) {
      if (i == leave || t[i][enter] == 0) continue;
      const double f = t[i][enter];
      for (std::size_t j = 0; j <= n + m; ++j) t[i][j] -= f * t[leave][j];
    }
    basis[leave] = enter;
  }
}

double bandwidth(const NodeTopology& machine, ChipSet set) {
  if (set.size() < 2) return 0;
  std::vector<int> chips;
  for (const int s : set) chips.push_back(s);
  return std::max(ring_packing(machine, chips), bottleneck(machine, chips));
}

bool legal(const NodeTopology& m, ChipSet set, ChipSet usable, bool distributed) {
  const int n = set.size();
  const int g = m.rule().group_size;
  std::map<int, int> in_group;
  std::map<int, int> group_chips;
  for (int s = 0; s < m.chip_count(); ++s) ++group_chips[m.chip(s).index.value / g];
  for (const int s : set) ++in_group[m.chip(s).index.value / g];
  int whole = 0;
  int broken = 0;
  for (const auto& [group, k] : in_group) (k == g && group_chips[group] == g ? whole : broken) += 1;
  const bool one = in_group.size() == 1;
  switch (m.rule().kind) {
    case RuleKind::any:
      return true;
    case RuleKind::ascend_910a_module:
      return n == 8 || ((n == 1 || n == 2 || n == 4) && one);
    case RuleKind::ascend_910a_half:
      return (n == 1 || n == 2 || n == 4) && one;
    case RuleKind::ascend_a3:
      if (n == 1) return !distributed;
      return n % 2 == 0 && (broken == 0 || set == usable);
    case RuleKind::ascend_310p_chip: {
      if (!distributed) return true;
      return n % 2 == 0 ? broken == 0 : broken == 1 && 2 * whole + 1 == n;
    }
    case RuleKind::ascend_310_card:
    case RuleKind::ascend_310p_card:
      return one;
    case RuleKind::ascend_a5_mesh4:
      return n < 4 ? one : (n % 4 != 0 || broken == 0);
    case RuleKind::ascend_910b_16:
    case RuleKind::ascend_310_chip:
      return true;  // machines with more than 8 chips, which the oracle does not cover
  }
  return false;
}

}  // namespace chipweave::oracle

#include "common/solver/bandwidth/rings/ring_packing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "common/solver/bandwidth/connected.hpp"
#include "common/solver/bandwidth/rings/hamilton.hpp"
#include "common/solver/bandwidth/rings/packing_lp.hpp"

namespace chipweave::solver {
namespace {

constexpr double kPriceTolerance = 1e-9;

// Rows of the linear programme: one per direct link, one per chip port into a plane. Rates scaled
// to the largest.
class Rows {
 public:
  explicit Rows(const RingGraph& g) : graph_(g) {
    for (int i = 0; i < g.size(); ++i) {
      for (int j = i + 1; j < g.size(); ++j) {
        if (g.direct(i, j) > 0) {
          link_row_[at(i, j)] = link_row_[at(j, i)] = add(g.direct(i, j));
        }
      }
    }
    port_row_.assign(g.planes().size() * kMaxRingChips, -1);
    for (std::size_t p = 0; p < g.planes().size(); ++p) {
      for (int i = 0; i < g.size(); ++i) {
        if ((g.planes()[p].members >> i & 1U) != 0) {
          port_row_[p * kMaxRingChips + static_cast<std::size_t>(i)] =
              add(g.planes()[p].egress[static_cast<std::size_t>(i)]);
        }
      }
    }
    scale_ = static_cast<double>(*std::max_element(capacity_.begin(), capacity_.end()));
  }

  double scale() const { return scale_; }
  std::vector<double> scaled_capacity() const {
    std::vector<double> out;
    for (const Rate c : capacity_) out.push_back(static_cast<double>(c) / scale_);
    return out;
  }

  // The cheapest path of a pair at these prices, and the plane it takes (-1: the direct link).
  struct Hop {
    double cost;
    int plane;
  };
  Hop hop(int i, int j, const std::vector<double>& price) const {
    if (graph_.direct(i, j) > 0) return {price[row(link_row_[at(i, j)])], -1};
    Hop best{std::numeric_limits<double>::infinity(), -1};
    for (std::uint64_t rest = graph_.plane_choices(i, j); rest != 0; rest &= rest - 1) {
      const int p = std::countr_zero(rest);
      const double cost = price[port(p, i)] + price[port(p, j)];
      if (cost < best.cost) best = {cost, p};
    }
    return best;
  }

  // What one undirected ring at rate 1 uses of each row.
  PackingLp::Column column(const Ring& ring, const std::vector<double>& price) const {
    PackingLp::Column out;
    const auto use = [&out](std::size_t r) {
      for (auto& [known, amount] : out) {
        if (known == r) {
          amount += 1;
          return;
        }
      }
      out.emplace_back(r, 1.0);
    };
    for (std::size_t k = 0; k < ring.size(); ++k) {
      const int i = ring[k];
      const int j = ring[(k + 1) % ring.size()];
      const Hop h = hop(i, j, price);
      if (h.plane < 0) {
        use(row(link_row_[at(i, j)]));
      } else {
        use(port(h.plane, i));
        use(port(h.plane, j));
      }
    }
    return out;
  }

 private:
  static std::size_t at(int i, int j) {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(kMaxRingChips) +
           static_cast<std::size_t>(j);
  }
  static std::size_t row(int r) { return static_cast<std::size_t>(r); }
  std::size_t port(int p, int i) const {
    return row(
        port_row_[static_cast<std::size_t>(p) * kMaxRingChips + static_cast<std::size_t>(i)]);
  }
  int add(Rate capacity) {
    capacity_.push_back(capacity);
    return static_cast<int>(capacity_.size()) - 1;
  }

  const RingGraph& graph_;
  std::array<int, static_cast<std::size_t>(kMaxRingChips) * kMaxRingChips> link_row_{};
  std::vector<int> port_row_;
  std::vector<Rate> capacity_;
  double scale_ = 1;
};

// Closed form of the optimum where all pairs use equal links, or one plane.
std::optional<Rate> uniform_value(const RingGraph& g) {
  const int n = g.size();
  const Rate link = g.direct(0, 1);
  bool same_links = link > 0;
  bool one_plane = g.planes().size() == 1;
  for (int i = 0; i < n && (same_links || one_plane); ++i) {
    for (int j = i + 1; j < n; ++j) {
      same_links = same_links && g.direct(i, j) == link;
      one_plane = one_plane && g.plane_choices(i, j) == 1;
    }
  }
  // All cycles of a complete graph at one rate saturate every link: n - 1 links per chip.
  if (same_links) return link * (n - 1);
  if (one_plane) {
    const auto& egress = g.planes()[0].egress;
    return *std::min_element(egress.begin(),
                             egress.begin() + n);  // any ring saturates the least port
  }
  return std::nullopt;
}

// Removing any one chip of a ring leaves the others connected.
bool surely_no_ring(const RingGraph& g) {
  const std::uint32_t all = (1U << g.size()) - 1;
  for (int i = 0; i < g.size(); ++i) {
    if (std::popcount(g.partners(i)) < 2 ||
        !connected(all & ~(1U << i), [&g](int k) { return g.partners(k); }))
      return true;
  }
  return false;
}

}  // namespace

Bandwidth pack_rings(const RingGraph& g, Steps limit) {
  const int n = g.size();
  const Steps scan = static_cast<Steps>(n) * static_cast<Steps>(n);
  const auto exactly = [](Rate rate, Steps steps) { return Bandwidth{rate, rate, steps}; };
  if (n == 2) return exactly(g.pair_capacity(0, 1), scan);
  if (surely_no_ring(g)) return exactly(0, scan);
  if (const auto value = uniform_value(g)) return exactly(*value, scan);

  const Rows rows(g);
  PackingLp lp(rows.scaled_capacity(), 2.0);
  HamiltonSolver hamilton(n);
  Rate bound = g.quick_cut_bound();
  bool bound_is_full = false;
  Steps cuts = scan * static_cast<Steps>(n);
  const auto steps = [&] { return lp.steps() + hamilton.steps() + cuts; };
  const auto rate_of = [&rows](double z) {
    return static_cast<Rate>(std::llround(z * rows.scale()));
  };
  CostMatrix cost{};
  const auto price_pairs = [&] {
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) {
        const bool joined = (g.partners(i) >> j & 1U) != 0;
        const double c =
            joined ? rows.hop(i, j, lp.prices()).cost : std::numeric_limits<double>::infinity();
        cost[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = c;
        cost[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)] = c;
      }
    }
  };
  // A ring improves the objective if it costs less than its two units of bandwidth, one each way.
  constexpr double kMaxCost = 2 - kPriceTolerance;
  bool any_ring = false;
  while (steps() <= limit) {
    price_pairs();
    cuts += scan;
    // Heuristic pricing first; the exact search only if that finds nothing.
    std::vector<Ring> rings = hamilton.quick_cycles(cost, kMaxCost);
    if (rings.empty()) {
      if (!bound_is_full && n > 8) {
        bound = std::min(bound, g.full_cut_bound());
        bound_is_full = true;
        cuts += (scan + static_cast<Steps>(n) * g.planes().size()) << static_cast<unsigned>(n - 2);
        if (rate_of(lp.value()) >= bound) return exactly(bound, steps());
      }
      rings = hamilton.cheap_cycles(cost, kMaxCost);
      if (rings.empty()) return exactly(any_ring ? rate_of(lp.value()) : 0, steps());
    }
    any_ring = true;
    // Rings that no longer improve the objective once a better one is added wait for later rounds.
    for (const Ring& ring : rings) {
      if (&ring != &rings.front()) price_pairs();
      if (cycle_cost(ring, cost) >= kMaxCost) continue;
      lp.add(rows.column(ring, lp.prices()), limit);
      if (rate_of(lp.value()) >= bound) return exactly(bound, steps());
    }
  }
  const auto found = static_cast<Rate>(std::floor(lp.value() * rows.scale()));
  return {std::clamp<Rate>(found, 0, bound), bound, steps()};
}

}  // namespace chipweave::solver

#include "common/solver/bandwidth/rings/rough_packing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace chipweave::solver {
namespace {

constexpr int kRoughRings = 128;
constexpr int kPasses = 6;     // of improvement by reversing stretches, a ring
constexpr double kDear = 1.3;  // a way that a ring fills becomes dearer by this factor
constexpr double kNoWay = 1e12;

// Direct links and ports into planes, each with a price that grows with its use.
class RoughPacker {
 public:
  RoughPacker(const Wiring& wiring, ChipSet set) : slots_(slots_of(set)), n_(slots_.size()) {
    link_.assign(n_ * n_, kNone);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = i + 1; j < n_; ++j) {
        Rate over_planes = 0;
        for (const Plane& p : wiring.planes()) over_planes += plane_rate(p, i, j);
        const Rate direct = wiring.direct(slots_[i], slots_[j]);
        if (direct > 0 && direct >= over_planes)
          link_[i * n_ + j] = link_[j * n_ + i] = add(direct);
      }
    }
    for (const Plane& p : wiring.planes()) {
      ports_.emplace_back(n_, kNone);
      if ((p.members & set).size() < 2) continue;
      for (std::size_t i = 0; i < n_; ++i) {
        if (p.members.contains(slots_[i])) ports_.back()[i] = add(p.egress[idx(slots_[i])]);
      }
    }
  }

  RoughPacking pack(Rate enough) {
    RoughPacking out;
    int fruitless = 0;
    cost_.assign(n_ * n_, kNoWay);
    for (int k = 0; k < kRoughRings && fruitless < 4 && out.rate < enough; ++k) {
      price_pairs();
      start_ring(static_cast<std::size_t>(k) % n_);
      improve_ring();
      if (!run_ring()) {
        ++fruitless;
        continue;
      }
      double fullest = 0;
      for (std::size_t r = 0; r < used_.size(); ++r)
        fullest = std::max(fullest, used_[r] / capacity_[r]);
      // Every ring runs both ways. Cut, not rounded: a prediction is never overstated.
      out.rate = std::max(out.rate, static_cast<Rate>(std::floor(2 * total_ / fullest)));
    }
    out.rate = std::min(out.rate, enough);
    out.steps = steps_;
    return out;
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  static std::size_t idx(int a) { return static_cast<std::size_t>(a); }

  static std::vector<int> slots_of(ChipSet set) {
    std::vector<int> out;
    for (const int s : set) out.push_back(s);
    return out;
  }

  std::size_t add(Rate capacity) {
    capacity_.push_back(static_cast<double>(capacity));
    price_.push_back(1 / static_cast<double>(capacity));
    used_.push_back(0);
    return capacity_.size() - 1;
  }

  Rate plane_rate(const Plane& p, std::size_t i, std::size_t j) const {
    return std::min(p.egress[idx(slots_[i])], p.egress[idx(slots_[j])]);
  }

  // The plane that is cheapest for a pair; kNone where the pair shares none.
  std::size_t plane_of(std::size_t i, std::size_t j) const {
    std::size_t best = kNone;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      if (ports_[p][i] == kNone || ports_[p][j] == kNone) continue;
      const double cost = price_[ports_[p][i]] + price_[ports_[p][j]];
      if (cost < least) {
        least = cost;
        best = p;
      }
    }
    return best;
  }

  // Relative to the dearest way, so that a missing one is worse than any ring.
  void price_pairs() {
    const double dearest = *std::max_element(price_.begin(), price_.end());
    for (double& p : price_) p /= dearest;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = i + 1; j < n_; ++j) {
        double cost = kNoWay;
        if (link_[i * n_ + j] != kNone) {
          cost = price_[link_[i * n_ + j]];
        } else if (const std::size_t p = plane_of(i, j); p != kNone) {
          cost = price_[ports_[p][i]] + price_[ports_[p][j]];
        }
        cost_[i * n_ + j] = cost_[j * n_ + i] = cost;
      }
    }
    steps_ += n_ * n_ * (1 + ports_.size());
  }

  void start_ring(std::size_t start) {
    ring_.assign(1, start);
    std::vector<bool> taken(n_, false);
    taken[start] = true;
    while (ring_.size() < n_) {
      const double* const row = &cost_[ring_.back() * n_];
      std::size_t next = kNone;
      for (std::size_t j = 0; j < n_; ++j) {
        if (!taken[j] && (next == kNone || row[j] < row[next])) next = j;
      }
      taken[next] = true;
      ring_.push_back(next);
    }
    steps_ += n_ * n_;
  }

  void improve_ring() {
    const auto node = [this](std::size_t k) { return ring_[k < n_ ? k : 0]; };
    for (int pass = 0; pass < kPasses; ++pass) {
      bool better = false;
      for (std::size_t a = 0; a + 2 < n_; ++a) {
        for (std::size_t b = a + 2; b < n_; ++b) {
          if (a == 0 && b == n_ - 1) continue;
          const double now = cost_[node(a) * n_ + node(a + 1)] + cost_[node(b) * n_ + node(b + 1)];
          const double then = cost_[node(a) * n_ + node(b)] + cost_[node(a + 1) * n_ + node(b + 1)];
          if (then >= now * (1 - 1e-9)) continue;
          std::reverse(ring_.begin() + static_cast<std::ptrdiff_t>(a) + 1,
                       ring_.begin() + static_cast<std::ptrdiff_t>(b) + 1);
          better = true;
        }
      }
      steps_ += 2 * n_ * n_;
      if (!better) return;
    }
  }

  // Adds the ring at the rate that alone would fill its narrowest way; false if a hop has no way.
  bool run_ring() {
    std::vector<std::size_t> ways;
    for (std::size_t k = 0; k < n_; ++k) {
      const std::size_t i = ring_[k];
      const std::size_t j = ring_[(k + 1) % n_];
      if (link_[i * n_ + j] != kNone) {
        ways.push_back(link_[i * n_ + j]);
        continue;
      }
      const std::size_t p = plane_of(i, j);
      if (p == kNone) return false;
      ways.push_back(ports_[p][i]);
      ways.push_back(ports_[p][j]);
    }
    std::sort(ways.begin(), ways.end());  // a port may be used twice
    double rate = std::numeric_limits<double>::infinity();
    const auto each_way = [&ways](const auto& act) {
      for (std::size_t k = 0; k < ways.size();) {
        std::size_t end = k;
        while (end < ways.size() && ways[end] == ways[k]) ++end;
        act(ways[k], static_cast<double>(end - k));
        k = end;
      }
    };
    each_way([&](std::size_t r, double times) { rate = std::min(rate, capacity_[r] / times); });
    each_way([&](std::size_t r, double times) {
      used_[r] += rate * times;
      price_[r] *= std::pow(kDear, rate * times / capacity_[r]);
    });
    total_ += rate;
    return true;
  }

  std::vector<int> slots_;
  std::size_t n_;
  std::vector<std::size_t> link_;                // by pair: its way, where it uses a direct link
  std::vector<std::vector<std::size_t>> ports_;  // by plane and chip
  std::vector<double> capacity_, price_, used_;  // by way
  std::vector<double> cost_;
  std::vector<std::size_t> ring_;
  double total_ = 0;
  Steps steps_ = 0;
};

}  // namespace

RoughPacking pack_roughly(const Wiring& wiring, ChipSet set, Rate enough) {
  return RoughPacker(wiring, set).pack(enough);
}

}  // namespace chipweave::solver

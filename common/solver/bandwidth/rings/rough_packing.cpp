#include "common/solver/bandwidth/rings/rough_packing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "common/solver/bandwidth/rings/tour_search.hpp"

namespace chipweave::solver {
namespace {

constexpr int kRoughRings = 128;
constexpr std::uint64_t kPasses = 6;  // of 2-opt, per ring
constexpr double kPriceRise = 1.3;    // of a link or port that a ring fills
constexpr double kNoLink = 1e12;

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

  Bandwidth pack(Rate bound, Steps limit) {
    Bandwidth out{0, bound, 0};
    int fruitless = 0;
    cost_.assign(n_ * n_, kNoLink);
    for (int k = 0; k < kRoughRings && fruitless < 4 && out.rate < bound && steps_ <= limit; ++k) {
      price_pairs();
      find_ring(k % static_cast<int>(n_));
      if (!run_ring()) {
        ++fruitless;
        continue;
      }
      double fullest = 0;
      for (std::size_t r = 0; r < used_.size(); ++r)
        fullest = std::max(fullest, used_[r] / capacity_[r]);
      // Every ring runs in both directions. Rounded down: a prediction is never overstated.
      out.rate = std::max(out.rate, static_cast<Rate>(std::floor(2 * total_ / fullest)));
    }
    out.rate = std::min(out.rate, bound);
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

  // The plane that is cheapest for a pair; kNone if the pair shares none.
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

  // Prices are relative to the dearest resource, so that a missing link costs more than any ring.
  void price_pairs() {
    const double dearest = *std::max_element(price_.begin(), price_.end());
    for (double& p : price_) p /= dearest;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = i + 1; j < n_; ++j) {
        double cost = kNoLink;
        if (link_[i * n_ + j] != kNone) {
          cost = price_[link_[i * n_ + j]];
        } else if (const std::size_t p = plane_of(i, j); p != kNone) {
          cost = price_[ports_[p][i]] + price_[ports_[p][j]];
        }
        cost_[i * n_ + j] = cost_[j * n_ + i] = cost;
      }
    }
    steps_ += n_ * n_ * (1 + 2 * ports_.size());
  }

  void find_ring(int start) {
    const auto cost = [this](int a, int b) { return cost_[idx(a) * n_ + idx(b)]; };
    ring_ = nearest_neighbour(
        static_cast<int>(n_), start, [](int, std::size_t) { return true; },
        [&cost](int from, int a, int b) { return cost(from, a) < cost(from, b); });
    const std::uint64_t passes = two_opt(
        ring_, kPasses, cost, [](double then, double now) { return then < now * (1 - 1e-9); });
    steps_ += (1 + 2 * passes) * n_ * n_;
  }

  // Adds the ring at the rate that saturates its narrowest resource; false if a hop has none.
  bool run_ring() {
    std::vector<std::size_t> resources;
    for (std::size_t k = 0; k < n_; ++k) {
      const std::size_t i = idx(ring_[k]);
      const std::size_t j = idx(ring_[(k + 1) % n_]);
      if (link_[i * n_ + j] != kNone) {
        resources.push_back(link_[i * n_ + j]);
        continue;
      }
      const std::size_t p = plane_of(i, j);
      if (p == kNone) return false;
      resources.push_back(ports_[p][i]);
      resources.push_back(ports_[p][j]);
    }
    std::sort(resources.begin(), resources.end());  // a port may be used twice
    double rate = std::numeric_limits<double>::infinity();
    const auto each_resource = [&resources](const auto& act) {
      for (std::size_t k = 0; k < resources.size();) {
        std::size_t end = k;
        while (end < resources.size() && resources[end] == resources[k]) ++end;
        act(resources[k], static_cast<double>(end - k));
        k = end;
      }
    };
    each_resource(
        [&](std::size_t r, double times) { rate = std::min(rate, capacity_[r] / times); });
    each_resource([&](std::size_t r, double times) {
      used_[r] += rate * times;
      price_[r] *= std::pow(kPriceRise, rate * times / capacity_[r]);
    });
    total_ += rate;
    return true;
  }

  std::vector<int> slots_;
  std::size_t n_;
  std::vector<std::size_t> link_;  // by pair: its direct link; kNone if it uses planes
  std::vector<std::vector<std::size_t>> ports_;  // by plane and chip
  std::vector<double> capacity_, price_, used_;  // by resource: a direct link or a port
  std::vector<double> cost_;
  Ring ring_;
  double total_ = 0;
  Steps steps_ = 0;
};

}  // namespace

Bandwidth pack_roughly(const Wiring& wiring, ChipSet set, Rate bound, Steps limit) {
  return RoughPacker(wiring, set).pack(bound, limit);
}

}  // namespace chipweave::solver

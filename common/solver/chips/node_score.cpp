#include "common/solver/chips/node_score.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace chipweave::solver {
namespace {

// Rounding of the model is far below this; a tolerance of 0 is taken as this much.
constexpr double kLeastTolerance = 1e-3;
constexpr double kMostTolerance = 0.999;
constexpr double kRounding = 1e-9;
constexpr int kUnusableSpeed = 1 << 20;  // steps of a candidate without bandwidth

double fastest_of(std::span<const ScoreInput> candidates) {
  double fastest = 0;
  for (const ScoreInput& c : candidates) fastest = std::max(fastest, c.gbps);
  return fastest;
}

}  // namespace

double NodePreference::ceiling(int chips, double declared) const {
  if (declared > 0) return declared;
  if (useful_gbps_per_peer <= 0) return std::numeric_limits<double>::infinity();
  return useful_gbps_per_peer * std::max(chips - 1, 0);
}

ScoreInput score_input(const NodeOffer& offer, double ceiling, const NodePreference& preference,
                       std::uint32_t order) {
  ScoreInput out;
  out.gbps = std::min(offer.gbps, ceiling);
  out.loss = preference.mix.unusable(offer.left_over, offer.open_after) -
             preference.mix.unusable(offer.free, offer.open_before);
  out.machine_gbps = offer.machine_gbps;
  out.left_over = offer.left_over;
  out.order = order;
  return out;
}

NodeOrder::NodeOrder(double fastest, double tolerance)
    : fastest_(fastest),
      log_step_(-std::log(1 - std::clamp(tolerance, kLeastTolerance, kMostTolerance))) {}

int NodeOrder::step(double gbps) const {
  if (gbps >= fastest_) return 0;
  if (gbps <= 0) return kUnusableSpeed;
  const double steps = std::log(fastest_ / gbps) / log_step_;
  // Exactly one tolerance below the fastest is still as fast.
  return static_cast<int>(std::min(std::max(std::ceil(steps - kRounding) - 1, 0.0),
                                   static_cast<double>(kUnusableSpeed)));
}

bool NodeOrder::better(const ScoreInput& a, const ScoreInput& b) const {
  if (a.gbps != b.gbps) {
    const int step_a = step(a.gbps);
    const int step_b = step(b.gbps);
    if (step_a != step_b) return step_a < step_b;
  }
  if (std::abs(a.loss - b.loss) > kRounding) return a.loss < b.loss;
  if (a.machine_gbps != b.machine_gbps) return a.machine_gbps < b.machine_gbps;
  if (a.left_over != b.left_over) return a.left_over < b.left_over;
  return a.order < b.order;
}

std::size_t best_node(std::span<const ScoreInput> candidates, double tolerance) {
  const NodeOrder order(fastest_of(candidates), tolerance);
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (order.better(candidates[i], candidates[best])) best = i;
  }
  return best;
}

NodeScores score_nodes(std::span<const ScoreInput> candidates, double tolerance) {
  NodeScores scores;
  scores.levels.resize(candidates.size());
  if (candidates.empty()) return scores;
  const double fastest = fastest_of(candidates);
  const NodeOrder order(fastest, tolerance);
  std::vector<std::size_t> ranked(candidates.size());
  std::iota(ranked.begin(), ranked.end(), std::size_t{0});
  std::sort(ranked.begin(), ranked.end(), [&](std::size_t a, std::size_t b) {
    return order.better(candidates[a], candidates[b]);
  });
  scores.best = ranked.front();
  const auto [least, most] = std::minmax_element(
      candidates.begin(), candidates.end(),
      [](const ScoreInput& a, const ScoreInput& b) { return a.loss < b.loss; });
  const double range = most->loss - least->loss;
  // Eight levels of bandwidth with what is left for others in between; without bandwidth the latter
  // has all ten. A worse node never has a higher level.
  const double bandwidth_levels = fastest > 0 ? 8 : 0;
  const double other_levels = 9 - bandwidth_levels;
  int level = 9;
  for (const std::size_t i : ranked) {
    const ScoreInput& c = candidates[i];
    const bool as_fast = order.step(c.gbps) == 0;
    const double share = fastest > 0 && !as_fast ? c.gbps / fastest : 1;
    const double kept = range > kRounding ? (most->loss - c.loss) / range : 1;
    const double own = std::floor(bandwidth_levels * share + other_levels * kept + kRounding);
    level = std::min(level, static_cast<int>(std::clamp(own, 0.0, 9.0)));
    scores.levels[i] = level;
  }
  return scores;
}

}  // namespace chipweave::solver

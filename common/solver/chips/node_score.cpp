#include "common/solver/chips/node_score.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace chipweave::solver {
namespace {

constexpr double kLeastTolerance = 1e-3;  // far above the rounding of predictions
constexpr double kMostTolerance = 0.999;
constexpr double kRounding = 1e-9;
constexpr int kMostSteps = 1 << 20;  // of a candidate without bandwidth

}  // namespace

double NodePreference::ceiling(int chips, bool distributed, double declared_need) const {
  if (declared_need > 0) return declared_need;
  if (distributed || useful_gbps_per_peer <= 0 || chips >= kUnlimitedChips)
    return std::numeric_limits<double>::infinity();
  return useful_gbps_per_peer * std::max(chips - 1, 0);
}

ScoreInput score_input(const NodeOffer& offer, double ceiling, std::uint32_t order) {
  return {std::min(offer.gbps, ceiling),
          unusable_chips(offer.left_over, offer.open_after) -
              unusable_chips(offer.free, offer.open_before),
          offer.machine_gbps, offer.left_over, order};
}

NodeOrder::NodeOrder(std::span<const ScoreInput> candidates, double tolerance)
    : log_step_(-std::log(1 - std::clamp(tolerance, kLeastTolerance, kMostTolerance))) {
  for (const ScoreInput& c : candidates) {
    fastest_ = std::max(fastest_, c.gbps);
    fastest_machine_ = std::max(fastest_machine_, c.machine_gbps);
  }
}

int NodeOrder::step(double gbps) const {
  if (gbps >= fastest_) return 0;
  if (gbps <= 0) return kMostSteps;
  // Exactly one tolerance below the fastest is still as fast.
  const double steps = std::ceil(std::log(fastest_ / gbps) / log_step_ - kRounding) - 1;
  return static_cast<int>(std::clamp<double>(steps, 0, kMostSteps));
}

double NodeOrder::loss(const ScoreInput& c) const {
  return c.unusable + (fastest_machine_ > 0 ? kFastChips * c.machine_gbps / fastest_machine_ : 0);
}

bool NodeOrder::better(const ScoreInput& a, const ScoreInput& b) const {
  if (a.gbps != b.gbps) {
    const int step_a = step(a.gbps);
    const int step_b = step(b.gbps);
    if (step_a != step_b) return step_a < step_b;
  }
  // In whole units of the rounding, so that being equal is transitive.
  const double loss_a = std::round(loss(a) / kRounding);
  const double loss_b = std::round(loss(b) / kRounding);
  if (loss_a != loss_b) return loss_a < loss_b;
  if (a.left_over != b.left_over) return a.left_over < b.left_over;
  return a.order < b.order;
}

std::size_t best_node(std::span<const ScoreInput> candidates, const NodeOrder& order) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (order.better(candidates[i], candidates[best])) best = i;
  }
  return best;
}

NodeScores score_nodes(std::span<const ScoreInput> candidates, const NodeOrder& order) {
  NodeScores scores;
  scores.levels.resize(candidates.size());
  if (candidates.empty()) return scores;
  std::vector<std::size_t> ranked(candidates.size());
  std::iota(ranked.begin(), ranked.end(), std::size_t{0});
  std::sort(ranked.begin(), ranked.end(), [&](std::size_t a, std::size_t b) {
    return order.better(candidates[a], candidates[b]);
  });
  scores.best = ranked.front();
  double fastest = 0;
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const ScoreInput& c : candidates) {
    fastest = std::max(fastest, c.gbps);
    least = std::min(least, order.loss(c));
    most = std::max(most, order.loss(c));
  }
  // Eight levels of bandwidth with what others lose in between; without bandwidth the latter has
  // all ten. A worse node never has a higher level.
  const double bandwidth_levels = fastest > 0 ? 8 : 0;
  const double loss_levels = 9 - bandwidth_levels;
  int level = 9;
  for (const std::size_t i : ranked) {
    const ScoreInput& c = candidates[i];
    const double share = order.step(c.gbps) == 0 ? 1 : c.gbps / fastest;
    const double kept = most - least > kRounding ? (most - order.loss(c)) / (most - least) : 1;
    const double own = std::floor(bandwidth_levels * share + loss_levels * kept + kRounding);
    level = std::min(level, static_cast<int>(std::clamp<double>(own, 0, 9)));
    scores.levels[i] = level;
  }
  return scores;
}

int level_without_chips(int free_chips) { return std::clamp(kBestScore - 1 - free_chips, 0, 9); }

}  // namespace chipweave::solver

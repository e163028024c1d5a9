#include "common/solver/nodes/node_score.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace chipweave::solver {
namespace {

constexpr double kLeastTolerance = 1e-3;  // far above the rounding of predictions
constexpr double kMaxTolerance = 0.999;
constexpr double kRounding = 1e-9;
constexpr int kMaxSteps = 1 << 20;  // of a candidate without bandwidth
constexpr int kFarLevels = 2;       // of the score, for each level of the network

}  // namespace

double NodePreference::ceiling(int chips, bool distributed, double declared_need) const {
  if (declared_need > 0) return declared_need;
  if (distributed || useful_gbps_per_peer <= 0 || chips >= kUnlimitedChips)
    return std::numeric_limits<double>::infinity();
  return useful_gbps_per_peer * std::max(chips - 1, 0);
}

ScoreInput score_input(const NodeOffer& offer, double ceiling, std::uint32_t order) {
  return {std::min(offer.gbps, ceiling),
          offer.unusable,
          offer.machine_gbps,
          offer.left_over,
          order,
          offer.fast_chips,
          0};
}

NodeOrder::NodeOrder(std::span<const ScoreInput> candidates, double tolerance)
    : log_step_(-std::log(1 - std::clamp(tolerance, kLeastTolerance, kMaxTolerance))) {
  for (const ScoreInput& c : candidates) {
    fastest_ = std::max(fastest_, c.gbps);
    if (c.machine_gbps <= fastest_machine_) continue;
    fastest_machine_ = c.machine_gbps;
    fast_chips_ = c.fast_chips;
  }
}

int NodeOrder::step(double gbps) const {
  if (gbps >= fastest_) return 0;
  if (gbps <= 0) return kMaxSteps;
  // Exactly one tolerance below the fastest is still as fast.
  const double steps = std::ceil(std::log(fastest_ / gbps) / log_step_ - kRounding) - 1;
  return static_cast<int>(std::clamp<double>(steps, 0, kMaxSteps));
}

double NodeOrder::loss(const ScoreInput& c) const {
  return c.unusable + (fastest_machine_ > 0 ? fast_chips_ * c.machine_gbps / fastest_machine_ : 0);
}

NodeOrder::Rank NodeOrder::rank(const ScoreInput& c) const {
  return {step(c.gbps), c.far,       c.other_leaves, std::llround(loss(c) / kRounding),
          c.breaks,     c.left_over, c.order};
}

std::size_t best_node(std::span<const ScoreInput> candidates, const NodeOrder& order) {
  std::size_t best = 0;
  NodeOrder::Rank best_rank;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const NodeOrder::Rank rank = order.rank(candidates[i]);
    if (i > 0 && !(rank < best_rank)) continue;
    best = i;
    best_rank = rank;
  }
  return best;
}

NodeScores score_nodes(std::span<const ScoreInput> candidates, const NodeOrder& order) {
  NodeScores scores;
  scores.levels.resize(candidates.size());
  if (candidates.empty()) return scores;
  std::vector<std::pair<NodeOrder::Rank, std::size_t>> ranked;
  ranked.reserve(candidates.size());
  double fastest = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    ranked.emplace_back(order.rank(candidates[i]), i);
    fastest = std::max(fastest, candidates[i].gbps);
  }
  std::sort(ranked.begin(), ranked.end());
  scores.best = ranked.front().second;
  const auto [least, most] =
      std::minmax_element(ranked.begin(), ranked.end(),
                          [](const auto& a, const auto& b) { return a.first.loss < b.first.loss; });
  const int nearest =
      std::min_element(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
        return a.far < b.far;
      })->far;
  const std::int64_t most_loss = most->first.loss;
  const std::int64_t range = most_loss - least->first.loss;
  // Eight levels of bandwidth with what others lose in between; without bandwidth the latter has
  // all ten. A worse node never has a higher level.
  const double bandwidth_levels = fastest > 0 ? 8 : 0;
  const double loss_levels = 9 - bandwidth_levels;
  int level = 9;
  for (const auto& [rank, i] : ranked) {
    const double share = rank.step == 0 ? 1 : candidates[i].gbps / fastest;
    const double kept =
        range > 0 ? static_cast<double>(most_loss - rank.loss) / static_cast<double>(range) : 1;
    const double own = std::floor(bandwidth_levels * share + loss_levels * kept + kRounding) -
                       kFarLevels * (rank.far - nearest);
    level = std::min(level, static_cast<int>(std::clamp<double>(own, 0, 9)));
    scores.levels[i] = level;
  }
  return scores;
}

int level_without_chips(int free_chips) { return std::clamp(kBestScore - 1 - free_chips, 0, 9); }

}  // namespace chipweave::solver

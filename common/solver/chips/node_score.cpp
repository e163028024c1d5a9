#include "common/solver/chips/node_score.hpp"

#include <algorithm>
#include <cmath>

namespace chipweave::solver {
namespace {

// Bandwidths that differ by less than a thousandth count as equal.
constexpr double kSame = 1e-3;

bool clearly_faster(double a, double b) { return a > b * (1 + kSame) + 1e-9; }

}  // namespace

bool better_node(const ScoreInput& a, const ScoreInput& b) {
  if (clearly_faster(a.gbps, b.gbps)) return true;
  if (clearly_faster(b.gbps, a.gbps)) return false;
  if (a.left_over != b.left_over) return a.left_over < b.left_over;
  return a.order < b.order;
}

NodeScores score_nodes(std::span<const ScoreInput> candidates) {
  NodeScores scores;
  scores.levels.resize(candidates.size());
  double fastest = 0;
  int most_left = 0;
  for (const ScoreInput& c : candidates) {
    fastest = std::max(fastest, c.gbps);
    most_left = std::max(most_left, c.left_over);
  }
  // Eight levels of bandwidth with packing in between; without bandwidth, packing has all ten.
  const double bandwidth_levels = fastest > 0 ? 8 : 0;
  const double packing_levels = 9 - bandwidth_levels;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const ScoreInput& c = candidates[i];
    const double share = fastest > 0 ? c.gbps / fastest : 0;
    const double packed = most_left > 0 ? 1.0 - static_cast<double>(c.left_over) / most_left : 1.0;
    const double level = std::floor(bandwidth_levels * share + packing_levels * packed + 1e-9);
    scores.levels[i] = static_cast<int>(std::clamp(level, 0.0, 9.0));
    if (better_node(c, candidates[scores.best])) scores.best = i;
  }
  return scores;
}

}  // namespace chipweave::solver

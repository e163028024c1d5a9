// PackingLp — the linear programme  max c·Σx  subject to  A x <= b, x >= 0,  whose columns arrive
// one by one.
//
// Revised simplex with a dense basis inverse, built for column generation with at most a few
// hundred rows. Every column that is added must improve the objective (its price at prices() is
// below c); add() pivots until no known column does.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "common/solver/bandwidth/steps.hpp"

namespace chipweave::solver {

class PackingLp {
 public:
  using Column = std::vector<std::pair<std::size_t, double>>;  // (row, amount used by one unit)

  // capacity: b > 0, ideally scaled to about 1. gain: c, the same for every column.
  PackingLp(std::vector<double> capacity, double gain);

  // Pivots until no known column improves the objective, or `limit` steps have been taken in total.
  // O(rows²) per pivot at most; far less while the basis is sparse.
  void add(Column column, Steps limit);
  Steps steps() const { return steps_; }
  // Objective of the current basis: what the known columns carry.
  double value() const;
  // Dual prices of the rows, >= 0; a column improves the objective if Σ amount·price < gain.
  const std::vector<double>& prices() const { return prices_; }

 private:
  static constexpr std::size_t kSlack = static_cast<std::size_t>(-1);
  double& inverse(std::size_t r, std::size_t c) { return inverse_[r * rows_ + c]; }
  double inverse(std::size_t r, std::size_t c) const { return inverse_[r * rows_ + c]; }
  void enter(std::size_t column);     // a known column
  void enter_slack(std::size_t row);  // the slack of a row whose price turned negative
  void pivot(const std::vector<double>& direction, std::size_t entering, double gain);
  void reprice();

  std::size_t rows_;
  double gain_;
  std::vector<Column> columns_;
  std::vector<std::size_t> basis_;  // column of each basic position; slack of row r: kSlack - r
  std::vector<double> basic_gain_;
  std::vector<double> basic_value_;
  std::vector<double> inverse_;
  std::vector<double> prices_;
  std::vector<double> true_capacity_;
  std::vector<std::size_t> filled_;  // scratch: columns of the pivot row that are not zero
  Steps steps_ = 0;
};

}  // namespace chipweave::solver

#include "common/solver/bandwidth/rings/packing_lp.hpp"

#include <algorithm>
#include <limits>

namespace chipweave::solver {
namespace {

constexpr double kPivotTolerance = 1e-10;
// Right-hand sides are spread by this much so that no two ratios tie: degenerate pivots cannot
// cycle.
constexpr double kSpread = 1e-11;

}  // namespace

PackingLp::PackingLp(std::vector<double> capacity, double gain)
    : rows_(capacity.size()), gain_(gain), true_capacity_(std::move(capacity)) {
  inverse_.assign(rows_ * rows_, 0.0);
  basic_gain_.assign(rows_, 0.0);
  prices_.assign(rows_, 0.0);
  for (std::size_t r = 0; r < rows_; ++r) {
    inverse(r, r) = 1.0;
    basis_.push_back(kSlack - r);
    basic_value_.push_back(true_capacity_[r] +
                           kSpread * static_cast<double>(r + 1) / static_cast<double>(rows_));
  }
}

double PackingLp::value() const {
  // With the true capacities: the prices are those of the spread programme, the basis is optimal
  // for both.
  double out = 0;
  for (std::size_t r = 0; r < rows_; ++r) out += prices_[r] * true_capacity_[r];
  return out;
}

void PackingLp::reprice() {
  std::fill(prices_.begin(), prices_.end(), 0.0);
  for (std::size_t r = 0; r < rows_; ++r) {
    if (basic_gain_[r] == 0.0) continue;
    for (std::size_t c = 0; c < rows_; ++c) prices_[c] += basic_gain_[r] * inverse(r, c);
    steps_ += rows_;
  }
}

void PackingLp::pivot(const std::vector<double>& direction, std::size_t entering, double gain) {
  std::size_t leave = rows_;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < rows_; ++r) {
    if (direction[r] <= kPivotTolerance) continue;
    const double ratio = basic_value_[r] / direction[r];
    if (ratio < least) {
      least = ratio;
      leave = r;
    }
  }
  if (leave == rows_) return;  // cannot happen: every column uses some row
  const double by = direction[leave];
  double reduced_cost = gain;
  for (std::size_t r = 0; r < rows_; ++r) reduced_cost -= basic_gain_[r] * direction[r];
  double* const pivot_row = &inverse(leave, 0);
  filled_.clear();  // most of a young inverse is zero
  for (std::size_t c = 0; c < rows_; ++c) {
    if (pivot_row[c] == 0.0) continue;
    pivot_row[c] /= by;
    filled_.push_back(c);
  }
  basic_value_[leave] /= by;
  for (std::size_t r = 0; r < rows_; ++r) {
    if (r == leave || direction[r] == 0.0) continue;
    double* const row = &inverse(r, 0);
    const double times = direction[r];
    for (const std::size_t c : filled_) row[c] -= times * pivot_row[c];
    basic_value_[r] = std::max(0.0, basic_value_[r] - times * basic_value_[leave]);
    steps_ += filled_.size();
  }
  steps_ += rows_ * 4;
  basis_[leave] = entering;
  basic_gain_[leave] = gain;
  for (const std::size_t c : filled_) prices_[c] += reduced_cost * pivot_row[c];
}

void PackingLp::enter(std::size_t column) {
  std::vector<double> direction(rows_, 0.0);
  for (std::size_t r = 0; r < rows_; ++r) {
    for (const auto& [row, amount] : columns_[column]) direction[r] += inverse(r, row) * amount;
  }
  steps_ += rows_ * columns_[column].size();
  pivot(direction, column, gain_);
}

void PackingLp::enter_slack(std::size_t row) {
  std::vector<double> direction(rows_, 0.0);
  for (std::size_t r = 0; r < rows_; ++r) direction[r] = inverse(r, row);
  pivot(direction, kSlack - row, 0.0);
}

void PackingLp::add(Column column, Steps limit) {
  columns_.push_back(std::move(column));
  enter(columns_.size() - 1);
  while (steps_ <= limit) {
    steps_ += rows_ + columns_.size() * columns_.back().size();
    // Most negative reduced cost over slacks and the columns known so far.
    double most = kPivotTolerance;
    std::size_t best = columns_.size();
    std::size_t best_slack = rows_;
    for (std::size_t r = 0; r < rows_; ++r) {
      if (-prices_[r] > most) {
        most = -prices_[r];
        best_slack = r;
      }
    }
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      double price = 0;
      for (const auto& [row, amount] : columns_[k]) price += prices_[row] * amount;
      if (gain_ - price > most) {
        most = gain_ - price;
        best = k;
        best_slack = rows_;
      }
    }
    if (best_slack < rows_) {
      enter_slack(best_slack);
    } else if (best < columns_.size()) {
      enter(best);
    } else {
      break;
    }
  }
  reprice();  // the updates of the pivots, without their rounding
}

}  // namespace chipweave::solver

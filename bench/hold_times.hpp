// HoldTimes — times in a histogram of fixed size, so that a benchmark that measures the memory of
// its own process adds next to none. Quantiles are exact to 1 %, the longest time is exact.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace chipweave::bench {

class HoldTimes {
 public:
  void add(double ms) {
    const double step = std::log(std::max(ms, kShortest) / kShortest) / std::log(kGrowth);
    ++counts_[std::min(static_cast<std::size_t>(step), counts_.size() - 1)];
    ++count_;
    longest_ = std::max(longest_, ms);
  }
  void add(const HoldTimes& others) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += others.counts_[i];
    count_ += others.count_;
    longest_ = std::max(longest_, others.longest_);
  }
  std::size_t count() const { return count_; }
  double longest() const { return longest_; }
  // ms; share: 0 to 1.
  double quantile(double share) const {
    const auto wanted = static_cast<std::size_t>(share * static_cast<double>(count_));
    std::size_t before = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      before += counts_[i];
      if (before > wanted)
        return std::min(longest_, kShortest * std::pow(kGrowth, static_cast<double>(i) + 1));
    }
    return longest_;
  }

 private:
  static constexpr double kShortest = 1e-4;  // ms
  static constexpr double kGrowth = 1.01;
  std::array<std::uint64_t, 2048> counts_{};  // up to 70 s
  std::size_t count_ = 0;
  double longest_ = 0;
};

}  // namespace chipweave::bench

// Gang arrivals — jobs for a simulated cluster where no trace has them, or none with times: drawn
// sizes, durations and gaps.
//
// Sizes, durations and gaps are drawn one after the other, so that one seed gives the same jobs at
// every load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/domain/trace.hpp"
#include "common/solver/simulate/random_numbers.hpp"

namespace chipweave::simulate {

// All chips of a gang:
enum class GangSizes {
  powers_of_two,  // a power of two, all equally likely
  log_uniform     // any number, whose logarithm is uniform
};

struct GangMix {
  GangSizes sizes = GangSizes::powers_of_two;
  // Chips, 1 <= smallest <= largest; for powers of two there is one between them.
  std::int64_t smallest = 1;
  std::int64_t largest = 1;
  // A gang of at most this many chips is one pod. A larger one has pods of this many; its size is
  // rounded up to whole pods.
  int pod_chips = 1;
};

// Gangs of these sizes, without times and levels.
std::vector<domain::TraceGang> drawn_gangs(const GangMix& mix, std::size_t count,
                                           RandomNumbers& random);
// Gangs of the trace, drawn with repetition; none if it is empty.
std::vector<domain::TraceGang> drawn_gangs(const std::vector<domain::TraceGang>& trace,
                                           std::size_t count, RandomNumbers& random);

// Exponential durations.
void draw_durations(std::vector<domain::TraceGang>& gangs, double mean_s, RandomNumbers& random);
// Exponential gaps; the first gang comes at 0.
void draw_arrivals(std::vector<domain::TraceGang>& gangs, double mean_gap_s, RandomNumbers& random);
// The mean gap at which these gangs ask for that share of the chips all the time.
double gap_of_load(const std::vector<domain::TraceGang>& gangs, double load, std::int64_t chips);

}  // namespace chipweave::simulate

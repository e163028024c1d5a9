#include "common/solver/simulate/gangs/gang_arrivals.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

namespace chipweave::simulate {
namespace {

using domain::TraceGang;

std::int64_t drawn_size(const GangMix& mix, RandomNumbers& random) {
  if (mix.sizes == GangSizes::powers_of_two) {
    const auto least = std::bit_ceil(static_cast<std::uint64_t>(mix.smallest));
    const auto most = std::bit_floor(static_cast<std::uint64_t>(mix.largest));
    const auto doublings = static_cast<std::size_t>(std::countr_zero(most / least));
    return static_cast<std::int64_t>(least << random.below(doublings + 1));
  }
  const auto smallest = static_cast<double>(mix.smallest);
  const double factor = static_cast<double>(mix.largest + 1) / smallest;
  const auto size = static_cast<std::int64_t>(smallest * std::pow(factor, random.share()));
  return std::clamp(size, mix.smallest, mix.largest);
}

}  // namespace

std::vector<TraceGang> drawn_gangs(const GangMix& mix, std::size_t count, RandomNumbers& random) {
  std::vector<TraceGang> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    TraceGang& gang = out[i];
    gang.name = "gang-" + std::to_string(i + 1);
    const std::int64_t chips = drawn_size(mix, random);
    gang.chips = static_cast<int>(std::min<std::int64_t>(chips, mix.pod_chips));
    gang.pods = static_cast<int>((chips + gang.chips - 1) / gang.chips);
  }
  return out;
}

std::vector<TraceGang> drawn_gangs(const std::vector<TraceGang>& trace, std::size_t count,
                                   RandomNumbers& random) {
  std::vector<TraceGang> out;
  if (trace.empty()) return out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) out.push_back(trace[random.below(trace.size())]);
  return out;
}

void draw_durations(std::vector<TraceGang>& gangs, double mean_s, RandomNumbers& random) {
  for (TraceGang& gang : gangs) gang.duration_s = random.exponential(mean_s);
}

void draw_arrivals(std::vector<TraceGang>& gangs, double mean_gap_s, RandomNumbers& random) {
  double now = 0;
  for (TraceGang& gang : gangs) {
    gang.arrival_s = now;
    now += random.exponential(mean_gap_s);
  }
}

double gap_of_load(const std::vector<TraceGang>& gangs, double load, std::int64_t chips) {
  if (gangs.empty() || chips == 0) return 0;
  double chip_seconds = 0;
  for (const TraceGang& gang : gangs)
    chip_seconds += static_cast<double>(gang.all_chips()) * gang.duration_s;
  return chip_seconds / (load * static_cast<double>(chips) * static_cast<double>(gangs.size()));
}

}  // namespace chipweave::simulate

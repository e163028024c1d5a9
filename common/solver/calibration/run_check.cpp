#include "common/solver/calibration/run_check.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/domain/link_rates.hpp"
#include "common/solver/calibration/refused.hpp"
#include "common/solver/calibration/used_chips.hpp"

namespace chipweave::solver {
namespace {

using domain::CollectiveRow;
using domain::CollectiveRun;
using domain::CollectiveTiming;
using domain::NodeTopology;

// "232.04", for messages.
std::string two_decimals(double value) {
  const auto hundredths = static_cast<long long>(std::llround(value * 100));
  const std::string digits = std::to_string(std::llabs(hundredths) % 100);
  return std::to_string(hundredths / 100) + "." + (digits.size() < 2 ? "0" : "") + digits;
}

std::string percent(double share) { return two_decimals(share * 100) + " %"; }

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20U) + " MiB"; }

bool ring_collective(const std::string& name) {
  return name == "all_reduce" || name == "all_gather" || name == "reduce_scatter";
}

// Bus bandwidth per algorithm bandwidth, as nccl-tests defines it.
double bus_factor(const std::string& collective, int ranks) {
  const double once = static_cast<double>(ranks - 1) / ranks;
  return collective == "all_reduce" ? 2 * once : once;
}

Result<void> check_table(const CollectiveRun& run) {
  if (run.rows.empty()) return refused("the table is cut: it has no rows");
  if (!run.complete) {
    return refused(
        "the table is cut: the line \"# Avg bus bandwidth\" after its last row is missing");
  }
  if (!run.incomplete.empty()) return refused("the table is cut: " + run.incomplete);
  if (run.out_of_bounds.value_or(0) > 0) {
    return refused(std::to_string(*run.out_of_bounds) +
                   " values are out of bounds: the collective gave wrong results");
  }
  for (const CollectiveRow& row : run.rows) {
    if (row.wrong.value_or(0) == 0) continue;
    return refused("results are wrong (#wrong or check_result): the collective failed here")
        .in("line " + std::to_string(row.line));
  }
  return {};
}

Result<void> check_ranks(const CollectiveRun& run, const NodeTopology& topology) {
  std::set<int> ranks;
  std::set<std::string> hosts;
  for (const domain::CollectiveRank& rank : run.devices) {
    if (!ranks.insert(rank.rank).second) {
      return refused(concat("rank ", rank.rank,
                            " appears twice: the processes did not join one communicator (build "
                            "the benchmark with MPI=1, and give each run a log of its own)"));
    }
    hosts.insert(rank.host);
    if (same_model(rank.name, topology.model())) continue;
    return refused(concat("device ", rank.device, " is ", in_quotes(rank.name),
                          ", the machine has ", in_quotes(topology.model()),
                          "; name the machine that the run was on with --machine"));
  }
  const bool nodes = run.ranks_per_node > 0 && run.ranks > run.ranks_per_node;
  if (hosts.size() > 1 || nodes) {
    return refused(concat("the run crosses nodes",
                          hosts.size() > 1
                              ? concat(" (", *hosts.begin(), ", ", *std::next(hosts.begin()),
                                       hosts.size() > 2 ? ", …)" : ")")
                              : std::string(),
                          ": its bandwidth is that of the network; measure on one node"));
  }
  return {};
}

// The log's own name, what the user states, or what only one collective can print.
Result<std::string> collective_of(const CollectiveRun& run, int ranks, const RunFacts& facts) {
  if (!run.collective.empty() && !facts.collective.empty() && run.collective != facts.collective) {
    return refused("the log is of " + run.collective + ", --collective says " + facts.collective);
  }
  std::string name = run.collective.empty() ? facts.collective : run.collective;
  if (name.empty()) {
    const CollectiveTiming& last = run.rows.back().out_of_place;
    const bool known = last.busbw && last.algbw > 0 && run.reduces && !run.rooted;
    const double ratio = known ? *last.busbw / last.algbw : 0;
    const double once = static_cast<double>(ranks - 1) / ranks;
    if (known && std::abs(ratio - 2 * once) < 2 * once * kMaxMismatch) name = "all_reduce";
    if (known && std::abs(ratio - once) < once * kMaxMismatch) name = "reduce_scatter";
  }
  if (name.empty()) {
    return refused(
        "the log does not name its collective: add --collective all_reduce, all_gather or "
        "reduce_scatter");
  }
  if (ring_collective(name)) return name;
  return refused(in_quotes(name) +
                 " is not predicted by the model of rings: use all_reduce, all_gather or "
                 "reduce_scatter");
}

// NVSwitch since Hopper adds up within the switch (NVLS), which exceeds any ring.
bool can_reduce_in_switch(const NodeTopology& topology) {
  return domain::in_switch_reduction(topology.model()) > 0 &&
         std::any_of(topology.switches().begin(), topology.switches().end(),
                     [](const domain::Switch& s) { return s.kind == domain::LinkKind::nvswitch; });
}

Result<void> check_algorithm(const CollectiveRun& run, const std::string& collective, int ranks,
                             const NodeTopology& topology, const RunFacts& facts) {
  // "^nvls,nvlstree": all but these
  const bool exclusion = !run.algorithms.empty() && run.algorithms[0].starts_with('^');
  bool in_switch_off = run.in_switch_off;
  for (const std::string& algorithm : run.algorithms) {
    if (exclusion) {
      in_switch_off = in_switch_off || algorithm == "^nvls" || algorithm == "nvls";
    } else if (algorithm != "ring") {
      return refused("the log states the algorithm " + in_quotes(upper_case(algorithm)) +
                     ", which is not a ring: run again with NCCL_ALGO=Ring");
    }
  }
  const bool ring = facts.ring || (!exclusion && !run.algorithms.empty());
  if (ring || in_switch_off || collective != "all_reduce" || ranks <= 2) return {};
  if (!can_reduce_in_switch(topology)) return {};
  return refused(
      "the library may have reduced in the switch (NVLS), which is not a ring: run again with "
      "NCCL_ALGO=Ring and NCCL_DEBUG=INFO, or add --ring if the run was restricted to rings");
}

Result<void> check_timing(const CollectiveTiming& timing, std::uint64_t bytes, double factor,
                          const std::string& collective, int ranks) {
  const double algbw = timing.time_us > 0 ? static_cast<double>(bytes) / timing.time_us / 1000 : 0;
  if (bytes >= kLargeMessage && std::abs(algbw - timing.algbw) > algbw * kMaxMismatch + 0.005) {
    return refused(concat("algbw ", two_decimals(timing.algbw), " does not follow from ", bytes,
                          " bytes in ", two_decimals(timing.time_us), " us, which is ",
                          two_decimals(algbw), " GB/s"));
  }
  if (!timing.busbw) return {};
  // both are printed with two decimals
  const double wanted = timing.algbw * factor;
  if (std::abs(*timing.busbw - wanted) <= wanted * kMaxMismatch + 0.005 * (1 + factor)) return {};
  return refused(concat("busbw ", two_decimals(*timing.busbw), " is not algbw ",
                        two_decimals(timing.algbw), " times ", two_decimals(factor),
                        ", the factor of ", collective, " over ", ranks, " ranks"));
}

Result<void> check_average(const CollectiveRun& run) {
  if (!run.average_busbw) return {};
  double sum = 0;
  double count = 0;
  for (const CollectiveRow& row : run.rows) {
    for (const CollectiveTiming* timing :
         {&row.out_of_place, row.in_place ? &*row.in_place : nullptr}) {
      if (timing == nullptr || !timing->busbw) continue;
      sum += *timing->busbw;
      ++count;
    }
  }
  const double average = count > 0 ? sum / count : 0;
  if (std::abs(average - *run.average_busbw) <= average * kMaxMismatch + 0.01) return {};
  return refused("rows are missing: they average " + two_decimals(average) +
                 " GB/s, the log says " + two_decimals(*run.average_busbw));
}

double bus_of(const CollectiveTiming& timing, double factor) {
  return timing.busbw ? *timing.busbw : timing.algbw * factor;
}

struct LargeRow {
  std::uint64_t bytes = 0;
  double busbw = 0;  // mean of both columns
};

Result<std::vector<LargeRow>> large_rows(const CollectiveRun& run, double factor) {
  std::vector<LargeRow> rows;
  std::set<std::uint64_t> sizes;
  for (const CollectiveRow& row : run.rows) {
    if (row.bytes < kLargeMessage) continue;
    const double out = bus_of(row.out_of_place, factor);
    const double in = row.in_place ? bus_of(*row.in_place, factor) : out;
    const double spread = std::abs(out - in) / std::max({out, in, 1e-9});
    if (spread > kMaxSpread) {
      return refused(concat("out-of-place ", two_decimals(out), " and in-place ", two_decimals(in),
                            " GB/s differ by ", percent(spread), ", more than ",
                            percent(kMaxSpread), ": the machine was not quiet"))
          .in("line " + std::to_string(row.line));
    }
    sizes.insert(row.bytes);
    rows.push_back({row.bytes, (out + in) / 2});
  }
  if (sizes.size() < kMinLargeSizes) {
    return refused(concat("too few large sizes: ", sizes.size(), " of ", mebibytes(kLargeMessage),
                          " or more, at least ", kMinLargeSizes,
                          " are needed (-b 128M -e 8G -f 2)"));
  }
  std::sort(rows.begin(), rows.end(),
            [](const LargeRow& a, const LargeRow& b) { return a.bytes < b.bytes; });
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].bytes != rows[i - 1].bytes) continue;
    const double spread =
        std::abs(rows[i].busbw - rows[i - 1].busbw) / std::max(rows[i].busbw, rows[i - 1].busbw);
    if (!(spread > kMaxSpread)) continue;
    return refused(concat("rows of ", rows[i].bytes, " bytes differ by ", percent(spread),
                          ", more than ", percent(kMaxSpread), ": the machine was not quiet"));
  }
  return rows;
}

// The rows in which size no longer matters: their median, and their sizes.
Result<void> take_level(const std::vector<LargeRow>& rows, MeasuredRun& out) {
  double best = 0;
  for (const LargeRow& row : rows) best = std::max(best, row.busbw);
  if (!(best > 0)) return refused("no row has a bandwidth above 0");
  std::vector<double> level;
  std::set<std::uint64_t> sizes;
  for (const LargeRow& row : rows) {
    if (row.busbw < kLevel * best) continue;
    level.push_back(row.busbw);
    sizes.insert(row.bytes);
  }
  if (rows.back().busbw < kLevel * best) {
    return refused(concat("the bandwidth falls from ", two_decimals(best), " to ",
                          two_decimals(rows.back().busbw), " GB/s at the largest size, ",
                          mebibytes(rows.back().bytes), ": the machine was not quiet"));
  }
  if (sizes.size() < 2) {
    return refused(concat("the bandwidth still rises at the largest size, ",
                          mebibytes(rows.back().bytes), ": go on to larger ones (-e 8G)"));
  }
  std::sort(level.begin(), level.end());
  const std::size_t half = level.size() / 2;
  out.busbw = level.size() % 2 == 1 ? level[half] : (level[half - 1] + level[half]) / 2;
  out.sizes.assign(sizes.begin(), sizes.end());
  return {};
}

int ranks_of(const CollectiveRun& run, const RunFacts& facts) {
  if (run.ranks > 0) return run.ranks;
  return static_cast<int>(run.chips.empty() ? facts.chips.size() : run.chips.size());
}

Result<MeasuredRun> judged(const CollectiveRun& run, const NodeTopology& topology,
                           const RunFacts& facts) {
  MeasuredRun out;
  if (Result<void> ok = check_table(run); !ok) return std::move(ok).error();
  if (Result<void> ok = check_ranks(run, topology); !ok) return std::move(ok).error();
  const int ranks = ranks_of(run, facts);
  if (ranks == 0)
    return refused("the log does not say how many chips took part: name them with --chips");
  if (ranks < 2) return refused("one rank exchanges no data: measure two or more");
  if (ranks > topology.chip_count()) {
    return refused(concat(ranks, " ranks, the machine has ", topology.chip_count(), " chips"));
  }
  Result<std::string> collective = collective_of(run, ranks, facts);
  if (!collective) return std::move(collective).error();
  out.collective = *std::move(collective);
  if (Result<void> ok = check_algorithm(run, out.collective, ranks, topology, facts); !ok)
    return std::move(ok).error();
  const double factor = bus_factor(out.collective, ranks);
  for (const CollectiveRow& row : run.rows) {
    for (const CollectiveTiming* timing :
         {&row.out_of_place, row.in_place ? &*row.in_place : nullptr}) {
      if (timing == nullptr) continue;
      Result<void> ok = check_timing(*timing, row.bytes, factor, out.collective, ranks);
      if (!ok) return std::move(ok).error().in("line " + std::to_string(row.line));
    }
    out.checked = out.checked && row.wrong.has_value();
  }
  if (Result<void> ok = check_average(run); !ok) return std::move(ok).error();
  const Result<std::vector<LargeRow>> rows = large_rows(run, factor);
  if (!rows) return Error(rows.error());
  if (Result<void> ok = take_level(*rows, out); !ok) return std::move(ok).error();
  const Result<UsedChips> used = used_chips(run, ranks, topology, facts.chips);
  if (!used) return Error(used.error());
  out.chips = used->chips;
  out.chips_from = used->from;
  return out;
}

}  // namespace

Result<MeasuredRun> measured_run(const CollectiveRun& run, const NodeTopology& topology,
                                 const RunFacts& facts) {
  Result<MeasuredRun> out = judged(run, topology, facts);
  if (!out && out.error().context.empty())
    return std::move(out).error().in("run at line " + std::to_string(run.line));
  return out;
}

Result<void> check_one_rank_count(const std::vector<CollectiveRun>& runs) {
  for (const CollectiveRun& run : runs) {
    if (run.ranks == runs.front().ranks) continue;
    return refused(concat("the log mixes runs of ", runs.front().ranks, " ranks (line ",
                          runs.front().line, ") and of ", run.ranks, " (line ", run.line,
                          "); give each number of ranks a log of its own"));
  }
  return {};
}

Result<void> check_repeated(const std::vector<MeasuredRun>& runs, const NodeTopology& topology) {
  std::map<std::pair<std::string, std::uint64_t>, std::pair<double, double>> range;
  for (const MeasuredRun& run : runs) {
    const auto [found, fresh] =
        range.try_emplace({run.collective, run.chips.bits()}, run.busbw, run.busbw);
    auto& [least, most] = found->second;
    least = std::min(least, run.busbw);
    most = std::max(most, run.busbw);
    const double spread = (most - least) / most;
    if (!(spread > kMaxSpread)) continue;
    return refused(concat("runs of ", run.collective, " over chips ",
                          comma_list(topology.indices(run.chips)), " gave ", two_decimals(least),
                          " and ", two_decimals(most), " GB/s, which differ by ", percent(spread),
                          ", more than ", percent(kMaxSpread), ": the machine was not quiet"));
  }
  return {};
}

bool same_model(std::string_view device, std::string_view model) {
  const std::string a = upper_case(device);
  const std::string b = upper_case(model);
  if (a == b) return true;
  const std::string_view word = domain::known_model_word(a);
  if (word != domain::known_model_word(b)) return false;
  if (word.empty()) return !b.empty() && (a.find(b) != std::string::npos);
  const auto form = [](const std::string& name) {
    return name.find("PCIE") != std::string::npos  ? 'p'
           : name.find("SXM") != std::string::npos ? 's'
                                                   : '?';
  };
  return form(a) == '?' || form(b) == '?' || form(a) == form(b);
}

}  // namespace chipweave::solver

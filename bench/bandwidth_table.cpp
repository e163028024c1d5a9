// Predicted against measured: the tables of docs/develop/bandwidth-measurements.md, as Markdown.
//
//   bandwidth_table DATA-FOLDER > tables.md      (DATA-FOLDER holds measured/measured.json and
//   rank_pairs.json)
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "common/base/limits.hpp"
#include "common/io/files.hpp"
#include "tests/measured/points.hpp"

namespace {

using chipweave::measured::Pair;
using chipweave::measured::Point;

double miss_percent(const Point& p) { return (p.measured / *p.predicted - 1) * 100; }

void print_points(const std::string& json) {
  fmt::print(
      "| point | machine | chips | what | algorithm | limit | predicted GB/s | measured GB/s | "
      "miss |\n|---|---|---|---|---|---|---:|---:|---:|\n");
  const auto points = chipweave::measured::read_points(json);
  int within20 = 0;
  int compared = 0;
  int sound = 0;
  int sound_within20 = 0;
  for (const Point& p : points) {
    if (!p.predicted) {
      fmt::print("| {} | {} | {} | {} | | | {} | {:.1f} | |\n", p.id, p.machine, p.chips, p.what,
                 p.missing, p.measured);
      continue;
    }
    const bool within = std::abs(miss_percent(p)) <= 20;
    ++compared;
    within20 += within ? 1 : 0;
    sound += p.broken ? 0 : 1;
    sound_within20 += within && !p.broken ? 1 : 0;
    fmt::print("| {} | {} | {} | {} | {} | {} | {:.1f} | {:.1f} | {:+.0f} %{} |\n", p.id, p.machine,
               p.chips, p.what, p.algorithm, p.nodes > 1 ? p.limit : "", *p.predicted, p.measured,
               miss_percent(p), p.broken ? " (broken run)" : "");
  }
  fmt::print(
      "\n{} of {} points have a prediction; {} of them are within 20 %. Of the {} that their own "
      "source does not call broken, {} are: {:.0f} %.\n",
      compared, points.size(), within20, sound, sound_within20, 100.0 * sound_within20 / sound);
  fmt::print(
      "\n| point | nodes | chips of a node GB/s | rails GB/s | predicted GB/s | limit | measured "
      "GB/s | miss |\n|---|---:|---:|---:|---:|---|---:|---:|\n");
  for (const Point& p : points) {
    if (p.nodes < 2 || p.missing == "no topology") continue;
    const auto gbps = [](const std::optional<double>& value) {
      return value ? fmt::format("{:.1f}", *value) : std::string("not known");
    };
    const std::string rails = p.gang.chip_fabric ? "in one NVLink domain" : gbps(p.gang.rails);
    fmt::print("| {} | {} | {} | {} | {} | {} | {:.1f} | {} |\n", p.id, p.nodes, gbps(p.gang.chips),
               rails, gbps(p.predicted), p.predicted ? p.algorithm + ": " + p.limit : "",
               p.measured, p.predicted ? fmt::format("{:+.0f} %", miss_percent(p)) : "");
  }
}

void print_pairs(const std::string& json) {
  fmt::print(
      "\n| machine | faster | slower | measured ratio | predicted | order "
      "|\n|---|---|---|---:|---:|---|\n");
  int right = 0;
  int decidable = 0;
  for (const Pair& p : chipweave::measured::read_pairs(json)) {
    const bool ordered = p.faster_gbps > p.slower_gbps;
    decidable += p.different_size ? 0 : 1;
    right += !p.different_size && ordered ? 1 : 0;
    fmt::print("| {} | {} | {} | {:.2f} | {:.1f} : {:.1f} | {} |\n", p.machine, p.faster, p.slower,
               p.ratio, p.faster_gbps, p.slower_gbps,
               p.different_size ? "NVLS, other size: not a question to a ring model"
                                : (ordered ? "right" : "WRONG"));
  }
  fmt::print("\n{} of {} pairs that the topology decides are ordered right.\n", right, decidable);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: bandwidth_table DATA-FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  for (const auto& [file, print] : {std::pair{"/measured/measured.json", &print_points},
                                    std::pair{"/measured/rank_pairs.json", &print_pairs}}) {
    const auto text =
        chipweave::io::read_file(folder + file, chipweave::limits::kMaxTopologyFileBytes);
    if (!text) {
      fmt::print(stderr, "{}\n", text.error().text());
      return 3;
    }
    print(*text);
  }
  return 0;
}

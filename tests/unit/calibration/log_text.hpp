// Logs of benchmarks for tests: written by rule, so that each test changes one thing in them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"

namespace chipweave::test {

inline domain::NodeTopology machine(const char* profile) {
  return codec::import_topology_json(profiles::find(profile)->json, {}).value().topology;
}

inline std::string formatted(const char* format, auto... values) {
  char text[512];
  std::snprintf(text, sizeof(text), format, values...);
  return text;
}

struct NcclLog {
  int ranks = 8;
  double busbw = 232;   // GB/s, once size no longer matters
  double in_place = 1;  // of the out-of-place bandwidth
  double factor = 0;    // busbw per algbw; 0: that of all_reduce
  std::uint64_t least = 128ULL << 20U;
  int sizes = 7;
  std::string device = "NVIDIA A100-SXM4-40GB";
  std::string other_host;  // of the last rank
  std::string redop = "sum";
  std::string root = "-1";
  std::string before;   // lines before the run
  std::string inside;   // lines between the devices and the table
  std::string program;  // of a line "# Collective test starting"
  bool reaches = true;  // false: the bandwidth still rises at the largest size
  bool ends = true;
  int wrong = 0;
  int out_of_bounds = 0;

  double bus_at(int row) const {
    if (!reaches) return busbw * (0.5 + 0.5 * (row + 1) / sizes);
    return row < 2 ? busbw * (0.8 + 0.07 * row) : busbw;
  }

  std::string text() const {
    std::string out = before;
    if (!program.empty()) out += "# Collective test starting: " + program + "\n";
    out += formatted(
        "# nThread 1 nGpus %d minBytes %llu maxBytes %llu step: 2(factor) warmup iters: 5 iters: "
        "20 agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n",
        ranks, static_cast<unsigned long long>(least),
        static_cast<unsigned long long>(least << static_cast<unsigned>(std::max(sizes, 1) - 1)));
    for (int i = 0; i < ranks; ++i) {
      const std::string host = i + 1 == ranks && !other_host.empty() ? other_host : "node-a";
      out += formatted("#  Rank %2d Group  0 Pid  41187 on %10s device %2d [0000:%02x:00] %s\n", i,
                       host.c_str(), i, 16 * (i + 1), device.c_str());
    }
    out += inside;
    out +=
        "#\n#                                             out-of-place             in-place\n"
        "#       size         count      type   redop    root     time   algbw   busbw #wrong  "
        "   time   algbw   busbw #wrong\n"
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)         "
        "   (us)  (GB/s)  (GB/s)\n";
    return out + table();
  }

  std::string table() const {
    const double per_algbw = factor > 0 ? factor : 2.0 * (ranks - 1) / ranks;
    std::string out;
    double sum = 0;
    for (int row = 0; row < sizes; ++row) {
      const std::uint64_t bytes = least << static_cast<unsigned>(row);
      out += formatted("%12llu %13llu     float  %6s  %6s", static_cast<unsigned long long>(bytes),
                       static_cast<unsigned long long>(bytes / 4), redop.c_str(), root.c_str());
      for (const double part : {1.0, in_place}) {
        const double bus = bus_at(row) * part;
        const double alg = bus / per_algbw;
        sum += bus;
        out += formatted(" %10.2f %7.2f %7.2f %6d", static_cast<double>(bytes) / alg / 1000, alg,
                         bus, row == sizes - 1 && part == 1.0 ? wrong : 0);
      }
      out += "\n";
    }
    if (!ends) return out;
    return out + formatted("# Out of bounds values : %d %s\n# Avg bus bandwidth    : %g \n#\n",
                           out_of_bounds, out_of_bounds == 0 ? "OK" : "FAILED",
                           sizes == 0 ? 0.0 : sum / (2.0 * sizes));
  }
};

// hccl_test's table of all_reduce over eight chips.
struct HcclLog {
  double busbw = 150;
  int ranks = 8;
  std::string before;
  std::string check = "success";
  std::uint64_t least = 128ULL << 20U;
  int sizes = 5;

  std::string text() const {
    std::string out = before;
    out += formatted("the minbytes is %llu, maxbytes is %llu, iters is 20, warmup_iters is 10\n",
                     static_cast<unsigned long long>(least),
                     static_cast<unsigned long long>(least << static_cast<unsigned>(sizes - 1)));
    out += "data_size(Bytes): | aveg_time(us): | alg_bandwidth(GB/s): | check_result:\n";
    for (int row = 0; row < sizes; ++row) {
      const std::uint64_t bytes = least << static_cast<unsigned>(row);
      const double alg = busbw * (row == 0 ? 0.9 : 1.0) * ranks / (2.0 * (ranks - 1));
      out += formatted("%-18llu| %-15.2f| %-21.5f| %s\n", static_cast<unsigned long long>(bytes),
                       static_cast<double>(bytes) / alg / 1000, alg, check.c_str());
    }
    return out;
  }
};

}  // namespace chipweave::test

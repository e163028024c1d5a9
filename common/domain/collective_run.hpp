// CollectiveRun — one run of a benchmark of collective operations (nccl-tests, rccl-tests,
// hccl_test), as its log states it. Nothing in it is judged: solver/calibration/run_check.hpp does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace chipweave::domain {

struct CollectiveTiming {
  double time_us = 0;
  double algbw = 0;             // GB/s: size / time
  std::optional<double> busbw;  // GB/s; hccl_test prints none
};

struct CollectiveRow {
  std::size_t line = 0;  // in the log
  std::uint64_t bytes = 0;
  CollectiveTiming out_of_place;
  std::optional<CollectiveTiming> in_place;
  std::optional<std::uint64_t> wrong;  // values that differ from the expected; absent: not checked
};

struct CollectiveRank {
  int rank = 0;
  std::string host;
  int device = 0;    // number of the device as the process saw it
  std::string pci;   // "0000:07:00", lower case; "07" where the log has the bus alone
  std::string name;  // "NVIDIA A100-SXM4-40GB"
};

struct CollectiveRun {
  std::size_t line = 1;    // where it starts in the log
  std::string collective;  // "all_reduce"; "" if the log does not name it
  int ranks = 0;           // 0: not stated
  int ranks_per_node = 0;  // 0: not stated
  std::vector<CollectiveRank> devices;
  std::vector<int> chips;  // numbers of the devices in use, where the log has them alone
  std::vector<CollectiveRow> rows;
  bool reduces = false;    // a reduction operator is named
  bool rooted = false;     // a root is named
  bool complete = false;   // the end of the table was seen
  std::string incomplete;  // why it is known to be cut; "" otherwise
  std::optional<std::uint64_t> out_of_bounds;
  std::optional<double> average_busbw;  // over all rows, both columns
  std::vector<std::string> algorithms;  // stated for large messages: "ring", "nvls"
  bool in_switch_off = false;           // NCCL_NVLS_ENABLE=0
  std::string tool;                     // version of the benchmark, "" if not stated
  std::string library;                  // version of the library, "" if not stated
  std::string date;                     // "2025-03-14", "" if not stated
};

}  // namespace chipweave::domain

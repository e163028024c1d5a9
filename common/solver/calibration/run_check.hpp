// Whether a run of a benchmark says what the bandwidth model predicts: a ring over one machine's
// chips, for large messages, measured without faults and without noise. If so, one point for the
// fit; if not, the reason.
//
// The model describes rings (docs/concepts/bandwidth-model.md). Runs that reduce in the switch
// (NVLS), cross nodes or use another algorithm measure something else and are refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/collective_run.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::solver {

// The limits that docs/tasks/calibrate-the-model.md states.
inline constexpr std::uint64_t kLargeMessage = 128ULL << 20U;  // bytes
inline constexpr std::size_t kMinLargeSizes = 3;
inline constexpr double kMaxSpread = 0.05;    // between columns, and between runs of one set
inline constexpr double kLevel = 0.95;        // of the best row: rows that have levelled off
inline constexpr double kMaxMismatch = 0.01;  // between columns that follow from each other

// What the user states because the log does not.
struct RunFacts {
  std::string collective;  // "all_reduce"; "": the log names it, or its columns do
  std::vector<int> chips;  // by vendor index; empty: the log says which, or it makes no difference
  bool ring = false;       // the run was restricted to rings
};

struct MeasuredRun {
  std::string collective;
  domain::ChipSet chips;
  std::string chips_from;            // "PCI addresses", "all chips of the machine", …
  double busbw = 0;                  // GB/s, of the rows that have levelled off
  std::vector<std::uint64_t> sizes;  // bytes of these rows, ascending
  bool checked = true;               // the benchmark compared its results
};

// Precondition: topology is the machine that the run was on. Errors: invalid_argument with the
// reason and the line.
Result<MeasuredRun> measured_run(const domain::CollectiveRun& run,
                                 const domain::NodeTopology& topology, const RunFacts& facts);

// Error: the runs of one log have different numbers of ranks.
Result<void> check_one_rank_count(const std::vector<domain::CollectiveRun>& runs);

// Error: two runs of one collective and one set of chips differ by more than kMaxSpread.
Result<void> check_repeated(const std::vector<MeasuredRun>& runs,
                            const domain::NodeTopology& topology);

// Whether a device of that name can be a chip of that model: both are the same model of the table
// of constants, and neither is PCIe while the other is SXM.
bool same_model(std::string_view device, std::string_view model);

}  // namespace chipweave::solver

// Calibration — from the logs of a benchmark to the overlay of a machine: reads, checks and fits.
// Without files and flags, so that tests can call it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/codec/calibration/overlay_file.hpp"
#include "common/domain/collective_run.hpp"
#include "common/domain/node_topology.hpp"
#include "common/solver/calibration/run_check.hpp"

namespace chipweave::cli {

enum class LogFormat { nccl_tests, rccl_tests, hccl_test };

struct LogText {
  std::string file;
  std::string content;
};

struct ParsedLog {
  std::string file;
  std::string sha256;
  std::vector<domain::CollectiveRun> runs;
};

// Errors name file and line.
Result<ParsedLog> parse_log(LogFormat format, const LogText& log);

// The overlay with its points. `machine` names the topology for people. Errors name the file and
// say why a log or the fit is refused; every refused log has a line of the message.
Result<codec::OverlayFile> calibrate(const std::vector<ParsedLog>& logs,
                                     const domain::NodeTopology& topology,
                                     const std::string& machine, const solver::RunFacts& facts);

}  // namespace chipweave::cli

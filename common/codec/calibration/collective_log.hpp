// Logs of benchmarks of collective operations: the standard output of nccl-tests, rccl-tests and
// hccl_test, with whatever else was written between its lines (NCCL_DEBUG=INFO, mpirun's tags).
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/collective_run.hpp"

namespace chipweave::codec {

inline constexpr std::size_t kMaxCollectiveLogBytes = 64U << 20U;
inline constexpr std::size_t kMaxRunsOfLog = 256;
inline constexpr std::size_t kMaxRowsOfRun = 4096;
inline constexpr std::size_t kMaxRanksOfRun = 4096;

// nccl-tests since 2.0 and rccl-tests: each run begins with "# nThread". Errors name the line:
// no table, a row with other columns than its header, a number that is none, a limit.
Result<std::vector<domain::CollectiveRun>> read_nccl_tests(std::string_view log);

// hccl_test of CANN: each table begins with "data_size(Bytes)". Collective, ranks and devices come
// from command lines in the log, where it has some. Errors as above.
Result<std::vector<domain::CollectiveRun>> read_hccl_test(std::string_view log);

}  // namespace chipweave::codec

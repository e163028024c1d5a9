// The file of a profile overlay: measured constants of a machine model with where they come from
// and how far they are off (docs/reference/file-formats.md#profile-overlay). `chipweave calibrate`
// writes it; the scheduler and the command line read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/rate_overlay.hpp"

namespace chipweave::codec {

inline constexpr std::size_t kMaxOverlayBytes = 1U << 20U;
inline constexpr std::size_t kMaxOverlays = 64;       // files of one folder
inline constexpr std::size_t kMaxOverlayModels = 32;  // names of one model
inline constexpr std::size_t kMaxOverlayPoints = 4096;

// One constant: GB/s of a lane, or of a host path.
struct OverlayRate {
  domain::LinkKind kind = domain::LinkKind::nvlink;
  double gbps = 0;
  double replaces = 0;  // the constant that the prediction used before
  std::size_t points = 0;
};

struct OverlayLog {
  std::string file;
  std::string sha256;  // of its content, 64 hexadecimal digits
  std::string date;    // of the run; "" if the log does not state it
  std::string tool, library;
};

struct OverlayPoint {
  std::size_t log = 0;   // index into `logs`
  std::size_t line = 0;  // where the run starts
  std::string collective;
  std::vector<int> chips;
  std::string chips_from;                      // how they were found
  std::vector<std::uint64_t> sizes;            // bytes, of the rows that were used
  bool checked = true;                         // the benchmark compared its results
  double measured = 0, before = 0, after = 0;  // GB/s
  std::vector<std::string> decided_by;         // kinds of links or host paths
  bool used = true;
};

struct OverlayFile {
  std::string vendor;
  std::vector<std::string> models;
  std::vector<OverlayRate> rates;
  std::string made_by;  // "chipweave 0.9.0"
  std::string machine;  // profile or file that the predictions used
  std::vector<OverlayLog> logs;
  std::vector<OverlayPoint> points;
};

std::string write_overlay(const OverlayFile& overlay);

// Errors name the field: an unknown key, a kind that does not exist, a rate that cannot be.
// name: of the file, for later messages.
Result<domain::RateOverlay> read_overlay(std::string_view json, std::string name);

}  // namespace chipweave::codec

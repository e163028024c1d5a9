// Probe lines — what the probe process writes to the agent: one JSON object a line.
//
//   {"alive":true}                                     heartbeat: nothing new
//   {"events":[…]}                                     signals of kind "event", when they arrive
//   {"error":{"code":"unavailable","message":"…"}}     the machine cannot be read now
//   {"measuring":true}                                 a measurement of the chips begins; if no
//   line follows, that is what hangs or has crashed
//   {"taken_ms":…,"metrics":[…]}                       a measurement of the chips
//   (metrics_line.hpp)
//   {"machine":…,"topology":{…},"ports":[…],"signals":[…],"neighbours":[…],"facts":{…},
//    "warnings":[…],"basis":"bus"}                     the machine; topology as in
//    docs/reference/topology-json.md; no basis: the driver
//
// `topology` is omitted if it is the same as in the previous line: it is the bulk of a line and
// seldom changes. The probe process runs vendors' code, so the agent does not trust its lines.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/result.hpp"
#include "common/domain/chip_metrics.hpp"
#include "common/domain/observation.hpp"

namespace chipweave::codec {

inline constexpr std::size_t kMaxProbeLineBytes = std::size_t{4} << 20U;
inline constexpr std::size_t kMaxSignals = 20'000;

struct ProbeAlive {};
struct ProbeMeasuring {};
struct ProbeEvents {
  std::vector<domain::Signal> events;
};
using ProbeLine = std::variant<ProbeAlive, ProbeMeasuring, ProbeEvents, domain::Observation,
                               domain::MetricsSample, Error>;

// Writes one stream of lines. Lines end with '\n'.
class ProbeLineWriter {
 public:
  static std::string alive();
  static std::string measuring();
  // At most kMaxSignals.
  static std::string events(const std::vector<domain::Signal>& events);
  static std::string failure(const Error& error);
  static std::string metrics(const domain::MetricsSample& sample);
  std::string observation(const domain::Observation& observation);

 private:
  std::string topology_;  // the last line's
};

// Reads one stream of lines. O(line); keeps only the last topology.
class ProbeLineReader {
 public:
  // `line`: without the line end. Errors name the key: "signals[3].kind: …"; limit_exceeded for
  // values that are too long. The stream cannot be used after an error.
  Result<ProbeLine> read(std::string_view line);

 private:
  std::optional<domain::NodeTopology> topology_;
};

}  // namespace chipweave::codec

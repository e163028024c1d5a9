// The line {"taken_ms":…,"metrics":[…]} of the probe process: one measurement of all chips.
// Part of probe_line.hpp.
#pragma once

#include <string>

#include "common/codec/json/json_object.hpp"
#include "common/domain/chip_metrics.hpp"

namespace chipweave::codec {

// Values that read_metrics() would refuse are left out: a driver that reports nonsense costs that
// value. With the line end.
std::string metrics_line(const domain::MetricsSample& sample);
// Problems name the key: "metrics[3].links[0].kind: …".
domain::MetricsSample read_metrics(JsonValue document, JsonProblems& problems);

}  // namespace chipweave::codec

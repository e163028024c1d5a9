// FaultMoments in JSON: {"80E01801":{"fault_time":1750000000000,"fault_level":"SeparateNPU"}}.
// Internal to common/codec/mindcluster.
#pragma once

#include "common/base/json_writer.hpp"
#include "common/codec/mindcluster/faults/chip_faults.hpp"

namespace chipweave::codec::mindcluster {

void append_moments(JsonWriter& out, const FaultMoments& moments);

}  // namespace chipweave::codec::mindcluster

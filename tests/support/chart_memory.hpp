// What the scheduler's memory may be used for in its container, by the chart.
#pragma once

#include <stdexcept>
#include <string>

#include "tests/support/number_after.hpp"
#include "tests/support/paths.hpp"

namespace chipweave::test {

// The peak of a scheduler with 10,000 nodes, 10,000 pending and 80,000 bound pods
// (docs/develop/benchmarks.md, "Holds of the loop").
inline constexpr long kLargeStateKilobytes = 364 << 10;

// What callers of the gRPC side may add to that, whatever they send.
inline constexpr long kGrpcCallersKilobytes = 224 << 10;

// The limit of the scheduler's container, in KiB. What it leaves is for callers of the HTTP side.
inline long memory_limit_of_chart() {
  const std::string values = file_content(source_path("charts/chipweave/values.yaml")).value();
  const std::string scheduler = values.substr(values.find("\nscheduler:"));
  const auto mebibytes = number_after(scheduler, "limits: {memory: ");
  if (!mebibytes) throw std::runtime_error("values.yaml has no memory limit of the scheduler");
  return *mebibytes * 1024;
}

}  // namespace chipweave::test

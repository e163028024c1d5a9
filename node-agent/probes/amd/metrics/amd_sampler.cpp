#include "node-agent/probes/amd/metrics/amd_sampler.hpp"

#include <algorithm>
#include <utility>

#include "node-agent/probes/amd/amd_device.hpp"
#include "node-agent/probes/amd/metrics/gpu_metrics.hpp"
#include "node-agent/probes/host/pci/pci_bus.hpp"
#include "node-agent/probes/sysfs/sysfs_value.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipMetrics;

constexpr int kMaxSensorFiles = 8;
constexpr double kDisabled = 1000;  // degrees; a disabled sensor reads all ones

std::optional<double> scaled(const SysfsText& text, double unit) {
  const auto value = count_of(text);
  return value ? std::optional(static_cast<double>(*value) * unit) : std::nullopt;
}

// "junction" is the hottest spot; chips without it have "edge".
void read_sensors(const SysfsTree& tree, const std::string& hwmon, ChipMetrics& out) {
  std::optional<double> edge;
  for (int sensor = 1; sensor <= kMaxSensorFiles; ++sensor) {
    const std::string file = hwmon + "temp" + std::to_string(sensor);
    const auto celsius = scaled(tree.text(file + "_input"), 1e-3);
    if (!celsius || *celsius > kDisabled) continue;
    const std::string label = tree.text(file + "_label").value_or("");
    if (label == "junction") out.temperature_celsius = celsius;
    if (label == "mem") out.memory_temperature_celsius = celsius;
    if (label == "edge") edge = celsius;
  }
  if (!out.temperature_celsius) out.temperature_celsius = edge;
  // In microwatts and Hz. Newer chips have only power1_input.
  for (const char* file : {"power1_average", "power1_input"}) {
    if (!out.power_watts) out.power_watts = scaled(tree.text(hwmon + file), 1e-6);
  }
  out.clock_hertz = scaled(tree.text(hwmon + "freq1_input"), 1);
}

void read_errors(const SysfsTree& tree, const std::string& pci, ChipMetrics& out) {
  const auto add = [](std::optional<std::uint64_t>& to, const std::optional<std::uint64_t>& more) {
    if (more) to = to.value_or(0) + *more;
  };
  for (const auto& [block, counts] : read_amd_ras(tree, pci)) {
    add(out.corrected_errors, counts.corrected);
    add(out.uncorrected_errors, counts.uncorrected);
  }
}

}  // namespace

std::optional<ChipMetrics> measure_amd(const SysfsTree& tree, const std::string& pci,
                                       domain::ChipIndex chip) {
  const std::string at = std::string(kPciDevices) + pci + "/";
  ChipMetrics out;
  out.chip = chip;
  const auto hwmons = tree.names(at + "hwmon");
  if (!hwmons.empty()) read_sensors(tree, at + "hwmon/" + hwmons.front() + "/", out);
  out.memory_used_bytes = count_of(tree.text(at + "mem_info_vram_used"));
  out.memory_total_bytes = count_of(tree.text(at + "mem_info_vram_total"));
  out.utilization = scaled(tree.text(at + "gpu_busy_percent"), 0.01);
  read_errors(tree, pci, out);
  GpuMetricsTable table = parse_gpu_metrics(tree.text(at + "gpu_metrics").value_or(""));
  out.links = std::move(table.links);
  out.throttled = std::move(table.throttled);
  const bool any = out.temperature_celsius || out.memory_temperature_celsius || out.power_watts ||
                   out.clock_hertz || out.memory_used_bytes || out.memory_total_bytes ||
                   out.utilization || out.corrected_errors || out.uncorrected_errors ||
                   !out.links.empty() || !out.throttled.empty();
  return any ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace chipweave::agent

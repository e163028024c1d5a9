#include "node-agent/probes/amd/amd_device.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/text/numbers.hpp"
#include "node-agent/probes/host/pci/pci_bus.hpp"
#include "node-agent/probes/sysfs/sysfs_value.hpp"

namespace chipweave::agent {
namespace {

constexpr std::string_view kCounts = "_err_count";
constexpr std::size_t kMaxBlocks = 48;
constexpr std::size_t kMaxLanes = 128;
constexpr int kMaxSensors = 8;
constexpr int kMaxPort = 255;

std::string folder_of(const std::string& pci) { return kPciDevices + pci + "/"; }

template <class Line>
void each_line(std::string_view text, Line line) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

RasCounts parse_counts(std::string_view text) {
  RasCounts out;
  each_line(text, [&out](std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const auto value = codec::parse_unsigned(line.substr(colon + 1));
    const std::string_view key = line.substr(0, colon);
    if (key == "ue") out.uncorrected = value;
    if (key == "ce") out.corrected = value;
    if (key == "de") out.deferred = value;
  });
  return out;
}

std::vector<std::string> blocks(const SysfsTree& tree, const std::string& at) {
  std::vector<std::string> out;
  for (const std::string& name : tree.names(at + "ras")) {
    const bool counts = name.size() > kCounts.size() &&
                        name.compare(name.size() - kCounts.size(), kCounts.size(), kCounts) == 0;
    if (counts && out.size() < kMaxBlocks) {
      out.push_back(name.substr(0, name.size() - kCounts.size()));
    }
  }
  return out;
}

void read_ras(const SysfsTree& tree, const std::string& at, AmdDevice& out) {
  for (const std::string& block : blocks(tree, at)) {
    const auto text = tree.text(at + "ras/" + block + std::string(kCounts));
    if (!text) continue;
    // amdgpu_ras_sysfs_read: from the beginning of a reset to its end, and while the driver starts.
    if (text->rfind("Query currently inaccessible", 0) == 0) {
      out.resetting = true;
      continue;
    }
    out.ras.emplace(plain(block), parse_counts(*text));
  }
}

// temp<n>_input and temp<n>_crit in thousandths of a degree; temp<n>_label "edge", "junction",
// "mem".
void read_temperature(const SysfsTree& tree, const std::string& at, AmdDevice& out) {
  for (const std::string& name : tree.names(at + "hwmon")) {
    for (int sensor = 1; sensor <= kMaxSensors; ++sensor) {
      const std::string file = at + "hwmon/" + name + "/temp" + std::to_string(sensor);
      const auto input = count_of(tree.text(file + "_input"));
      if (!input) continue;
      const double celsius = static_cast<double>(*input) / 1000;
      if (celsius > 1000) continue;  // a disabled sensor reads all ones
      out.celsius = std::max(out.celsius.value_or(celsius), celsius);
      const auto critical = count_of(tree.text(file + "_crit"));
      if (!critical || *critical == 0 || *input < *critical) continue;
      if (!out.overheated.empty()) out.overheated += ", ";
      out.overheated += plain(tree.text(file + "_label").value_or("sensor"));
    }
  }
}

// "01:03", both hexadecimal: the node's number in xgmi_hive_info/node<n> and a port of it.
std::optional<std::pair<std::uint32_t, int>> node_and_port(std::string_view text) {
  text = trim(text);
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto node = codec::parse_hex(text.substr(0, colon));
  const auto port = codec::parse_hex(text.substr(colon + 1));
  if (!node || !port || *port > kMaxPort) return std::nullopt;
  return std::pair(*node, static_cast<int>(*port));
}

void read_lanes(const SysfsTree& tree, const std::string& at, AmdDevice& out) {
  const auto text = tree.text(at + "xgmi_port_num");
  if (!text) return;
  constexpr std::string_view kArrow = "->";
  each_line(*text, [&](std::string_view line) {
    const std::size_t arrow = line.find(kArrow);
    if (arrow == std::string_view::npos || out.lanes.size() == kMaxLanes) return;
    const auto here = node_and_port(line.substr(0, arrow));
    const auto there = node_and_port(line.substr(arrow + kArrow.size()));
    if (!here || !there) return;
    const auto peer = tree.resolved(at + "xgmi_hive_info/node" + std::to_string(there->first));
    if (!peer) return;
    out.lanes.push_back({here->second, peer->substr(peer->find_last_of('/') + 1)});
  });
}

}  // namespace

AmdDevice read_amd_device(const SysfsTree& tree, const std::string& pci) {
  const std::string at = folder_of(pci);
  AmdDevice out;
  read_ras(tree, at, out);
  read_temperature(tree, at, out);
  read_lanes(tree, at, out);
  out.compute_partition = plain(tree.text(at + "current_compute_partition").value_or(""));
  out.memory_partition = plain(tree.text(at + "current_memory_partition").value_or(""));
  return out;
}

std::map<std::string, RasCounts> read_amd_ras(const SysfsTree& tree, const std::string& pci) {
  AmdDevice out;
  read_ras(tree, folder_of(pci), out);
  return std::move(out.ras);
}

std::uint64_t read_xgmi_errors(const SysfsTree& tree, const std::string& pci) {
  return count_of(tree.text(folder_of(pci) + "xgmi_error")).value_or(0);
}

std::string health_state(const SysfsTree& tree, const std::string& pci) {
  const std::string at = folder_of(pci);
  std::string out = pci + "\n";
  for (const std::string& block : blocks(tree, at)) {
    out += block + "=" + tree.text(at + "ras/" + block + std::string(kCounts)).value_or("") + "\n";
  }
  AmdDevice device;
  read_temperature(tree, at, device);
  return out + device.overheated + "\n";
}

}  // namespace chipweave::agent

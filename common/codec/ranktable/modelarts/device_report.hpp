// DeviceReport — the NPUs of one pod or node as an annotation: device plugins write it on pods,
// route planning expects it on nodes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

// On pods: {"pod_name","server_id","devices":[…]}.
inline constexpr std::string_view kAscend1980Configuration =
    "cce.kubectl.kubernetes.io/ascend-1980-configuration";
// On nodes, and in older clusters on pods: {"pod_name","server_id","device":[…]}.
inline constexpr std::string_view kAscendRankTable = "cce.kubectl.kubernetes.io/ascend-rank-table";

inline constexpr std::size_t kMaxReportDevices = 128;

struct RouteDevice {
  std::string id;               // physical, a decimal number
  std::string ip;               // as written; need not be an address
  std::string super_device_id;  // a decimal number, or empty
  std::string rank_id;
  std::string tor_ip;    // its leaf switch; empty: not known
  std::string tor_port;  // and its port there

  friend bool operator==(const RouteDevice&, const RouteDevice&) = default;
};

struct DeviceReport {
  std::string pod_name;  // empty on nodes
  std::string server_id;
  std::vector<RouteDevice> devices;  // ascending

  // Adds the switches that only the other report of the same machine has.
  void add_switches(const DeviceReport& other);

  friend bool operator==(const DeviceReport&, const DeviceReport&) = default;
};

// Whether a device_ip is one address, or several separated by commas (dual-port devices).
bool is_address_list(std::string_view text);

// Reads either form. Errors: not JSON, no server_id, no devices, a device without id, a repeated
// device.
Result<DeviceReport> parse_device_report(std::string_view json);

// Of the values of a pod's kAscend1980Configuration and kAscendRankTable, "" where there is none:
// the first lists the devices, the second may add their switches. nullopt: neither. Errors name the
// annotation.
Result<std::optional<DeviceReport>> report_of_pod(std::string_view configuration,
                                                  std::string_view rank_table);

// The value of kAscendRankTable: compact, members in the order of other writers.
std::string write_rank_table_annotation(const DeviceReport& report);

}  // namespace chipweave::codec

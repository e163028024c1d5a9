#include "common/codec/agent/hardware_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace chipweave::codec {
namespace {

struct Option {
  const char* name;
  std::string HardwareOptions::*value;
};

constexpr std::array<Option, 8> kOptions = {{
    {"vendor", &HardwareOptions::vendor},
    {"sysfs-root", &HardwareOptions::sysfs_root},
    {"driver-root", &HardwareOptions::driver_root},
    {"nvml-library", &HardwareOptions::nvml_library},
    {"dcmi-library", &HardwareOptions::dcmi_library},
    {"lldpctl", &HardwareOptions::lldpctl},
    {"fabric-partitions", &HardwareOptions::fabric_partitions},
    {"metrics-interval", &HardwareOptions::metrics_interval},
}};
constexpr std::array<std::string_view, 6> kVendors = {"auto",   "nvidia", "amd",
                                                      "ascend", "metax",  "pci"};

constexpr int kMaxMetricsInterval = 3600;

// nullopt: not a number of seconds from 0 to kMaxMetricsInterval.
std::optional<int> metrics_interval(const std::string& text) {
  int out = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out);
  const bool whole = read.ec == std::errc() && read.ptr == end && !text.empty();
  return whole && out >= 0 && out <= kMaxMetricsInterval ? std::optional(out) : std::nullopt;
}

std::string problem_of(std::string_view name, const std::string& value) {
  if (name == "vendor" && std::find(kVendors.begin(), kVendors.end(), value) == kVendors.end()) {
    return "must be auto, nvidia, amd, ascend, metax or pci";
  }
  if (name == "fabric-partitions" && value != "none" && value != "hgx-8") {
    return "must be none or hgx-8";
  }
  if (name == "metrics-interval" && !metrics_interval(value)) {
    return "must be a number of seconds from 1 to 3600, or 0 for none";
  }
  if (name.ends_with("-root") && !value.empty() && (value.front() != '/' || value.back() == '/')) {
    return "must be an absolute path without '/' at its end";
  }
  if ((name.ends_with("-library") || name == "lldpctl") && !value.empty() && value.front() != '/') {
    return "must be an absolute path";
  }
  return "";
}

}  // namespace

std::chrono::seconds metrics_interval_of(const HardwareOptions& options) {
  return std::chrono::seconds(metrics_interval(options.metrics_interval).value_or(0));
}

std::vector<std::string> hardware_option_names() {
  std::vector<std::string> out;
  out.reserve(kOptions.size());
  for (const Option& option : kOptions) out.emplace_back(option.name);
  return out;
}

std::string set_option(HardwareOptions& options, const std::string& name,
                       const std::string& value) {
  std::string problem = problem_of(name, value);
  if (!problem.empty()) return problem;
  for (const Option& option : kOptions) {
    if (name == option.name) options.*option.value = value;
  }
  return problem;
}

std::vector<std::string> to_arguments(const HardwareOptions& options) {
  const HardwareOptions usual;
  std::vector<std::string> out;
  for (const Option& option : kOptions) {
    if (options.*option.value == usual.*option.value) continue;
    out.push_back(std::string("--") + option.name);
    out.push_back(options.*option.value);
  }
  return out;
}

Result<HardwareOptions> hardware_options(const std::vector<std::string>& arguments) {
  HardwareOptions out;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const auto known = std::find_if(kOptions.begin(), kOptions.end(), [&](const Option& option) {
      return arguments[i] == std::string("--") + option.name;
    });
    if (known == kOptions.end()) {
      return make_error(Errc::invalid_argument, "unknown option \"" + arguments[i] + "\"");
    }
    if (i + 1 == arguments.size()) {
      return make_error(Errc::invalid_argument, arguments[i] + " has no value");
    }
    const std::string problem = set_option(out, known->name, arguments[i + 1]);
    if (!problem.empty()) {
      return make_error(Errc::invalid_argument, arguments[i] + " " + problem);
    }
  }
  return out;
}

}  // namespace chipweave::codec

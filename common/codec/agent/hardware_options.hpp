// HardwareOptions — where and how to look for the hardware. The agent passes them to its probe
// process as command line arguments.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

struct HardwareOptions {
  std::string vendor = "auto";  // or nvidia, amd, ascend, metax, pci (bus only, no driver)
  std::string sysfs_root;    // holds "sys/…", "dev/…", "etc/…", "run/…"; "": this machine
  std::string driver_root;   // where the vendor's driver is mounted; "": this machine
  std::string nvml_library;  // path; "": libnvidia-ml.so.1 where drivers put it
  std::string dcmi_library;  // path; "": libdcmi.so where drivers put it
  std::string lldpctl;       // path of lldpd's tool; "": not run
  std::string fabric_partitions = "none";  // or hgx-8: NVSwitches are shared between tenants
  std::string metrics_interval = "10";     // seconds between measurements of the chips; 0: none
};

std::chrono::seconds metrics_interval_of(const HardwareOptions& options);

// {"--vendor", "auto", …}: those that differ from the default.
std::vector<std::string> to_arguments(const HardwareOptions& options);
// invalid_argument: an unknown option, one without a value, or an invalid value.
Result<HardwareOptions> hardware_options(const std::vector<std::string>& arguments);
// Names of all options, without dashes.
std::vector<std::string> hardware_option_names();
// Sets the option of one of these names; returns what is wrong with the value ("must be …"), "" if
// it is valid.
std::string set_option(HardwareOptions& options, const std::string& name, const std::string& value);

}  // namespace chipweave::codec

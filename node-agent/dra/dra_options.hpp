// DraOptions — how the agent is a DRA driver, as its options say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "node-agent/dra/claims/exposure.hpp"

namespace chipweave::agent::dra {

// Where container runtimes read CDI files, and drivers write theirs, unless configured otherwise.
inline constexpr const char* kCdiFolder = "/var/run/cdi";
// Of the checkpoint of prepared claims. In memory (tmpfs), because that is written before each
// answer to the kubelet, and a boot, which ends all containers, must end it: the kubelet prepares
// again what it starts again, and device nodes may have other numbers.
inline constexpr const char* kStateFolder = "/run/chipweave-dra";

struct DraOptions {
  std::string driver;  // "gpu.chipweave.dev", checked (check_driver_name)
  std::string node;    // also the pool
  bool managed = false;
  bool evict = false;
  std::string kubelet_folder = "/var/lib/kubelet";
  std::string cdi_folder = kCdiFolder;
  std::string state_folder = kStateFolder;
  std::string host_root;        // where the host's /dev, /sys and /proc are; "": here
  std::vector<NodeRule> nodes;  // empty: by vendor
  std::string toolkit_kind;     // "nvidia.com/gpu"; empty: none
  std::uint64_t seed = 0;
};

// invalid_argument: no name of a driver, or that of a vendor's own.
Result<void> check_driver_name(const std::string& name);
// "vendor.com/class" of CDI.
Result<void> check_cdi_kind(const std::string& kind);

}  // namespace chipweave::agent::dra

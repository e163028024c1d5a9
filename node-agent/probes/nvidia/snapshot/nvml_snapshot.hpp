// NvmlSnapshot — what NVML reports about one machine at one moment; a fact that it does not report
// is absent.
//
// Plain values without interpretation, which is left to topology_of (nvml_topology.hpp) and
// signals_of (nvml_signals.hpp). A failed call leaves its field empty and a note; one that the
// device does not support, an ordinary case, leaves no note.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/domain/link.hpp"

namespace chipweave::agent {

enum class NvmlRemote { unknown, gpu, npu, nvswitch };

// A link that the driver lists; links that are not wired may be among them, inactive.
struct NvmlLink {
  unsigned number = 0;
  bool active = false;
  std::optional<bool> p2p;          // carries traffic between GPUs
  std::optional<unsigned> version;  // NVML's own numbers: 6 is NVLink 4.0
  NvmlRemote remote = NvmlRemote::unknown;
  std::string remote_pci;  // normalised; of the switch where the remote is one; "" unknown
  // Errors since the driver was loaded.
  std::optional<std::uint64_t> replays;
  std::optional<std::uint64_t> recoveries;
  std::optional<std::uint64_t> crc_errors;
};

inline constexpr unsigned kNvmlFabricCompleted = 3;

// Membership in a fabric of NVSwitches, of this machine or over several.
struct NvmlFabric {
  unsigned state = 0;  // 0 not supported, 1 not started, 2 in progress, kNvmlFabricCompleted
  int status = 0;      // an NVML code
  unsigned clique = 0;
  std::string cluster_uuid;  // "" if it is all zeros
  std::optional<std::uint32_t> health_mask;
  std::optional<unsigned> health_summary;  // 0 not supported, 1 healthy, 2 unhealthy, 3 limited
};

// One MIG instance of a GPU.
struct NvmlMigInstance {
  std::string uuid;
  std::string profile;  // as nvidia-smi prints it: "1g.10gb"; "" unknown
  std::optional<unsigned> gpu_instance;
  std::optional<unsigned> compute_instance;
  std::optional<unsigned> gpu_slices;
  std::optional<std::uint64_t> memory_mib;
};

struct NvmlMig {
  bool current = false;
  bool pending = false;  // the mode after the next reset of the GPU
  bool all_read = true;  // false: an instance could not be read, so there may be more
  std::vector<NvmlMigInstance> instances = {};
};

struct NvmlEcc {
  bool current = false;
  bool pending = false;
};

struct NvmlRemappedRows {
  unsigned correctable = 0;
  unsigned uncorrectable = 0;
  bool pending = false;  // a reset will remap more
  bool failure = false;
};

struct NvmlDevice {
  int index = 0;      // NVML's, which nvidia-smi prints
  bool lost = false;  // it is counted, but has fallen off the bus
  bool reset_required = false;
  std::string failure;  // why it cannot be used: NvmlFailure failed or reset_required
  std::string uuid;
  std::string name;
  std::string pci;  // normalised: "0000:04:00.0"
  std::optional<unsigned> minor;
  std::optional<unsigned> module;  // position on the board, which Fabric Manager counts by
  std::optional<int> numa;         // host NUMA node nearest to it
  std::optional<int> own_numa;     // of its own memory, on coherent systems
  std::optional<int> sm;           // compute capability: 90 is 9.0
  std::optional<std::uint64_t> memory_bytes;
  std::optional<NvmlMig> mig;
  std::optional<NvmlEcc> ecc;
  std::optional<std::uint64_t> uncorrected_errors;  // since the driver was loaded
  std::optional<std::uint64_t> corrected_errors;    // likewise
  std::optional<std::uint64_t> clock_reasons;       // reasons for the current clocks, one bit each
  std::optional<bool> retired_pages_pending;
  std::optional<NvmlRemappedRows> remapped_rows;
  std::optional<unsigned> recovery_action;  // 0 none; else the action that the driver requests
  std::optional<NvmlFabric> fabric;
  std::vector<NvmlLink> links;         // ascending by number
  std::vector<unsigned> unread_links;  // those whose state could not be read
  std::set<std::string> failed_calls;  // by name; not those that it does not support
  std::vector<std::string> notes;
};

// Host path of two devices, indices ascending.
struct NvmlPair {
  int a = 0;
  int b = 0;
  domain::LinkKind path = domain::LinkKind::sys;
};

struct NvmlSnapshot {
  std::string driver;  // "550.54.15"
  int cuda = 0;        // newest version that the driver supports: 12040 is 12.4; 0 unknown
  std::vector<NvmlDevice> devices;
  std::vector<NvmlPair> pairs;  // those with a known level
  std::vector<std::string> notes;
};

}  // namespace chipweave::agent

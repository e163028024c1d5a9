// VendorJob — placement keys of vendors' own schedulers on a job, as values: Ascend super-pods and
// racks (sp-block, ra-block, …), leaf switches (tor-affinity), NVLink domains.
// common/solver/vendor/vendor_rules.hpp translates them into constraints of a gang,
// common/solver/vendor/tor_affinity.hpp chooses nodes by leaf switches. For users:
// docs/reference/vendor-gang-rules.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/domain/gang.hpp"

namespace chipweave::domain {

// The role of each network level; kNoLevel: there is no such level.
struct VendorLevels {
  int super_pod = kNoLevel;
  int rack = kNoLevel;       // of a 950 super-pod
  int ub_domain = kNoLevel;  // UB memory is shared inside
  int leaf = kNoLevel;       // the switch that nodes are connected to (ToR)
  int nvlink = kNoLevel;     // NVLink domain: the ClusterUUID of nvidia.com/gpu.clique
  friend bool operator==(const VendorLevels&, const VendorLevels&) = default;
};

// The default roles of levels by name: names used by our importers and by the vendors' labels,
// compared exactly. A role takes the first of its names that exists:
//   super_pod  super-pod, superpod, superPodID, huawei.com/topotree.superpodid
//   rack       rack, rackID, huawei.com/topotree.rackid
//   ub_domain  ub-domain, ub
//   leaf       tor, leaf, volcano.sh/tor, network.topology.nvidia.com/leaf
//   nvlink     nvlink-domain, nvl, nvidia.com/gpu.clique, accelerator.topograph.run/domain,
//              network.topology.nvidia.com/accelerator, ds.coreweave.com/nvlink.domain
VendorLevels default_vendor_levels(const std::vector<std::string>& level_names);

// Servers of super-pods.
enum class AscendServer {
  a3,      // 900 A3 SuperPod: 16 dies per node, two per module
  a5_850,  // 850 SuperPod: 8 chips per node
  a5_950,  // 950 SuperPod: 8 chips per node, 8 nodes per rack
};

struct AscendRequest {
  // Absent: a5_950 if ra_block or ub_memory is given, which only it has, otherwise a3.
  std::optional<AscendServer> server;
  std::optional<int> node_chips;      // absent: as above
  std::optional<int> sp_block;        // chips of a logical super-pod; absent: all of the job
  std::optional<int> ra_block;        // chips that must be in one rack
  std::optional<int> super_pod_size;  // nodes; absent: 48
  std::optional<int> reserve_nodes;   // in each super-pod; absent: 2, or fewer in a tiny one
  bool soft = false;                  // blocks that do not fit may be split
  bool ub_memory = false;             // huawei.com/schedule_ubmemory
  friend bool operator==(const AscendRequest&, const AscendRequest&) = default;
};

// Label tor-affinity.
enum class TorSchema { large_model, normal, none };
// Jobs of large_model with fewer pods stay under one leaf, or wait.
inline constexpr int kFillerReplicas = 4;
// MindCluster's settings nslb-version and tor_level.
enum class TorNetwork { nslb_1, nslb_2, single_layer };

// The numbers are those of the pod annotation isSharedTor. Not free: a job that crosses leaves runs
// below the leaf.
enum class TorUse { free = 0, shared = 1, exclusive = 2 };

struct TorState {
  TorUse use = TorUse::free;
  bool healthy = true;      // for a shared leaf: false once a normal job has spilled over to it
  bool large_model = true;  // for a shared leaf: a job of large-model-schema uses it
  friend bool operator==(const TorState&, const TorState&) = default;
};

struct TorRequest {
  TorSchema schema = TorSchema::none;
  TorNetwork network = TorNetwork::nslb_1;
  int shared_tors = 2;  // NSLB 2.0: at most so many shared leaves per job, 1 or 2
  int leaf_nodes = 0;   // positions below a leaf (tor_count); 0: those of the largest leaf
  std::map<std::string, TorState> states = {};  // by name or path of a leaf; others are free
};

// What a plan by leaf switches makes of a leaf.
struct LeafUse {
  std::string leaf;  // its path
  TorState state;
  int pods = 0;
};

struct NvlinkRequest {
  // Every `segment` pods must share an NVLink domain; absent: all pods.
  std::optional<int> segment;
};

struct VendorJob {
  int pods = 0;  // pods of the whole gang, including running ones
  int chips_per_pod = 0;
  VendorLevels levels;
  std::optional<AscendRequest> ascend;
  std::optional<TorRequest> tor;
  std::optional<NvlinkRequest> nvlink;
};

}  // namespace chipweave::domain

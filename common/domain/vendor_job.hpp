// VendorJob — what the users of a vendor's own scheduler write on a job to say where its pods may
// go, as values: Ascend super-pods and racks (sp-block, ra-block, …), leaf switches (tor-affinity),
// NVLink domains. common/solver/vendor/vendor_rules.hpp turns it into plain constraints of a gang,
// common/solver/vendor/tor_affinity.hpp chooses nodes by leaf switches;
// docs/concepts/vendor-gang-rules.md tells users.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/domain/gang.hpp"

namespace chipweave::domain {

// Which level of the network is what; kNoLevel: the network has no such level.
struct VendorLevels {
  int super_pod = kNoLevel;
  int rack = kNoLevel;       // of a 950 super-pod
  int ub_domain = kNoLevel;  // UB memory is shared inside
  int leaf = kNoLevel;       // the switch that nodes are connected to (ToR)
  int nvlink = kNoLevel;     // NVLink domain: the ClusterUUID of nvidia.com/gpu.clique
  friend bool operator==(const VendorLevels&, const VendorLevels&) = default;
};

// What levels of these names are when nobody says it: the names that our importers and the vendors'
// own labels use, compared as they are written. A role takes the first of its names that is there:
//   super_pod  super-pod, superpod, superPodID, huawei.com/topotree.superpodid
//   rack       rack, rackID, huawei.com/topotree.rackid
//   ub_domain  ub-domain, ub
//   leaf       tor, leaf, volcano.sh/tor, network.topology.nvidia.com/leaf
//   nvlink     nvlink-domain, nvl, nvidia.com/gpu.clique, accelerator.topograph.run/domain,
//              network.topology.nvidia.com/accelerator, ds.coreweave.com/nvlink.domain
VendorLevels default_vendor_levels(const std::vector<std::string>& level_names);

// Servers that are built into super-pods.
enum class AscendServer {
  a3,      // 900 A3 SuperPod: 16 dies a node, two a module
  a5_850,  // 850 SuperPod: 8 chips a node
  a5_950,  // 950 SuperPod: 8 chips a node, 8 nodes a rack
};

struct AscendRequest {
  // Absent: a5_950 where ra_block or ub_memory is asked, which only it has, else a3.
  std::optional<AscendServer> server;
  std::optional<int> node_chips;  // absent: what the server has (above)
  std::optional<int> sp_block;    // chips of a logical super-pod; absent: those of the whole job
  std::optional<int> ra_block;    // chips that must be in one rack
  std::optional<int> super_pod_size;  // nodes; absent: 48
  std::optional<int> reserve_nodes;   // of each super-pod; absent: 2, or less in a tiny super-pod
  bool soft = false;                  // what does not fit as whole blocks may be split
  bool ub_memory = false;             // huawei.com/schedule_ubmemory
};

// Label tor-affinity.
enum class TorSchema { large_model, normal, none };
// Fewer pods of large_model stay under one leaf, or wait.
inline constexpr int kFillerReplicas = 4;
// What MindCluster's settings nslb-version and tor_level say.
enum class TorNetwork { nslb_1, nslb_2, single_layer };

// The numbers are those of the pods' annotation isSharedTor. Not free: a job runs below the leaf
// that crosses leaves.
enum class TorUse { free = 0, shared = 1, exclusive = 2 };

struct TorState {
  TorUse use = TorUse::free;
  bool healthy = true;      // of a shared leaf: false once a normal job has spilled over to it
  bool large_model = true;  // of a shared leaf: a job of large-model-schema is among its users
  friend bool operator==(const TorState&, const TorState&) = default;
};

struct TorRequest {
  TorSchema schema = TorSchema::none;
  TorNetwork network = TorNetwork::nslb_1;
  int shared_tors = 2;  // NSLB 2.0: 1 or 2, the most shared leaves of a job
  int leaf_nodes = 0;   // places below a leaf (tor_count); 0: those of the largest leaf
};

struct NvlinkRequest {
  // Pods that must be inside one NVLink domain together, every `segment` of them; absent: all.
  std::optional<int> segment;
};

struct VendorJob {
  int pods = 0;  // of the whole gang: those that run already are counted too
  int chips_per_pod = 0;
  VendorLevels levels;
  std::optional<AscendRequest> ascend;
  std::optional<TorRequest> tor;
  std::optional<NvlinkRequest> nvlink;
};

}  // namespace chipweave::domain

// ChipUse — what a process needs in order to run on chosen chips of a machine: their ring, the
// variable by which it sees them only, the binding to their CPUs and memory, the nearest network
// adapters.
//
// Says only what the description of the machine says; names of adapters are never made up.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/codec/topology/import.hpp"
#include "common/domain/node_topology.hpp"

namespace chipweave::cli {

// What the description says beside the topology.
struct DescribedHost {
  codec::HostFacts facts;
  // False: the numbers of NUMA nodes only say which chips share one.
  bool numa_stated = true;
  // A built-in profile: real machines can have other names of adapters.
  bool is_profile = false;
};

struct NearNic {
  std::string name;
  std::string pci;  // empty if unknown
  domain::LinkKind path = domain::LinkKind::sys;
};

struct UsedChip {
  int index = 0;
  std::string id;
  std::string pci;
  int numa = -1;              // -1: unknown
  std::string cpus;           // "0-19,40-59"; empty if unknown
  std::vector<NearNic> nics;  // nearest_nics()
};

struct ChipUse {
  std::vector<UsedChip> chips;  // ascending by index
  // Indices of the chips, with those that the job already holds, along their widest ring.
  std::vector<int> ring;
  // Name and value, in the order of `export` lines.
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> numactl;  // arguments; empty: cannot tell
  std::vector<std::string> docker;   // arguments of `docker run`; empty: cannot tell
  // What was left out or has to be known, for people.
  std::vector<std::string> notes;
  std::vector<std::string> docker_notes;
};

// All on the shortest path; none where no path is better than SYS.
std::vector<NearNic> nearest_nics(const domain::NodeTopology& topology, int slot);

// Precondition: `chips` is not empty. already_held: by other pods of the job on this machine.
ChipUse chip_use(const domain::NodeTopology& topology, domain::ChipSet chips,
                 domain::ChipSet already_held, const DescribedHost& host);

// Whether a name is one of RDMA devices, as NCCL_IB_HCA expects: mlx5_0, bnxt_re1, rocep24s0. Not
// that of a network interface (eth0) or a PCI address.
bool is_rdma_device(std::string_view name);

}  // namespace chipweave::cli

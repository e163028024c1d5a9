#include "cli/place/chip_use.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "common/base/natural_order.hpp"
#include "common/base/text.hpp"
#include "common/domain/vendor.hpp"
#include "common/solver/gang/chips/node_chips.hpp"

namespace chipweave::cli {
namespace {

using domain::Chip;
using domain::ChipSet;
using domain::LinkKind;
using domain::NodeTopology;
using domain::VendorId;

// By slot: the number of the device for the vendor's runtimes. CUDA in PCI order and nvidia-smi
// number by PCI address, while some files list the chips in another order.
std::vector<int> device_numbers(const NodeTopology& topology) {
  std::vector<int> out;
  std::set<std::string> addresses;
  bool counted = true;  // chips 0, 1, … of a whole machine
  for (const Chip& chip : topology.chips()) {
    counted = counted && chip.index.value == static_cast<int>(out.size()) && !chip.pci.empty();
    addresses.insert(chip.pci);
    out.push_back(chip.index.value);
  }
  const bool by_address = counted && addresses.size() == out.size() &&
                          domain::vendor_of(topology).id == VendorId::nvidia;
  if (!by_address) return out;
  for (std::size_t slot = 0; slot < out.size(); ++slot) {
    const auto at = addresses.find(topology.chips()[slot].pci);
    out[slot] = static_cast<int>(std::distance(addresses.begin(), at));
  }
  return out;
}

// The same number as text, "0,4", ascending: Ascend's runtime takes no other order.
template <class NumberOf>
std::string number_list(ChipSet chips, const NumberOf& number_of) {
  std::vector<int> out;
  for (const int slot : chips) out.push_back(number_of(slot));
  std::sort(out.begin(), out.end());
  return comma_list(out);
}

std::string adapters_of(const std::vector<UsedChip>& chips) {
  std::vector<std::string> names;
  for (const UsedChip& chip : chips) {
    for (const NearNic& nic : chip.nics) {
      if (is_rdma_device(nic.name)) names.push_back(nic.name);
    }
  }
  std::sort(names.begin(), names.end(), natural_less);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return joined(names, ",");
}

// All CPUs of the chips, where each names some.
std::string cpus_of(const std::vector<UsedChip>& chips) {
  std::vector<std::string> lists;
  for (const UsedChip& chip : chips) {
    if (chip.cpus.empty()) return "";
    lists.push_back(chip.cpus);
  }
  std::sort(lists.begin(), lists.end(), natural_less);
  lists.erase(std::unique(lists.begin(), lists.end()), lists.end());
  return joined(lists, ",");
}

// "0,1" of the NUMA nodes, where all are known.
std::string numa_of(const std::vector<UsedChip>& chips) {
  std::set<int> nodes;
  for (const UsedChip& chip : chips) nodes.insert(chip.numa);
  if (nodes.empty() || *nodes.begin() < 0) return "";
  return comma_list({nodes.begin(), nodes.end()});
}

class Advice {
 public:
  Advice(const NodeTopology& topology, ChipSet chips, const DescribedHost& host)
      : topology_(topology), set_(chips), host_(host), numbers_(device_numbers(topology)) {}

  ChipUse take(ChipSet already_held) {
    for (const int slot : set_) out_.chips.push_back(used(slot));
    for (const int slot : solver::ring_order(topology_, set_ | already_held))
      out_.ring.push_back(topology_.chip(slot).index.value);
    note_numbers();
    add_environment();
    add_numactl();
    add_docker();
    note_profile();
    return std::move(out_);
  }

 private:
  UsedChip used(int slot) const {
    const Chip& chip = topology_.chip(slot);
    UsedChip out{chip.index.value, chip.id, chip.pci, host_.numa_stated ? chip.numa : -1, "", {}};
    const auto cpus = host_.facts.cpus.find(chip.index.value);
    if (cpus != host_.facts.cpus.end()) out.cpus = cpus->second;
    out.nics = nearest_nics(topology_, slot);
    return out;
  }

  int number(int slot) const { return numbers_[static_cast<std::size_t>(slot)]; }
  int logical(int slot) const {
    return topology_.chip(slot).logical_id.value_or(topology_.chip(slot).index.value);
  }
  int physical(int slot) const {
    return topology_.chip(slot).physical_id.value_or(topology_.chip(slot).index.value);
  }

  void note_numbers() {
    if (host_.facts.rocm_smi_numbers && domain::vendor_of(topology_).id == VendorId::amd) {
      out_.notes.emplace_back(
          "ROCm's runtime can number the GPUs in another order than rocm-smi, which named these: "
          "compare with rocminfo, or describe the machine by /sys/class/kfd/kfd/topology");
    }
    bool same = true;
    for (const int slot : set_) same = same && number(slot) == topology_.chip(slot).index.value;
    if (same) return;
    out_.notes.emplace_back(
        "the description does not list the chips by PCI address, as nvidia-smi and CUDA number "
        "them: the variables have CUDA's numbers");
  }

  void add_environment() {
    const domain::Vendor& vendor = domain::vendor_of(topology_);
    if (vendor.visible_devices.empty()) {
      out_.notes.emplace_back(
          "the vendor of the chips is unknown, and with it the variable that shows a process some "
          "of them only");
      return;
    }
    // CUDA's default order puts the fastest device first.
    if (vendor.id == VendorId::nvidia)
      out_.environment.emplace_back("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    const bool ascend = vendor.id == VendorId::ascend;
    out_.environment.emplace_back(vendor.visible_devices, number_list(set_, [&](int slot) {
                                    return ascend ? logical(slot) : number(slot);
                                  }));
    adapters_ = vendor.in_nccl_xml && !host_.is_profile ? adapters_of(out_.chips) : "";
    if (!adapters_.empty()) out_.environment.emplace_back("NCCL_IB_HCA", "=" + adapters_);
  }

  void add_numactl() {
    numa_ = host_.numa_stated ? numa_of(out_.chips) : "";
    cpus_ = cpus_of(out_.chips);
    if (!numa_.empty()) {
      out_.numactl = {"--cpunodebind=" + numa_, "--membind=" + numa_};
    } else if (!cpus_.empty()) {
      out_.numactl = {"--physcpubind=" + cpus_, "--localalloc"};
    }
  }

  void add_docker() {
    add_docker_devices();
    if (out_.docker.empty()) return;
    if (!cpus_.empty()) add_docker("--cpuset-cpus", cpus_);
    if (!numa_.empty() && !host_.is_profile) add_docker("--cpuset-mems", numa_);
    if (!adapters_.empty()) add_docker("--env", "NCCL_IB_HCA==" + adapters_);
  }

  // A container numbers its devices from 0, so it must not get the variables of the host.
  void add_docker_devices() {
    switch (domain::vendor_of(topology_).id) {
      case VendorId::nvidia:
        // The quotes are part of the value: it is a line of CSV.
        add_docker("--gpus", "\"device=" + number_list(set_, [this](int slot) {
                               return number(slot);
                             }) + "\"");
        break;
      case VendorId::amd:
        add_render_nodes();
        break;
      case VendorId::ascend:
        add_docker("--env", "ASCEND_VISIBLE_DEVICES=" +
                                number_list(set_, [this](int slot) { return physical(slot); }));
        out_.docker_notes.emplace_back(
            "ASCEND_VISIBLE_DEVICES is read by Ascend Docker Runtime, which must be the "
            "runtime of the container");
        break;
      case VendorId::metax:
      case VendorId::unknown:
        break;
    }
  }

  void add_render_nodes() {
    std::vector<int> minors;
    for (const UsedChip& chip : out_.chips) {
      const auto minor = host_.facts.render_minors.find(chip.index);
      if (minor != host_.facts.render_minors.end()) minors.push_back(minor->second);
    }
    add_docker("--device", "/dev/kfd");
    if (minors.size() == out_.chips.size()) {
      for (const int minor : minors)
        add_docker("--device", "/dev/dri/renderD" + std::to_string(minor));
      return;
    }
    add_docker("--device", "/dev/dri");
    for (const auto& [name, value] : out_.environment) {
      if (name.ends_with("_VISIBLE_DEVICES")) add_docker("--env", concat(name, "=", value));
    }
    out_.docker_notes.emplace_back(
        "the description does not name the render nodes (/sys/class/kfd/kfd/topology "
        "does): the container can open all GPUs, and the variable keeps programs to these");
  }

  void note_profile() {
    bool told = !numa_.empty();
    for (const UsedChip& chip : out_.chips) told = told || !chip.nics.empty();
    if (!host_.is_profile || !told) return;
    const VendorId vendor = domain::vendor_of(topology_).id;
    out_.notes.emplace_back(
        vendor == VendorId::ascend
            ? "NUMA nodes and network adapters are those of the profile; with a description of "
              "your machine (npu-smi info -t topo >box.txt) they are its own"
            : std::string("NUMA nodes and network adapters are those of the profile, and "
                          "NCCL_IB_HCA is left out; with a description of your machine (") +
                  (vendor == VendorId::nvidia ? "nvidia-smi topo -m >box.txt"
                                              : "an NCCL topology") +
                  ") they are its own");
  }

  void add_docker(const std::string& flag, const std::string& value) {
    out_.docker.push_back(flag);
    out_.docker.push_back(value);
  }

  const NodeTopology& topology_;
  ChipSet set_;
  const DescribedHost& host_;
  std::vector<int> numbers_;  // by slot
  std::string numa_, cpus_, adapters_;
  ChipUse out_;
};

}  // namespace

std::vector<NearNic> nearest_nics(const NodeTopology& topology, int slot) {
  std::vector<NearNic> out;
  LinkKind best = LinkKind::sys;  // also the path of those whose path is unknown
  for (const domain::Nic& nic : topology.nics()) {
    const LinkKind path = nic.paths[static_cast<std::size_t>(slot)];
    if (path == LinkKind::sys || path > best) continue;
    if (path < best) out.clear();
    best = path;
    out.push_back({nic.name, nic.pci, path});
  }
  return out;
}

ChipUse chip_use(const NodeTopology& topology, ChipSet chips, ChipSet already_held,
                 const DescribedHost& host) {
  return Advice(topology, chips, host).take(already_held);
}

bool is_rdma_device(std::string_view name) {
  // Prefixes of the drivers' names, and of those that udev gives RoCE devices. Its names of
  // InfiniBand devices (ibp24s0) are also names of network interfaces.
  constexpr std::array<std::string_view, 11> kPrefixes = {"mlx4_", "mlx5_",  "mthca", "bnxt_re",
                                                          "irdma", "i40iw",  "roce",  "hns_",
                                                          "erdma", "ionic_", "qedr"};
  constexpr const char* kCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  if (name.find_first_not_of(kCharacters) != std::string_view::npos) return false;
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace chipweave::cli

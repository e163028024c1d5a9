// AMD KFD topology trees: GPUs, XGMI links and CPU nodes as the kernel lists them.
#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/topology/hardware/device_models.hpp"
#include "common/codec/topology/hardware/directed_lanes.hpp"
#include "common/codec/topology/kfd/kfd_tree.hpp"
#include "common/domain/link_rates.hpp"
#include "common/domain/topology_builder.hpp"

namespace chipweave::codec {
namespace {

using domain::ChipIndex;
using domain::LinkKind;

constexpr std::int64_t kOneXgmiHop =
    15;  // weight; inside a package it is lower, over several hops higher

class KfdImporter {
 public:
  KfdImporter(KfdTree& tree, const ImportOptions& options) : tree_(tree), options_(options) {}

  Result<ImportedTopology> run() {
    if (Result<void> done = number_nodes(); !done) return std::move(done).error();
    add_chips();
    add_host_paths();
    add_xgmi();
    builder_.host_bandwidth = host_bandwidth();
    auto out = imported(std::move(builder_), "kfd", std::move(tree_.warnings).list());
    for (std::size_t i = 0; out && i < gpus_.size(); ++i) {
      out->host.render_minors[static_cast<int>(i)] = gpus_[i]->render_minor;
    }
    return out;
  }

 private:
  // GPUs in the order of node numbers are chips 0, 1, …; CPU nodes likewise are NUMA nodes.
  Result<void> number_nodes() {
    for (const auto& [number, node] : tree_.nodes) {
      if (node.is_gpu) {
        index_of_[number] = static_cast<int>(gpus_.size());
        gpus_.push_back(&node);
      } else if (node.is_cpu) {
        const int numa = static_cast<int>(numa_of_.size());
        numa_of_[number] = numa;
      }
    }
    if (gpus_.empty()) {
      return make_error(
          Errc::invalid_argument,
          "no usable GPU: no node has simd_count above 0 and a drm_render_minor of 128 or more");
    }
    if (gpus_.size() > static_cast<std::size_t>(limits::kMaxChips)) {
      return make_error(Errc::limit_exceeded, "must have at most " +
                                                  std::to_string(limits::kMaxChips) +
                                                  " GPUs, got " + std::to_string(gpus_.size()));
    }
    return {};
  }

  // NUMA node of the closest CPU; -1 if the tree links the GPU to none.
  int numa(const KfdNode& gpu) const {
    const KfdLink* closest = nullptr;
    for (const KfdLink& link : gpu.links) {
      if (numa_of_.count(link.to) > 0 && (closest == nullptr || link.weight < closest->weight))
        closest = &link;
    }
    return closest == nullptr ? -1 : numa_of_.at(closest->to);
  }

  std::string id(const KfdNode& gpu) {
    if (gpu.unique_id == 0) return "";
    char text[32];
    std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(gpu.unique_id));
    const int partition = partitions_[gpu.unique_id]++;
    return partition == 0 ? text : std::string(text) + "-" + std::to_string(partition);
  }

  void add_chips() {
    std::vector<std::string> models;
    std::vector<std::string> vendors;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      const KfdNode& gpu = *gpus_[i];
      domain::Chip chip;
      chip.index = ChipIndex{static_cast<int>(i)};
      chip.id = id(gpu);
      // Only partitions of one card share a PCI address; otherwise a node is a duplicate.
      const auto [first, fresh] = card_at_.emplace(gpu.bus_id, &gpu);
      if (fresh || (gpu.unique_id != 0 && first->second->unique_id == gpu.unique_id)) {
        chip.pci = gpu.bus_id;
      } else {
        tree_.warnings.add("chip " + std::to_string(i) + " has the bus id of another, " +
                           gpu.bus_id + ", and is used without one");
      }
      chip.numa = numa(gpu);
      chip.memory_bytes = gpu.memory_bytes;
      chip.model = options_.model.empty() ? std::string(model_of_device(gpu.vendor, gpu.device))
                                          : options_.model;
      models.push_back(chip.model);
      vendors.emplace_back(vendor_word(gpu.vendor));
      builder_.add_chip(std::move(chip));
    }
    builder_.vendor = common_text(vendors, "mixed");
    builder_.model = common_text(models, "");
  }

  // The tree shows the CPU of a GPU, but not the bridges between them.
  void add_host_paths() {
    for (std::size_t a = 0; a < gpus_.size(); ++a) {
      for (std::size_t b = a + 1; b < gpus_.size(); ++b) {
        const int numa_a = numa(*gpus_[a]);
        LinkKind kind = numa_a >= 0 && numa_a == numa(*gpus_[b]) ? LinkKind::node : LinkKind::sys;
        if (gpus_[a]->unique_id != 0 && gpus_[a]->unique_id == gpus_[b]->unique_id)
          kind = LinkKind::board;
        builder_.add_link(ChipIndex{static_cast<int>(a)}, ChipIndex{static_cast<int>(b)}, kind);
      }
    }
  }

  void add_xgmi() {
    DirectedLanes lanes;
    std::map<std::pair<int, int>, double> package_gbps;
    int routed = 0;
    for (const auto& [number, from] : index_of_) {
      for (const KfdLink& link : tree_.nodes.at(number).links) {
        const auto to = index_of_.find(link.to);
        if (link.type != KfdLink::kXgmi || to == index_of_.end()) continue;
        if (link.weight > kOneXgmiHop) {
          ++routed;
          continue;
        }
        lanes.add(from, to->second, links_of(link));
        if (link.weight < kOneXgmiHop && link.max_mbps > 0) {
          package_gbps[std::minmax(from, to->second)] = static_cast<double>(link.max_mbps) / 1000;
        }
      }
    }
    for (const DirectedLanes::Agreed& l : lanes.agree(tree_.warnings)) {
      // Inside a package only the kernel's own figure is known.
      const auto stated = package_gbps.find({l.a, l.b});
      const std::optional<double> gbps =
          stated != package_gbps.end() ? std::optional(stated->second) : rate(l.a);
      builder_.add_link(ChipIndex{l.a}, ChipIndex{l.b}, LinkKind::xgmi, l.lanes, gbps);
    }
    if (routed > 0) {
      tree_.warnings.add(std::to_string(routed / 2) +
                         " pairs are connected over XGMI only through other chips");
    }
  }

  // The kernel's minimum is the bandwidth of one link, its maximum that of all (RCCL's rule).
  static int links_of(const KfdLink& link) {
    if (link.min_mbps <= 0 || link.max_mbps <= link.min_mbps) return 1;
    return static_cast<int>(
        std::min<std::int64_t>(link.max_mbps / link.min_mbps, limits::kMaxLanes));
  }

  std::optional<double> rate(int chip) const {
    if (!options_.model.empty()) return std::nullopt;
    return xgmi_gbps_of_arch(
        arch_of_gfx_version(gpus_[static_cast<std::size_t>(chip)]->gfx_version));
  }

  std::optional<domain::HostBandwidth> host_bandwidth() const {
    std::int64_t slowest = 0;
    for (const KfdNode* gpu : gpus_) {
      for (const KfdLink& link : gpu->links) {
        if (link.type != KfdLink::kPcie || link.max_mbps <= 0 || numa_of_.count(link.to) == 0)
          continue;
        slowest = slowest == 0 ? link.max_mbps : std::min(slowest, link.max_mbps);
      }
    }
    if (slowest == 0) return std::nullopt;
    const int generation = slowest > 100000 ? 6 : (slowest > 50000 ? 5 : (slowest > 25000 ? 4 : 3));
    return domain::pcie_host_bandwidth(generation, false);
  }

  KfdTree& tree_;
  const ImportOptions& options_;
  domain::TopologyBuilder builder_;
  std::vector<const KfdNode*> gpus_;
  std::map<int, int> index_of_;  // GPU node number → chip
  std::map<int, int> numa_of_;   // CPU node number → NUMA node
  std::map<std::uint64_t, int> partitions_;
  std::map<std::string, const KfdNode*> card_at_;  // by bus id
};

}  // namespace

Result<ImportedTopology> import_kfd_tree(const FileTree& files, const ImportOptions& options) {
  Result<KfdTree> tree = read_kfd_tree(files);
  if (!tree) return std::move(tree).error();
  return KfdImporter(*tree, options).run();
}

}  // namespace chipweave::codec

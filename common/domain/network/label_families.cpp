#include "common/domain/network/label_families.hpp"

#include "common/base/text.hpp"

namespace chipweave::domain {
namespace {

constexpr std::string_view kTier = "fabric.topograph.run/tier-";
constexpr std::string_view kClique = "nvidia.com/gpu.clique";
constexpr unsigned kMaxTopographTier = 99;

}  // namespace

const std::vector<LabelFamily>& network_label_families() {
  // A family may hold two generations of labels; a node has those of one.
  static const std::vector<LabelFamily> kFamilies = {
      {"topograph",
       {"network.topology.nvidia.com/datacenter", "network.topology.nvidia.com/core",
        "network.topology.nvidia.com/spine", "network.topology.nvidia.com/block",
        "network.topology.nvidia.com/leaf"}},
      {"AWS",
       {"topology.k8s.aws/network-node-layer-1", "topology.k8s.aws/network-node-layer-2",
        "topology.k8s.aws/network-node-layer-3"}},
      {"Google",
       {"cloud.google.com/gce-topology-block", "cloud.google.com/gce-topology-subblock",
        "cloud.google.com/gce-topology-host"}},
      {"Google before GKE 1.31",
       {"topology.gke.io/cluster", "topology.gke.io/rack", "topology.gke.io/host"}},
      {"Oracle", {"oci.oraclecloud.com/host.network_block_id", "oci.oraclecloud.com/host.rack_id"}},
      {"CoreWeave",
       {"backend.coreweave.cloud/fabric", "backend.coreweave.cloud/superpod",
        "backend.coreweave.cloud/leafgroup"}},
      {"Volcano", {"volcano.sh/hypercluster", "volcano.sh/hypernode", "volcano.sh/tor"}},
      {"Kueue's examples",
       {"cloud.provider.com/topology-block", "cloud.provider.com/topology-rack"}},
  };
  return kFamilies;
}

const std::vector<LabelFamily>& accelerator_label_families() {
  static const std::vector<LabelFamily> kFamilies = {
      {"topograph 1.0",
       {"accelerator.topograph.run/domain", "accelerator.topograph.run/sub-domain"}},
      {"topograph", {"network.topology.nvidia.com/accelerator"}},
      {"NVIDIA GPU operator", {kClique}},
      {"AWS", {"topology.k8s.aws/ultraserver-id"}},
      {"CoreWeave", {"ds.coreweave.com/nvlink.domain"}},
      {"MindCluster", {"superPodID", "rackID"}},
      {"MindCluster multi-level scheduling",
       {"huawei.com/topotree.superpodid", "huawei.com/topotree.rackid"}},
  };
  return kFamilies;
}

const LabelFamily& zone_labels() {
  static const LabelFamily kZones = {
      "Kubernetes", {"topology.kubernetes.io/region", "topology.kubernetes.io/zone"}};
  return kZones;
}

std::optional<unsigned> topograph_tier(std::string_view label) {
  if (!label.starts_with(kTier)) return std::nullopt;
  label.remove_prefix(kTier.size());
  const auto tier = parse_number<unsigned>(label);
  return tier && *tier <= kMaxTopographTier ? tier : std::nullopt;
}

std::string accelerator_value(std::string_view label, const std::string& value) {
  if (label == kClique) return value.substr(0, value.find('.'));
  if ((label == "superPodID" || label == "rackID") && value.starts_with('-')) return "";
  return value;
}

}  // namespace chipweave::domain

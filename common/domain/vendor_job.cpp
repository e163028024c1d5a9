#include "common/domain/vendor_job.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace chipweave::domain {
namespace {

int first_of(std::initializer_list<std::string_view> names,
             const std::vector<std::string>& levels) {
  for (const std::string_view name : names) {
    const auto at = std::find(levels.begin(), levels.end(), name);
    if (at != levels.end()) return static_cast<int>(at - levels.begin());
  }
  return kNoLevel;
}

}  // namespace

VendorLevels default_vendor_levels(const std::vector<std::string>& level_names) {
  VendorLevels out;
  out.super_pod = first_of(
      {"super-pod", "superpod", "superPodID", "huawei.com/topotree.superpodid"}, level_names);
  out.rack = first_of({"rack", "rackID", "huawei.com/topotree.rackid"}, level_names);
  out.ub_domain = first_of({"ub-domain", "ub"}, level_names);
  out.leaf =
      first_of({"tor", "leaf", "volcano.sh/tor", "network.topology.nvidia.com/leaf"}, level_names);
  out.nvlink =
      first_of({"nvlink-domain", "nvl", "nvidia.com/gpu.clique", "accelerator.topograph.run/domain",
                "network.topology.nvidia.com/accelerator", "ds.coreweave.com/nvlink.domain"},
               level_names);
  return out;
}

}  // namespace chipweave::domain

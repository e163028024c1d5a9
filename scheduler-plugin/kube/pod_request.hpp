// A Kubernetes pod as the decision core's PodRequest: which resource is an accelerator, how many
// chips, which group. The table of resource names is configurable.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/codec/kube/pod/pod.hpp"
#include "common/domain/vendor.hpp"
#include "scheduler-plugin/model/gangs/gang_mark.hpp"
#include "scheduler-plugin/model/pod.hpp"
#include "scheduler-plugin/state/cluster.hpp"

namespace chipweave::sched {

struct ResourceTable {
  // Whole chips of any vendor.
  std::vector<std::string> accelerators = domain::whole_chip_resources();
  // Fractions of chips, which are refused; a trailing '*' matches any suffix.
  std::vector<std::string> shared = {
      "nvidia.com/gpu.shared",   "nvidia.com/mig-*",    "nvidia.com/gpumem*",
      "nvidia.com/gpucores",     "nvidia.com/vgpu*",    "aliyun.com/gpu-*",
      "aliyun.com/gpu.*",        "huawei.com/npu-core", "huawei.com/Ascend910-*",
      "huawei.com/Ascend310P-*", "metax-tech.com/sgpu", "metax-tech.com/vcore",
      "metax-tech.com/vmemory",  "koordinator.sh/gpu*", "volcano.sh/vgpu*",
      "4paradigm.com/vgpu*"};
};

// What a bound pod uses, even if its request would be refused now.
struct ChipUse {
  std::string resource;
  // Whole chips, plus the smallest number of chips that its parts can be on: one for each shared
  // device, one for each started 7 g of MIG; amounts of memory or cores are parts of these devices
  // and count one chip, or one for each started 100 percent, only if that is more.
  int chips = 0;
  bool parts = false;  // it uses only parts of some chips
};

// A request that whole chips cannot serve (fractions, shared chips, two kinds of chip) has
// `refused` set, a message for the pod's owner, and 0 chips.
struct CountedRequest {
  PodRequest request;
  std::string refused;
  ChipUse used = {};
};
CountedRequest count_request(const codec::KubePod& pod, const ResourceTable& table);

// What the pod says about its gang; null: nothing. Some marks are set after the pod was made.
std::shared_ptr<const GangMark> gang_mark_of(const codec::KubePod& pod);

// What a bound pod takes from its node.
NodeUse use_of(const codec::KubePod& pod);

// What the pod requests besides the resources of the table.
OtherResources other_resources(const codec::KubePod& pod, const ResourceTable& table);

}  // namespace chipweave::sched

// What a Kubernetes pod asks for, in the words of the decision core: which of its resources are
// accelerators, how many chips, which group. The table of resource names is configuration.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/codec/kube/pod/pod.hpp"
#include "scheduler-plugin/app/model.hpp"

namespace chipweave::sched {

struct ResourceTable {
  // Whole chips of any vendor.
  std::vector<std::string> accelerators = {
      "nvidia.com/gpu",        "amd.com/gpu",          "metax-tech.com/gpu",
      "aliyun.com/gpu",        "huawei.com/Ascend910", "huawei.com/Ascend310",
      "huawei.com/Ascend310P", "huawei.com/npu",       "huawei.com/ascend-1980"};
  // Parts of chips, which are refused; a '*' at the end matches any rest.
  std::vector<std::string> shared = {
      "nvidia.com/gpu.shared",   "nvidia.com/mig-*",    "nvidia.com/gpumem*",
      "nvidia.com/gpucores",     "nvidia.com/vgpu*",    "aliyun.com/gpu-*",
      "aliyun.com/gpu.*",        "huawei.com/npu-core", "huawei.com/Ascend910-*",
      "huawei.com/Ascend310P-*", "metax-tech.com/sgpu", "metax-tech.com/vcore",
      "metax-tech.com/vmemory",  "koordinator.sh/gpu*", "volcano.sh/vgpu*",
      "4paradigm.com/vgpu*"};
};

// An ask whose chips cannot be served by whole chips (fractions, shared chips, two kinds of chip)
// has `refused` set: a sentence for the pod's owner. Its chips are 0 then.
struct CountedAsk {
  PodAsk ask;
  std::string refused;
};
CountedAsk count_ask(const codec::KubePod& pod, const ResourceTable& table);

}  // namespace chipweave::sched

#include "node-agent/probes/nvidia/nvml_facts.hpp"

#include <array>
#include <functional>
#include <string_view>
#include <vector>

#include "common/base/text.hpp"
#include "node-agent/probes/nvidia/nvml/nvml_abi.hpp"
#include "node-agent/probes/nvidia/nvml_signals.hpp"

namespace chipweave::agent {
namespace {

constexpr std::uint64_t kMib = std::uint64_t{1} << 20U;

// NVML counts NVLink's versions, revisions among them.
std::string nvlink_version(unsigned number) {
  constexpr std::array<std::string_view, 8> kVersions = {"",    "1.0", "2.0", "2.2",
                                                         "3.0", "3.1", "4.0", "5.0"};
  return number < kVersions.size() ? std::string(kVersions[number]) : "";
}

std::string clique_of(const NvmlDevice& device) {
  if (!device.fabric) return "";
  const NvmlFabric& fabric = *device.fabric;
  const bool joined = fabric.state == kNvmlFabricCompleted && fabric.status == nvml::kSuccess;
  if (!joined || fabric.cluster_uuid.empty()) return "";
  return fabric.cluster_uuid + "." + std::to_string(fabric.clique);
}

std::string version_of_links(const NvmlDevice& device) {
  for (const NvmlLink& link : device.links) {
    if (link.active && link.version) return nvlink_version(*link.version);
  }
  return "";
}

std::string sm_of(const NvmlDevice& device) {
  if (!device.sm) return "";
  return std::to_string(*device.sm / 10) + "." + std::to_string(*device.sm % 10);
}

std::string memory_of(const NvmlDevice& device) {
  return device.memory_bytes ? std::to_string(*device.memory_bytes / kMib) : "";
}

// The value that all working GPUs report; "" if they differ or one reports none.
std::string common(const NvmlSnapshot& snapshot,
                   const std::function<std::string(const NvmlDevice&)>& read) {
  std::string out;
  for (const NvmlDevice& device : snapshot.devices) {
    if (device.lost || !device.failure.empty()) continue;
    const std::string text = read(device);
    if (text.empty() || (!out.empty() && out != text)) return "";
    out = text;
  }
  return out;
}

std::string size_text(const NvmlMigInstance& instance) {
  return instance.memory_mib ? std::to_string(*instance.memory_mib) + " MiB" : "";
}

std::string short_instance(const NvmlMigInstance& instance) {
  const std::string size = size_text(instance);
  return profile_text(instance) + (size.empty() ? "" : " " + size);
}

std::string long_instance(const NvmlMigInstance& instance) {
  std::vector<std::string> parts = {profile_text(instance)};
  for (const std::string& text : {size_text(instance), instance.uuid}) {
    if (!text.empty()) parts.push_back(text);
  }
  if (instance.gpu_instance) {
    parts.push_back("GPU instance " + std::to_string(*instance.gpu_instance));
  }
  if (instance.compute_instance) {
    parts.push_back("compute instance " + std::to_string(*instance.compute_instance));
  }
  return joined(parts, ", ");
}

void add_mig(const NvmlSnapshot& snapshot, std::map<std::string, std::string>& out) {
  std::size_t single = 0;
  for (const NvmlDevice& device : snapshot.devices) {
    if (!device.mig || !device.mig->current) continue;
    const auto& instances = device.mig->instances;
    const std::string name = "mig." + std::to_string(device.index);
    out[name] = instances.empty() ? "no instances" : listed_instances(*device.mig, short_instance);
    for (std::size_t i = 0; i < instances.size() && single < kMaxMigFacts; ++i, ++single) {
      out[name + "." + std::to_string(i)] = long_instance(instances[i]);
    }
  }
}

}  // namespace

std::map<std::string, std::string> facts_of(const NvmlSnapshot& snapshot) {
  std::map<std::string, std::string> out;
  const auto put = [&out](const std::string& name, const std::string& text) {
    if (!text.empty()) out[name] = text;
  };
  put("driver", snapshot.driver);
  if (snapshot.cuda > 0) {
    put("cuda",
        std::to_string(snapshot.cuda / 1000) + "." + std::to_string(snapshot.cuda % 1000 / 10));
  }
  put("product", common(snapshot, [](const NvmlDevice& device) { return device.name; }));
  put("memory-mib", common(snapshot, memory_of));
  put("sm", common(snapshot, sm_of));
  put("nvlink.version", common(snapshot, version_of_links));
  put("fabric.clique", common(snapshot, clique_of));
  for (const NvmlDevice& device : snapshot.devices) {
    const std::string index = std::to_string(device.index);
    if (device.module) put("module." + index, std::to_string(*device.module));
  }
  add_mig(snapshot, out);
  return out;
}

}  // namespace chipweave::agent

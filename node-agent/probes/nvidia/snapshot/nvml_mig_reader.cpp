#include "node-agent/probes/nvidia/snapshot/nvml_mig_reader.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace chipweave::agent {
namespace {

constexpr std::size_t kMaxProfileBytes = 32;

// "1g.10gb" of "NVIDIA H100 80GB HBM3 MIG 1g.10gb", the name of an instance (NVML API reference,
// nvmlDeviceGetName: of a MIG device it returns the MIG device's name). "" if it is no such name,
// as with older drivers.
std::string profile_of_name(const std::string& name) {
  constexpr std::string_view kMark = " MIG ";
  const std::size_t at = name.rfind(kMark);
  if (at == std::string::npos) return "";
  std::string profile = name.substr(at + kMark.size());
  const bool valid = std::all_of(profile.begin(), profile.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '+' || c == '-' || c == ',';
  });
  const bool begins = !profile.empty() && std::isdigit(static_cast<unsigned char>(profile[0])) != 0;
  return valid && begins && profile.size() <= kMaxProfileBytes ? profile : "";
}

NvmlMigInstance read_instance(const NvmlFunctions& f, nvml::Device handle,
                              std::uint64_t gpu_bytes) {
  NvmlMigInstance out;
  std::array<char, nvml::kUuidBytes> uuid{};
  if (f.uuid(handle, uuid.data(), nvml::kUuidBytes) == nvml::kSuccess) {
    out.uuid = nvml_text(uuid.data(), uuid.size());
  }
  unsigned id = 0;
  if (f.gpu_instance(handle, &id) == nvml::kSuccess) out.gpu_instance = id;
  if (f.compute_instance(handle, &id) == nvml::kSuccess) out.compute_instance = id;
  nvml::DeviceAttributes attributes{};
  if (f.attributes(handle, &attributes) == nvml::kSuccess) {
    out.gpu_slices = attributes.gpu_slices;
    out.memory_mib = attributes.memory_mib;
    out.profile = mig_profile(attributes, gpu_bytes);
  }
  std::array<char, nvml::kNameBytes> name{};
  if (f.name(handle, name.data(), nvml::kNameBytes) == nvml::kSuccess) {
    std::string profile = profile_of_name(nvml_text(name.data(), name.size()));
    if (!profile.empty()) out.profile = std::move(profile);
  }
  return out;
}

}  // namespace

// The name has not the instance's own memory but its share of the GPU's in whole eighths, rounded
// up: 9984 MiB of 80 GiB are one eighth, "10gb". Source: NVIDIA's go-nvlib, mig_profile.go in
// pkg/nvlib/device, from which its device plugin names resources; names: MIG user guide.
std::string mig_profile(const nvml::DeviceAttributes& instance, std::uint64_t gpu_bytes) {
  constexpr std::uint64_t kMibBytes = std::uint64_t{1} << 20U;
  constexpr std::uint64_t kGibBytes = std::uint64_t{1} << 30U;
  constexpr std::uint64_t kParts = 8;
  constexpr std::uint64_t kMaxBytes = kGibBytes << 20U;  // above it, the answer is garbage
  if (instance.gpu_slices == 0 || instance.memory_mib == 0) return "";
  if (gpu_bytes < kMibBytes || gpu_bytes > kMaxBytes) return "";
  const std::uint64_t memory = std::min(instance.memory_mib, gpu_bytes / kMibBytes) * kMibBytes;
  const std::uint64_t parts = (memory * kParts + gpu_bytes - 1) / gpu_bytes;
  const std::uint64_t gpu_gib = (gpu_bytes + kGibBytes - 1) / kGibBytes;
  const std::uint64_t gigabytes = (parts * gpu_gib + kParts / 2) / kParts;
  const std::uint32_t compute = instance.compute_slices;
  const bool part = compute != 0 && compute != instance.gpu_slices;
  return (part ? std::to_string(compute) + "c." : "") + std::to_string(instance.gpu_slices) + "g." +
         std::to_string(gigabytes) + "gb";
}

void read_mig_instances(NvmlQuery& query, std::uint64_t gpu_bytes, NvmlMig& mig) {
  unsigned most = 0;
  const NvmlFunctions& f = query.functions();
  mig.all_read = query.call(f.mig_most, &most);
  for (unsigned i = 0; i < std::min(most, kMaxMigInstances); ++i) {
    nvml::Device handle = nullptr;
    const nvml::Code code = f.mig_handle(query.handle(), i, &handle);
    // A number without an instance is a gap, not the end.
    if (code == nvml::kNotFound || f.mig_handle.function == nullptr) continue;
    if (code != nvml::kSuccess) {
      query.failure(f.mig_handle.name, code);
      mig.all_read = false;
    } else if (handle != nullptr) {
      mig.instances.push_back(read_instance(f, handle, gpu_bytes));
    }
  }
}

}  // namespace chipweave::agent

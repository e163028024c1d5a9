// Vendor and model names of PCI ids, and lane rates of architectures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chipweave::codec {

inline constexpr std::uint32_t kPciNvidia = 0x10de;
inline constexpr std::uint32_t kPciAmd = 0x1002;

// "nvidia", "amd" or "" for any other vendor.
std::string_view vendor_word(std::uint32_t pci_vendor);
// Model of a device id ("H100-SXM5-80GB"); "" if it is not known for sure.
std::string_view model_of_device(std::uint32_t pci_vendor, std::uint32_t device);
// The other way round; nullopt if no device id of the table has exactly this model.
std::optional<std::pair<std::uint32_t, std::uint32_t>> device_of_model(std::string_view model);

// GB/s one way of one NVLink as NCCL assumes it, by compute capability (90 = sm_90). nullopt:
// unknown.
std::optional<double> nvlink_gbps_of_sm(int sm);
// GB/s one way of one XGMI link as RCCL assumes it: "906", "910", "gfx90a", "gfx942", … nullopt:
// unknown.
std::optional<double> xgmi_gbps_of_arch(std::string_view arch);
// KFD's gfx_target_version (90010 = gfx90a) as such a word.
std::string arch_of_gfx_version(std::uint64_t version);

// One value for a whole machine from those of its chips: the value they share, `mixed` if they
// differ.
std::string common_text(const std::vector<std::string>& values, std::string_view mixed);

}  // namespace chipweave::codec

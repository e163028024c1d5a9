#include "common/codec/topology/hardware/device_models.hpp"

#include <algorithm>
#include <array>

#include "common/base/text.hpp"

namespace chipweave::codec {
namespace {

struct Device {
  std::uint32_t vendor;
  std::uint32_t device;
  std::string_view model;
};

constexpr std::array<Device, 32> kDevices = {{
    {kPciNvidia, 0x15f8, "P100-PCIE-16GB"},
    {kPciNvidia, 0x15f9, "P100-SXM2-16GB"},
    {kPciNvidia, 0x1db1, "V100-SXM2-16GB"},
    {kPciNvidia, 0x1db4, "V100-PCIE-16GB"},
    {kPciNvidia, 0x1db5, "V100-SXM2-32GB"},
    {kPciNvidia, 0x1db6, "V100-PCIE-32GB"},
    {kPciNvidia, 0x1db8, "V100-SXM3-32GB"},
    {kPciNvidia, 0x1eb8, "T4"},
    {kPciNvidia, 0x20b0, "A100-SXM4-40GB"},
    {kPciNvidia, 0x20b2, "A100-SXM4-80GB"},
    {kPciNvidia, 0x20b5, "A100-PCIE-80GB"},
    {kPciNvidia, 0x20b7, "A30"},
    {kPciNvidia, 0x20f1, "A100-PCIE-40GB"},
    {kPciNvidia, 0x2235, "A40"},
    {kPciNvidia, 0x2330, "H100-SXM5-80GB"},
    {kPciNvidia, 0x2331, "H100-PCIE-80GB"},
    {kPciNvidia, 0x2335, "H200-SXM5-141GB"},
    {kPciNvidia, 0x26b9, "L40S"},
    {kPciNvidia, 0x2901, "B200"},
    {kPciNvidia, 0x2941, "GB200"},
    {kPciAmd, 0x66a0, "Vega20"},
    {kPciAmd, 0x66a1, "Vega20"},
    {kPciAmd, 0x6860, "Vega10"},
    {kPciAmd, 0x6863, "Vega10"},
    {kPciAmd, 0x738c, "MI100"},
    {kPciAmd, 0x7388, "MI100"},
    {kPciAmd, 0x7408, "MI250X"},
    {kPciAmd, 0x740c, "MI250X"},
    {kPciAmd, 0x740f, "MI210"},
    {kPciAmd, 0x74a0, "MI300A"},
    {kPciAmd, 0x74a1, "MI300X"},
    {kPciAmd, 0x74b5, "MI300X"},
}};

}  // namespace

std::string_view vendor_word(std::uint32_t pci_vendor) {
  if (pci_vendor == kPciNvidia) return "nvidia";
  return pci_vendor == kPciAmd ? "amd" : "";
}

std::string_view model_of_device(std::uint32_t pci_vendor, std::uint32_t device) {
  for (const Device& row : kDevices) {
    if (row.vendor == pci_vendor && row.device == device) return row.model;
  }
  return "";
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> device_of_model(std::string_view model) {
  for (const Device& row : kDevices) {
    if (row.model == model) return std::pair(row.vendor, row.device);
  }
  return std::nullopt;
}

std::optional<double> nvlink_gbps_of_sm(int sm) {
  if (sm >= 100) return 40.1;
  if (sm >= 90) return 20.6;
  if (sm >= 86) return 12.0;
  if (sm >= 70) return 20.0;
  if (sm >= 60) return 18.0;
  return std::nullopt;
}

std::optional<double> xgmi_gbps_of_arch(std::string_view arch) {
  arch = trim(arch);
  if (arch.substr(0, 3) == "gfx") arch.remove_prefix(3);
  for (const std::string_view older : {"906", "908", "910", "90a"}) {
    if (arch == older) return 36.0;
  }
  for (const std::string_view newer : {"940", "941", "942"}) {
    if (arch == newer) return 48.0;
  }
  if (arch == "950") return 57.6;
  return std::nullopt;
}

std::string arch_of_gfx_version(std::uint64_t version) {
  if (version == 0) return "";
  constexpr std::string_view kHex = "0123456789abcdef";
  return "gfx" + std::to_string(version / 10000) + kHex[version / 100 % 100 % 16] +
         kHex[version % 100 % 16];
}

std::string common_text(const std::vector<std::string>& values, std::string_view mixed) {
  if (values.empty()) return "";
  const bool same = std::all_of(values.begin(), values.end(),
                                [&](const std::string& v) { return v == values[0]; });
  return same ? values[0] : std::string(mixed);
}

}  // namespace chipweave::codec

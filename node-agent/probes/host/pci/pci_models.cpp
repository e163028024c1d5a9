#include "node-agent/probes/host/pci/pci_models.hpp"

#include "common/codec/topology/hardware/device_models.hpp"

namespace chipweave::agent {

std::string pci_model(std::uint32_t vendor, std::uint32_t device) {
  constexpr std::uint32_t kHuawei = 0x19e5;
  if (vendor != kHuawei) return std::string(codec::model_of_device(vendor, device));
  switch (device) {
    case 0xd100:
      return "Ascend310";
    case 0xd500:
      return "Ascend310P";
    case 0xd801:
      return "Ascend910";
    case 0xd802:
      return "Ascend910B";
    case 0xd803:
      return "Ascend910_93";
    default:
      return "";
  }
}

}  // namespace chipweave::agent

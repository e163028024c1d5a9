// The functions about connections between devices: PCIe levels and NVLinks.
#include <algorithm>

#include "tests/fakes/nvml/scenario.hpp"

namespace nvml = chipweave::agent::nvml;
using chipweave::fake_nvml::enter;
using chipweave::fake_nvml::Json;
using chipweave::fake_nvml::number;
using nvml::Device;

namespace {

// The facts of one link. A number beyond the hardware's is an invalid argument.
nvml::Code find_link(const Json& device, unsigned at, const Json*& link) {
  const auto links = device.find("links");
  if (links == device.end()) return nvml::kNotSupported;
  for (const Json& one : *links) {
    if (one.at("link").get<unsigned>() != at) continue;
    link = &one;
    return nvml::kSuccess;
  }
  return nvml::kInvalidArgument;
}

nvml::Code enter_link(const char* function, Device handle, unsigned at, const Json*& link) {
  const Json* device = nullptr;
  if (const nvml::Code code = enter(function, handle, device)) return code;
  return find_link(*device, at, link);
}

template <class T>
nvml::Code answer_link(const char* function, Device handle, unsigned at, const char* key, T* to) {
  const Json* link = nullptr;
  if (const nvml::Code code = enter_link(function, handle, at, link)) return code;
  return number(*link, key, to) ? nvml::kSuccess : nvml::kNotSupported;
}

nvml::Code answer_remote(const char* function, Device handle, unsigned at, nvml::PciInfo* info) {
  const Json* link = nullptr;
  if (const nvml::Code code = enter_link(function, handle, at, link)) return code;
  if (!link->contains("remote")) return nvml::kNotSupported;
  chipweave::fake_nvml::fill_pci((*link)["remote"], info);
  return nvml::kSuccess;
}

#ifndef CHIPWEAVE_FAKE_OLD_DRIVER

// The key of a field of links; null for other fields.
const char* link_key(std::uint32_t field) {
  switch (field) {
    case nvml::kFieldLinkState:
      return "field_state";
    case nvml::kFieldLinkReplay:
      return "field_replay";
    case nvml::kFieldLinkRecovery:
      return "field_recovery";
    case nvml::kFieldLinkCrc:
      return "field_crc";
    case nvml::kFieldLinkRecoveryEvents:
      return "field_recovery_events";
    case nvml::kFieldLinkDataSent:
      return "sent_kib";
    case nvml::kFieldLinkDataReceived:
      return "received_kib";
    case nvml::kFieldLinkBytesSent:
      return "sent_bytes";
    case nvml::kFieldLinkBytesReceived:
      return "received_bytes";
    default:
      return nullptr;
  }
}

// The key of a field of the device; null for other fields.
const char* device_key(std::uint32_t field) {
  switch (field) {
    case nvml::kFieldRecoveryAction:
      return "recovery_action";
    case nvml::kFieldMemoryTemperature:
      return "memory_temperature";
    case nvml::kFieldPcieBytesSent:
      return "pcie_sent";
    case nvml::kFieldPcieBytesReceived:
      return "pcie_received";
    default:
      return nullptr;
  }
}

// A wide number, unless the scenario has "pcie_32_bit".
bool is_wide(const Json& device, std::uint32_t field) {
  if (field == nvml::kFieldPcieBytesSent || field == nvml::kFieldPcieBytesReceived) {
    return !device.value("pcie_32_bit", false);
  }
  return field != nvml::kFieldLinkState && link_key(field) != nullptr;
}

void fill_field(const Json& device, nvml::FieldValue& value) {
  const Json* of = &device;
  const char* key = link_key(value.field);
  value.result = nvml::kSuccess;
  if (key != nullptr) {
    value.result = find_link(device, value.scope, of);
  } else {
    key = device_key(value.field);
    if (key == nullptr) value.result = nvml::kNotSupported;
  }
  if (value.result != nvml::kSuccess) return;
  // The rest of the union stays unchanged: a small number is in its low half.
  unsigned small = 0;
  const bool wide = is_wide(device, value.field);
  value.value_type = wide ? nvml::kUnsignedLongLong : nvml::kUnsignedInt;
  const bool known = wide ? number(*of, key, &value.value) : number(*of, key, &small);
  if (!wide) value.value = 0xdeadbeef00000000U | small;
  if (!known) value.result = nvml::kNotSupported;
}

#endif

}  // namespace

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetNvLinkErrorCounter(Device d, unsigned at,
                                                                   int counter,
                                                                   std::uint64_t* errors) {
  constexpr const char* kKeys[] = {"replay", "recovery", "crc"};
  if (counter < 0 || counter > nvml::kLinkCrcFlit) return nvml::kNotSupported;
  return answer_link("nvmlDeviceGetNvLinkErrorCounter", d, at, kKeys[counter], errors);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetTopologyCommonAncestor(Device a, Device b,
                                                                       int* level) {
  const Json* device = nullptr;
  const char* function = "nvmlDeviceGetTopologyCommonAncestor";
  if (const nvml::Code code = enter(function, a, device)) return code;
  if (const nvml::Code code = enter(function, b, device)) return code;
  const Json& scenario = chipweave::fake_nvml::scenario();
  *level = scenario.value("level", nvml::kLevelSystem);
  const std::size_t one = chipweave::fake_nvml::place_of(a);
  const std::size_t other = chipweave::fake_nvml::place_of(b);
  for (const Json& pair : scenario.value("levels", Json::array())) {
    if (pair.at("a") == std::min(one, other) && pair.at("b") == std::max(one, other))
      *level = pair.at("level").get<int>();
  }
  return nvml::kSuccess;
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetNvLinkState(Device d, unsigned at, int* active) {
  return answer_link("nvmlDeviceGetNvLinkState", d, at, "state", active);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetNvLinkVersion(Device d, unsigned at,
                                                              unsigned* version) {
  return answer_link("nvmlDeviceGetNvLinkVersion", d, at, "version", version);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetNvLinkCapability(Device d, unsigned at,
                                                                 int capability, unsigned* has) {
  if (capability != nvml::kCapabilityP2p) return nvml::kNotSupported;
  return answer_link("nvmlDeviceGetNvLinkCapability", d, at, "p2p", has);
}

#ifdef CHIPWEAVE_FAKE_OLD_DRIVER

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetNvLinkRemotePciInfo(Device d, unsigned at,
                                                                    nvml::PciInfo* info) {
  return answer_remote("nvmlDeviceGetNvLinkRemotePciInfo", d, at, info);
}

#else

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetNvLinkRemotePciInfo_v2(Device d, unsigned at,
                                                                       nvml::PciInfo* info) {
  return answer_remote("nvmlDeviceGetNvLinkRemotePciInfo_v2", d, at, info);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetNvLinkRemoteDeviceType(Device d, unsigned at,
                                                                       int* type) {
  return answer_link("nvmlDeviceGetNvLinkRemoteDeviceType", d, at, "type", type);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetFieldValues(Device d, int count,
                                                            nvml::FieldValue* values) {
  const Json* device = nullptr;
  if (const nvml::Code code = enter("nvmlDeviceGetFieldValues", d, device)) return code;
  std::for_each(values, values + count,
                [device](nvml::FieldValue& value) { fill_field(*device, value); });
  return nvml::kSuccess;
}

#endif

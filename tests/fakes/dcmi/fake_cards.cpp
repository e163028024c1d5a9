// The functions that address a device by its card and its number on the card. Old drivers lack
// some.
#include <string>

#include "tests/fakes/dcmi/measurements.hpp"

namespace dcmi = chipweave::agent::dcmi;
namespace fake = chipweave::fake_dcmi;
using chipweave::fake_dcmi::enter;
using chipweave::fake_dcmi::Json;
using dcmi::Code;

namespace {

template <class T>
Code answer(const char* function, int card, int number, const char* key, T* to) {
  const Json* device = nullptr;
  if (const Code code = enter(function, card, number, device)) return code;
  return fake::number(*device, key, to) ? dcmi::kSuccess : dcmi::kNotSupported;
}

}  // namespace

CHIPWEAVE_FAKE_DCMI_API Code dcmi_init() { return enter("dcmi_init"); }

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_driver_version(char* text, unsigned length) {
  if (const Code code = enter("dcmi_get_driver_version")) return code;
  fake::copy_text(fake::scenario().value("driver", "0"), text, length);
  return dcmi::kSuccess;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_card_list(int* count, int* cards, int length) {
  if (const Code code = enter("dcmi_get_card_list")) return code;
  *count = 0;
  for (const Json& card : fake::scenario().value("cards", Json::array())) {
    if (*count < length) cards[(*count)++] = card.at("card").get<int>();
  }
  *count = fake::scenario().value("card_count", *count);
  return dcmi::kSuccess;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_num_in_card(int card, int* count) {
  const Json* of = nullptr;
  if (const Code code = fake::enter_card("dcmi_get_device_num_in_card", card, of)) return code;
  const int devices = static_cast<int>((*of)["devices"].size());
  *count = devices + (of->value("mcu", -1) >= 0 ? 1 : 0);  // it counts the MCU, too
  return dcmi::kSuccess;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_logic_id(int* logic, int card, int number) {
  return answer("dcmi_get_device_logic_id", card, number, "logic", logic);
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_phyid_from_logicid(unsigned logic,
                                                                unsigned* physical) {
  if (const Code code = enter("dcmi_get_device_phyid_from_logicid")) return code;
  for (const Json& card : fake::scenario().value("cards", Json::array())) {
    for (const Json& device : card.at("devices")) {
      if (device.value("logic", -1) != static_cast<int>(logic)) continue;
      return fake::number(device, "physical", physical) ? dcmi::kSuccess : dcmi::kNotSupported;
    }
  }
  return dcmi::kInvalidId;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_health(int card, int number, unsigned* health) {
  return answer("dcmi_get_device_health", card, number, "health", health);
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_network_health(int card, int number, int* state) {
  return answer("dcmi_get_device_network_health", card, number, "network", state);
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_errorcode_v2(int card, int number, int* count,
                                                          unsigned* codes, unsigned length) {
  const Json* device = nullptr;
  const Code code = enter("dcmi_get_device_errorcode_v2", card, number, device);
  return code == dcmi::kSuccess ? fake::fill_errors(*device, count, codes, length) : code;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_ip(int card, int number, int port_type, int port,
                                                dcmi::IpAddress* ip, dcmi::IpAddress* /*mask*/) {
  const Json* device = nullptr;
  if (const Code code = enter("dcmi_get_device_ip", card, number, device)) return code;
  if (port_type != dcmi::kPortRoce || port != 0) return dcmi::kInvalidParameter;
  const bool v6 = ip->type == dcmi::kIpv6;
  const auto bytes = device->find(v6 ? "ip6" : "ip");
  if (bytes == device->end()) return v6 ? dcmi::kNotSupported : dcmi::kSuccess;
  for (std::size_t i = 0; i < bytes->size(); ++i) ip->bytes[i] = (*bytes)[i];
  return dcmi::kSuccess;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_chip_info_v2(int card, int number,
                                                          dcmi::ChipInfo* info) {
  const Json* device = nullptr;
  const Code code = enter("dcmi_get_device_chip_info_v2", card, number, device);
  return code == dcmi::kSuccess ? fake::fill_chip(*device, info) : code;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_info(int card, int number, int command, unsigned sub,
                                                  void* buffer, unsigned* size) {
  const Json* device = nullptr;
  const Code code = enter("dcmi_get_device_info", card, number, device);
  return code == dcmi::kSuccess ? fake::fill_info(*device, command, sub, buffer, size) : code;
}

#ifndef CHIPWEAVE_FAKE_OLD_DRIVER

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_id_in_card(int card, int* most, int* mcu, int* cpu) {
  const Json* of = nullptr;
  if (const Code code = fake::enter_card("dcmi_get_device_id_in_card", card, of)) return code;
  *most = of->value("device_id_max", static_cast<int>((*of)["devices"].size()));
  *mcu = of->value("mcu", -1);
  *cpu = of->value("cpu", -1);
  return dcmi::kSuccess;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_errorcode_string(int card, int number, unsigned code,
                                                              unsigned char* text, int length) {
  const Json* device = nullptr;
  const char* function = "dcmi_get_device_errorcode_string";
  if (const Code failed = enter(function, card, number, device)) return failed;
  constexpr const char* kHex = "0123456789abcdef";
  std::string key;
  for (int shift = 28; shift >= 0; shift -= 4)
    key += kHex[(code >> static_cast<unsigned>(shift)) & 15U];
  const Json texts = device->value("texts", Json::object());
  if (!texts.contains(key)) return dcmi::kInvalidParameter;
  fake::copy_text(texts[key], reinterpret_cast<char*>(text), static_cast<std::size_t>(length));
  return dcmi::kSuccess;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_board_info(int card, int number,
                                                        dcmi::BoardInfo* info) {
  const Json* device = nullptr;
  const Code code = enter("dcmi_get_device_board_info", card, number, device);
  return code == dcmi::kSuccess ? fake::fill_board(*device, info) : code;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_topo_info_by_device_id(int card, int number, int other_card,
                                                             int other_number, int* type) {
  const Json* device = nullptr;
  const char* function = "dcmi_get_topo_info_by_device_id";
  if (const Code code = enter(function, card, number, device)) return code;
  if (const Code code = enter(function, other_card, other_number, device)) return code;
  return fake::fill_topo(fake::place_of(card, number), fake::place_of(other_card, other_number),
                         type);
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_affinity_cpu_info_by_device_id(int card, int number,
                                                                     char* cpus, int* length) {
  const Json* device = nullptr;
  const char* function = "dcmi_get_affinity_cpu_info_by_device_id";
  if (const Code code = enter(function, card, number, device)) return code;
  if (!device->contains("cpus")) return dcmi::kNotSupported;
  fake::copy_text((*device)["cpus"], cpus, static_cast<std::size_t>(*length));
  return dcmi::kSuccess;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_subscribe_fault_event(int card, int number,
                                                        dcmi::EventFilter filter,
                                                        dcmi::OnEvent* on_event) {
  if (const Code code = enter("dcmi_subscribe_fault_event")) return code;
  const bool all = card == dcmi::kAllDevices && number == dcmi::kAllDevices && filter.flags == 0;
  return all ? fake::subscribe(on_event) : dcmi::kInvalidParameter;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_temperature(int card, int number, int* to) {
  return answer("dcmi_get_device_temperature", card, number, "celsius", to);
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_power_info(int card, int number, int* to) {
  return answer("dcmi_get_device_power_info", card, number, "power", to);
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_utilization_rate(int card, int number, int of,
                                                              unsigned* to) {
  if (of != dcmi::kAiCoreUtilization) return dcmi::kNotSupported;
  return answer("dcmi_get_device_utilization_rate", card, number, "load", to);
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_frequency(int card, int number, int of, unsigned* to) {
  if (of != dcmi::kAiCoreFrequency) return dcmi::kNotSupported;
  return answer("dcmi_get_device_frequency", card, number, "mhz", to);
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_hbm_info(int card, int number, dcmi::HbmInfo* info) {
  const Json* device = nullptr;
  const Code code = enter("dcmi_get_device_hbm_info", card, number, device);
  return code == dcmi::kSuccess ? fake::fill_hbm(*device, info) : code;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_device_ecc_info(int card, int number, int of,
                                                      dcmi::EccInfo* info) {
  const Json* device = nullptr;
  const Code code = enter("dcmi_get_device_ecc_info", card, number, device);
  return code == dcmi::kSuccess ? fake::fill_ecc(*device, of, info) : code;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmi_get_hccs_link_bandwidth_info(int card, int number,
                                                               dcmi::HccsBandwidth* info) {
  const Json* device = nullptr;
  const Code code = enter("dcmi_get_hccs_link_bandwidth_info", card, number, device);
  return code == dcmi::kSuccess ? fake::fill_bandwidth(*device, info) : code;
}

#endif

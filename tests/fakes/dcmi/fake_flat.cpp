// The flat family of A5: a device is one number, here its place over all cards.
#include "tests/fakes/dcmi/measurements.hpp"

namespace dcmi = chipweave::agent::dcmi;
namespace fake = chipweave::fake_dcmi;
using chipweave::fake_dcmi::enter;
using chipweave::fake_dcmi::Json;
using dcmi::Code;

namespace {

template <class T>
Code answer(const char* function, int place, const char* key, T* to) {
  const Json* device = nullptr;
  if (const Code code = enter(function, place, device)) return code;
  return fake::number(*device, key, to) ? dcmi::kSuccess : dcmi::kNotSupported;
}

}  // namespace

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_init() { return enter("dcmiv2_init"); }

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_get_device_list(int* devices, int* count, int length) {
  if (const Code code = enter("dcmiv2_get_device_list")) return code;
  *count = 0;
  while (*count < length && *count < static_cast<int>(fake::device_count())) {
    devices[*count] = *count;
    ++*count;
  }
  *count = fake::scenario().value("card_count", *count);
  return dcmi::kSuccess;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_get_chip_phy_id_by_dev_id(unsigned place, unsigned* physical) {
  return answer("dcmiv2_get_chip_phy_id_by_dev_id", static_cast<int>(place), "physical", physical);
}

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_get_device_health(int place, unsigned* health) {
  return answer("dcmiv2_get_device_health", place, "health", health);
}

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_get_device_network_health(int place, int* state) {
  return answer("dcmiv2_get_device_network_health", place, "network", state);
}

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_get_device_error_code_list(int place, int* count,
                                                               unsigned* codes, unsigned length) {
  const Json* device = nullptr;
  const Code code = enter("dcmiv2_get_device_error_code_list", place, device);
  return code == dcmi::kSuccess ? fake::fill_errors(*device, count, codes, length) : code;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_get_device_chip_info(int place, dcmi::ChipInfo* info) {
  const Json* device = nullptr;
  const Code code = enter("dcmiv2_get_device_chip_info", place, device);
  return code == dcmi::kSuccess ? fake::fill_chip(*device, info) : code;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_get_device_board_info(int place, dcmi::BoardInfo* info) {
  const Json* device = nullptr;
  const Code code = enter("dcmiv2_get_device_board_info", place, device);
  return code == dcmi::kSuccess ? fake::fill_board(*device, info) : code;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_get_device_info(int place, int command, unsigned sub,
                                                    void* buffer, unsigned* size) {
  const Json* device = nullptr;
  const Code code = enter("dcmiv2_get_device_info", place, device);
  return code == dcmi::kSuccess ? fake::fill_info(*device, command, sub, buffer, size) : code;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_get_topo_info_by_device_id(int place, int other, int* type) {
  const Json* device = nullptr;
  const char* function = "dcmiv2_get_topo_info_by_device_id";
  if (const Code code = enter(function, place, device)) return code;
  if (const Code code = enter(function, other, device)) return code;
  return fake::fill_topo(place, other, type);
}

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_subscribe_fault_event(int place, dcmi::EventFilter filter,
                                                          dcmi::OnEvent* on_event) {
  if (const Code code = enter("dcmiv2_subscribe_fault_event")) return code;
  const bool all = place == dcmi::kAllDevices && filter.flags == 0;
  return all ? fake::subscribe(on_event) : dcmi::kInvalidParameter;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_get_device_temperature(int place, int* to) {
  return answer("dcmiv2_get_device_temperature", place, "celsius", to);
}

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_get_device_power_info(int place, int* to) {
  return answer("dcmiv2_get_device_power_info", place, "power", to);
}

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_get_device_utilization_rate(int place, int of, unsigned* to) {
  if (of != dcmi::kAiCoreUtilization) return dcmi::kNotSupported;
  return answer("dcmiv2_get_device_utilization_rate", place, "load", to);
}

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_get_device_frequency(int place, int of, unsigned* to) {
  if (of != dcmi::kAiCoreFrequency) return dcmi::kNotSupported;
  return answer("dcmiv2_get_device_frequency", place, "mhz", to);
}

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_get_device_hbm_info(int place, dcmi::HbmInfo* info) {
  const Json* device = nullptr;
  const Code code = enter("dcmiv2_get_device_hbm_info", place, device);
  return code == dcmi::kSuccess ? fake::fill_hbm(*device, info) : code;
}

CHIPWEAVE_FAKE_DCMI_API Code dcmiv2_get_device_ecc_info(int place, int of, dcmi::EccInfo* info) {
  const Json* device = nullptr;
  const Code code = enter("dcmiv2_get_device_ecc_info", place, device);
  return code == dcmi::kSuccess ? fake::fill_ecc(*device, of, info) : code;
}

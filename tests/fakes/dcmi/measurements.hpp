// What a scenario's device measures, for both families:
// "celsius": 45, "power": 3105 (0.1 W), "load": 87 (percent), "mhz": 1800,
// "gbps": sent and received over each HCCS link,
// "hbm": [MiB, MHz, MiB in use, degrees, percent], "ecc": [enabled, single, double].
#pragma once

#include "tests/fakes/dcmi/scenario.hpp"

namespace chipweave::fake_dcmi {

inline dcmi::Code fill_hbm(const Json& device, dcmi::HbmInfo* info) {
  if (!device.contains("hbm")) return dcmi::kNotSupported;
  const Json& hbm = device["hbm"];
  *info = {hbm.at(0), hbm.at(1), hbm.at(2), hbm.at(3), hbm.at(4)};
  return dcmi::kSuccess;
}

// "ecc" is of its HBM, or of its DDR if it has none.
inline dcmi::Code fill_ecc(const Json& device, int of, dcmi::EccInfo* info) {
  const bool hbm = device.contains("hbm");
  if (!device.contains("ecc") || of != (hbm ? dcmi::kEccOfHbm : dcmi::kEccOfDdr)) {
    return dcmi::kNotSupported;
  }
  const Json& ecc = device["ecc"];
  *info = {ecc.at(0), ecc.at(1), ecc.at(2), 1'000'000, 1'000'000, 0, 0};
  return dcmi::kSuccess;
}

inline dcmi::Code fill_bandwidth(const Json& device, dcmi::HccsBandwidth* info) {
  if (info->profiling_ms < 1 || info->profiling_ms > 1000) return dcmi::kInvalidParameter;
  if (!device.contains("gbps")) return dcmi::kNotSupported;
  for (std::size_t pcs = 0; pcs < dcmi::kMaxPcs; ++pcs) {
    info->sent[pcs] = device["gbps"].at(0);
    info->received[pcs] = device["gbps"].at(1);
  }
  return dcmi::kSuccess;
}

}  // namespace chipweave::fake_dcmi

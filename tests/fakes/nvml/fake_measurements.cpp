// The functions that measure one device.
#include "tests/fakes/nvml/scenario.hpp"

namespace nvml = chipweave::agent::nvml;
using chipweave::fake_nvml::answer;
using chipweave::fake_nvml::enter;
using chipweave::fake_nvml::Json;
using chipweave::fake_nvml::number;
using nvml::Device;

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetPowerUsage(Device d, unsigned* milliwatts) {
  return answer("nvmlDeviceGetPowerUsage", d, "power_mw", milliwatts);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetClockInfo(Device d, int type, unsigned* mhz) {
  if (type != nvml::kClockSm) return nvml::kNotSupported;
  return answer("nvmlDeviceGetClockInfo", d, "clock_mhz", mhz);
}

// "utilization": [busy, memory], in percent.
CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetUtilizationRates(Device d,
                                                                 nvml::Utilization* load) {
  const Json* device = nullptr;
  if (const nvml::Code code = enter("nvmlDeviceGetUtilizationRates", d, device)) return code;
  if (!device->contains("utilization")) return nvml::kNotSupported;
  load->gpu = (*device)["utilization"].at(0).get<unsigned>();
  load->memory = (*device)["utilization"].at(1).get<unsigned>();
  return nvml::kSuccess;
}

#ifdef CHIPWEAVE_FAKE_OLD_DRIVER

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetTemperature(Device d, int sensor,
                                                            unsigned* celsius) {
  if (sensor != nvml::kTemperatureGpu) return nvml::kNotSupported;
  return answer("nvmlDeviceGetTemperature", d, "temperature", celsius);
}

#else

// A driver that has only the newer of the two functions.
CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetTemperatureV(Device d, nvml::Temperature* heat) {
  if (heat->version != nvml::kTemperatureV1) return nvml::kVersionMismatch;
  if (heat->sensor != nvml::kTemperatureGpu) return nvml::kNotSupported;
  return answer("nvmlDeviceGetTemperatureV", d, "temperature", &heat->celsius);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetMemoryInfo_v2(Device d, nvml::MemoryV2* memory) {
  if (memory->version != nvml::kMemoryV2) return nvml::kVersionMismatch;
  const Json* device = nullptr;
  if (const nvml::Code code = enter("nvmlDeviceGetMemoryInfo_v2", d, device)) return code;
  if (!number(*device, "memory", &memory->total)) return nvml::kNotSupported;
  return number(*device, "memory_used", &memory->used) ? nvml::kSuccess : nvml::kNotSupported;
}

#endif

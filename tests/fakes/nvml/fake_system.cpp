// The functions about the library itself and about which devices there are.
#include "tests/fakes/nvml/scenario.hpp"

namespace nvml = chipweave::agent::nvml;
using chipweave::fake_nvml::copy_text;
using chipweave::fake_nvml::enter;
using chipweave::fake_nvml::handle_of;
using chipweave::fake_nvml::scenario;

namespace {

nvml::Code start(const char* function) {
  if (!chipweave::fake_nvml::load_scenario()) return nvml::kDriverNotLoaded;
  const nvml::Code code = enter(function);
  if (code != nvml::kSuccess) chipweave::fake_nvml::drop_scenario();  // it has not started
  return code;
}

nvml::Code count_devices(const char* function, unsigned* count) {
  if (const nvml::Code code = enter(function)) return code;
  if (!chipweave::fake_nvml::number(scenario(), "count", count)) {
    *count = static_cast<unsigned>(scenario().at("devices").size());
  }
  return nvml::kSuccess;
}

nvml::Code find_device(const char* function, unsigned at, nvml::Device* device) {
  *device = handle_of(at);
  const chipweave::fake_nvml::Json* facts = nullptr;
  return enter(function, *device, facts);
}

}  // namespace

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlShutdown() {
  chipweave::fake_nvml::drop_scenario();
  return nvml::kSuccess;
}

CHIPWEAVE_FAKE_NVML_API const char* nvmlErrorString(nvml::Code code) {
  switch (code) {
    case nvml::kSuccess:
      return "Success";
    case nvml::kInvalidArgument:
      return "Invalid Argument";
    case nvml::kNotSupported:
      return "Not Supported";
    case nvml::kDriverNotLoaded:
      return "Driver Not Loaded";
    case nvml::kGpuIsLost:
      return "GPU is lost";
    case nvml::kLibraryMismatch:
      return "Driver/library version mismatch";
    default:
      return code < 0 ? nullptr : "Unknown Error";
  }
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlSystemGetDriverVersion(char* text, unsigned size) {
  if (const nvml::Code code = enter("nvmlSystemGetDriverVersion")) return code;
  copy_text(scenario().value("driver", "0"), text, size);
  return nvml::kSuccess;
}

namespace {

nvml::Code answer_cuda(const char* function, int* version) {
  if (const nvml::Code code = enter(function)) return code;
  return chipweave::fake_nvml::number(scenario(), "cuda", version) ? nvml::kSuccess
                                                                   : nvml::kNotSupported;
}

}  // namespace

#ifdef CHIPWEAVE_FAKE_OLD_DRIVER

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlSystemGetCudaDriverVersion(int* version) {
  return answer_cuda("nvmlSystemGetCudaDriverVersion", version);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlInit() { return start("nvmlInit"); }

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetCount(unsigned* count) {
  return count_devices("nvmlDeviceGetCount", count);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetHandleByIndex(unsigned at, nvml::Device* device) {
  return find_device("nvmlDeviceGetHandleByIndex", at, device);
}

#else

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return answer_cuda("nvmlSystemGetCudaDriverVersion_v2", version);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlInit_v2() { return start("nvmlInit_v2"); }

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlInitWithFlags(unsigned /*flags*/) {
  return start("nvmlInitWithFlags");
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetCount_v2(unsigned* count) {
  return count_devices("nvmlDeviceGetCount_v2", count);
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetHandleByIndex_v2(unsigned at,
                                                                 nvml::Device* device) {
  return find_device("nvmlDeviceGetHandleByIndex_v2", at, device);
}

#endif

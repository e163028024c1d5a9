// The functions about events. Old drivers lack them.
#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/fakes/nvml/scenario.hpp"

#ifndef CHIPWEAVE_FAKE_OLD_DRIVER

namespace nvml = chipweave::agent::nvml;
using chipweave::fake_nvml::answer;
using chipweave::fake_nvml::enter;
using chipweave::fake_nvml::Json;
using nvml::Device;
using nvml::EventSet;

namespace {

// The only set; its value does not matter.
char the_set;

EventSet set_handle() { return reinterpret_cast<EventSet>(&the_set); }

}  // namespace

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlEventSetCreate(EventSet* set) {
  *set = set_handle();
  return enter("nvmlEventSetCreate");
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlEventSetFree(EventSet set) {
  return set == set_handle() ? enter("nvmlEventSetFree") : nvml::kInvalidArgument;
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceGetSupportedEventTypes(Device d,
                                                                    std::uint64_t* kinds) {
  return answer("nvmlDeviceGetSupportedEventTypes", d, "event_types", kinds);
}

// Like the real one: one type that the device does not support fails the whole call.
CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlDeviceRegisterEvents(Device d, std::uint64_t kinds,
                                                            EventSet set) {
  std::uint64_t supported = 0;
  if (set != set_handle()) return nvml::kInvalidArgument;
  if (const nvml::Code code = answer("nvmlDeviceRegisterEvents", d, "event_types", &supported)) {
    return code;
  }
  if ((kinds & ~supported) != 0) return nvml::kNotSupported;
  chipweave::fake_nvml::want_events(d, kinds);
  return nvml::kSuccess;
}

CHIPWEAVE_FAKE_NVML_API nvml::Code nvmlEventSetWait_v2(EventSet set, nvml::EventData* event,
                                                       unsigned milliseconds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kStep{5};
  const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
  if (set != set_handle()) return nvml::kInvalidArgument;
  for (;;) {
    if (const nvml::Code code = enter("nvmlEventSetWait_v2")) return code;
    if (chipweave::fake_nvml::next_event(event)) return nvml::kSuccess;
    const auto now = Clock::now();
    if (now >= end) return nvml::kTimeout;
    std::this_thread::sleep_for(std::min<Clock::duration>(kStep, end - now));
  }
}

#endif

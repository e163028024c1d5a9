// Scenario — what the fake driver library returns: a JSON file named by CHIPWEAVE_FAKE_NVML. A new
// version of the file (best renamed over the old one) applies from the next call on, so that a test
// or a drill can change a machine while the library runs; a file that is not valid JSON yet changes
// nothing.
//
// {"driver": "550.54.15", "count": 2, "errors": {"nvmlDeviceGetMigMode": 3},
//  "crash": "nvmlX", "hang": {"nvmlX": seconds}, "level": 50, "levels": [{"a": 0, "b": 1, "level":
//  10}], "devices": [{"uuid": …, "name": …, "bus": …, "errors": {"nvmlY": 15, "*": 15},
//               "links": [{"link": 0, "state": 1, "type": 2, "remote": "00000000:86:00.0"}], …}],
//  "events": [{"device": 0, "type": 8, "data": 79}], "boot": 2}
// A function whose value the scenario omits returns "not supported". "events" are delivered in
// order, each once per version of the file, and for a device only the registered types
// ("event_types": the bits that it supports); "device": -1 is a device that the library itself does
// not list. If "boot" differs from its value when the library was started, the driver was reloaded
// since: all calls return "uninitialized" until the library is started again.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

#include "node-agent/probes/nvidia/nvml/nvml_abi.hpp"

#define CHIPWEAVE_FAKE_NVML_API extern "C" __attribute__((visibility("default")))

namespace chipweave::fake_nvml {

namespace nvml = agent::nvml;
using Json = nlohmann::json;

// True when there is a readable scenario.
bool load_scenario();
void drop_scenario();
const Json& scenario();

// The next event of the scenario with a registration; false: none at present.
bool next_event(nvml::EventData* to);
// Registers for events of these types of the device.
void want_events(nvml::Device handle, std::uint64_t kinds);
// The current scenario, read again if its file has changed.
void refresh();

// The effect of a call before it answers: it hangs, crashes, or fails. Success: continue.
nvml::Code enter(const char* function);
// The same for a call about a device or MIG instance, which must be one of ours; sets `device`,
// valid until the next such call.
nvml::Code enter(const char* function, nvml::Device handle, const Json*& device);

// The device at a position of the list; null if there is none.
nvml::Device handle_of(std::size_t at);
// A MIG instance by its position in the device's list; null if there is none.
nvml::Device mig_handle_of(std::size_t device, std::size_t at);
// The position of one of our devices; kMaxDevices for any other.
std::size_t place_of(nvml::Device handle);

// Copies a text as a hostile library might: one that is too long fills the buffer without a
// terminator.
void copy_text(const Json& text, char* to, std::size_t size);
// A bus id in both forms.
void fill_pci(const Json& bus, nvml::PciInfo* to);

// The number under a key; false if there is none.
template <class T>
bool number(const Json& of, const char* key, T* to) {
  const auto it = of.find(key);
  if (it == of.end()) return false;
  *to = it->get<T>();
  return true;
}

// Answers with one number of a device.
template <class T>
nvml::Code answer(const char* function, nvml::Device handle, const char* key, T* to) {
  const Json* device = nullptr;
  if (const nvml::Code code = enter(function, handle, device)) return code;
  return number(*device, key, to) ? nvml::kSuccess : nvml::kNotSupported;
}

}  // namespace chipweave::fake_nvml

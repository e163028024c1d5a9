#include "tests/fakes/nvml/scenario.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

namespace chipweave::fake_nvml {
namespace {

constexpr std::size_t kMaxDevices = 128;
constexpr std::size_t kMaxInstances = 16;

// Enough to detect that a file was replaced or rewritten in place.
struct Stamp {
  ino_t inode = 0;
  off_t size = -1;
  time_t seconds = 0;
  long nanoseconds = 0;
  bool operator==(const Stamp&) const = default;
};

Json loaded;
Stamp stamp;
int starts = 0;               // minus shutdowns, counted as in the real library
int booted = 0;               // "boot" when the library was started
std::size_t told_events = 0;  // of this version of the file
std::array<std::uint64_t, kMaxDevices> wanted_events;
// Handles point at these; their values do not matter.
std::array<char, kMaxDevices> places;
std::array<char, kMaxDevices * kMaxInstances> mig_places;

Stamp stamp_of(const char* path) {
  struct stat info = {};
  if (::stat(path, &info) != 0) return {};
  return {info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

// The MIG instance of a handle; null for other handles.
const Json* instance_of(nvml::Device handle) {
  const char* at = reinterpret_cast<const char*>(handle);
  if (at < mig_places.data() || at >= mig_places.data() + mig_places.size()) return nullptr;
  const auto place = static_cast<std::size_t>(at - mig_places.data());
  const Json& devices = loaded["devices"];
  if (place / kMaxInstances >= devices.size()) return nullptr;
  const Json& device = devices[place / kMaxInstances];
  const auto instances = device.find("mig_devices");
  if (instances == device.end() || place % kMaxInstances >= instances->size()) return nullptr;
  const Json& instance = (*instances)[place % kMaxInstances];
  return instance.is_null() ? nullptr : &instance;
}

nvml::Code failure_of(const Json& errors, const char* function) {
  for (const char* key : {function, "*"}) {
    if (const auto it = errors.find(key); it != errors.end()) return it->get<nvml::Code>();
  }
  return nvml::kSuccess;
}

nvml::Code disturbed(const Json& facts, const char* function) {
  if (facts.value("crash", "") == function) std::abort();
  const Json hangs = facts.value("hang", Json::object());
  if (const auto it = hangs.find(function); it != hangs.end()) ::sleep(it->get<unsigned>());
  return failure_of(facts.value("errors", Json::object()), function);
}

}  // namespace

void refresh() {
  const char* path = std::getenv("CHIPWEAVE_FAKE_NVML");
  if (path == nullptr) return;
  const Stamp now = stamp_of(path);
  if (now == stamp && loaded.is_object()) return;
  std::ifstream file(path);
  Json fresh = Json::parse(file, nullptr, false);
  if (!fresh.is_object()) return;
  loaded = std::move(fresh);
  if (!(now == stamp)) told_events = 0;
  stamp = now;
}

bool load_scenario() {
  refresh();
  if (!loaded.is_object()) return false;
  if (starts++ == 0) {
    booted = loaded.value("boot", 0);
    wanted_events.fill(0);
  }
  return true;
}

void drop_scenario() {
  if (starts > 0 && --starts == 0) loaded = Json();
}

const Json& scenario() { return loaded; }

bool next_event(nvml::EventData* to) {
  const auto events = loaded.find("events");
  while (events != loaded.end() && told_events < events->size()) {
    const Json& event = (*events)[told_events++];
    const int device = event.value("device", -1);
    const auto type = event.value("type", std::uint64_t{0});
    const auto place = static_cast<std::size_t>(device);
    if (device >= 0 && (place >= kMaxDevices || (wanted_events.at(place) & type) == 0)) continue;
    to->device = device < 0 ? reinterpret_cast<nvml::Device>(&wanted_events) : handle_of(place);
    to->type = type;
    to->data = event.value("data", std::uint64_t{0});
    to->gpu_instance = event.value("gi", nvml::kWholeGpu);
    to->compute_instance = event.value("ci", nvml::kWholeGpu);
    return true;
  }
  return false;
}

void want_events(nvml::Device handle, std::uint64_t kinds) {
  wanted_events.at(place_of(handle)) |= kinds;
}

nvml::Code enter(const char* function) {
  if (starts == 0) return nvml::kUninitialized;
  refresh();
  if (loaded.value("boot", 0) != booted) return nvml::kUninitialized;
  return disturbed(loaded, function);
}

nvml::Code enter(const char* function, nvml::Device handle, const Json*& device) {
  if (const nvml::Code code = enter(function)) return code;
  device = instance_of(handle);
  if (device != nullptr) return nvml::kSuccess;
  const std::size_t at = place_of(handle);
  if (at >= loaded["devices"].size()) return nvml::kInvalidArgument;
  device = &loaded["devices"][at];
  return disturbed(*device, function);
}

nvml::Device handle_of(std::size_t at) {
  if (at >= std::min(kMaxDevices, loaded["devices"].size())) return nullptr;
  return reinterpret_cast<nvml::Device>(&places[at]);
}

nvml::Device mig_handle_of(std::size_t device, std::size_t at) {
  if (device >= kMaxDevices || at >= kMaxInstances) return nullptr;
  const auto handle = reinterpret_cast<nvml::Device>(&mig_places[device * kMaxInstances + at]);
  return instance_of(handle) == nullptr ? nullptr : handle;
}

std::size_t place_of(nvml::Device handle) {
  for (std::size_t at = 0; at < kMaxDevices; ++at) {
    if (reinterpret_cast<nvml::Device>(&places[at]) == handle) return at;
  }
  return kMaxDevices;
}

void copy_text(const Json& text, char* to, std::size_t size) {
  const std::string from = text.get<std::string>();
  std::memcpy(to, from.data(), std::min(from.size(), size));
  if (from.size() < size) to[from.size()] = '\0';
}

void fill_pci(const Json& bus, nvml::PciInfo* to) {
  const std::string text = bus.get<std::string>();
  // "00000000:04:00.0" is "0000:04:00.0" in the short form.
  constexpr std::size_t kMoreDigits = 4;
  copy_text(text.size() > kMoreDigits ? text.substr(kMoreDigits) : text, to->bus_id_legacy,
            sizeof to->bus_id_legacy);
#ifndef CHIPWEAVE_FAKE_OLD_DRIVER
  copy_text(bus, to->bus_id, sizeof to->bus_id);
#endif
}

}  // namespace chipweave::fake_nvml

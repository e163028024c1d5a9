#include "tests/fakes/nvml/scenario.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace chipweave::fake_nvml {
namespace {

constexpr nvml::Code kUninitialized = 1;
constexpr std::size_t kMostDevices = 128;

Json loaded;
bool started = false;
// Handles point at these; what they hold does not matter.
std::array<char, kMostDevices> places;

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

bool load_scenario() {
  const char* path = std::getenv("CHIPWEAVE_FAKE_NVML");
  if (path == nullptr) return false;
  std::ifstream file(path);
  loaded = Json::parse(file, nullptr, false);
  started = loaded.is_object();
  return started;
}

void drop_scenario() {
  started = false;
  loaded = Json();
}

const Json& scenario() { return loaded; }

nvml::Code enter(const char* function) {
  return started ? disturbed(loaded, function) : kUninitialized;
}

nvml::Code enter(const char* function, nvml::Device handle, const Json*& device) {
  if (const nvml::Code code = enter(function)) return code;
  const std::size_t at = place_of(handle);
  if (at >= loaded["devices"].size()) return nvml::kInvalidArgument;
  device = &loaded["devices"][at];
  return disturbed(*device, function);
}

nvml::Device handle_of(std::size_t at) {
  if (at >= std::min(kMostDevices, loaded["devices"].size())) return nullptr;
  return reinterpret_cast<nvml::Device>(&places[at]);
}

std::size_t place_of(nvml::Device handle) {
  for (std::size_t at = 0; at < kMostDevices; ++at) {
    if (reinterpret_cast<nvml::Device>(&places[at]) == handle) return at;
  }
  return kMostDevices;
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

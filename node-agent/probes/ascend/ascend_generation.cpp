#include "node-agent/probes/ascend/ascend_generation.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "common/base/text.hpp"
#include "common/io/files.hpp"

namespace chipweave::agent {
namespace {

using enum AscendGeneration;

struct Family {
  AscendGeneration generation;
  std::string_view name;
  std::string_view model;
  std::string_view prefix;
  std::string_view card_type;
  std::string_view server_type;
  std::string_view profile;  // any of the generation: all have the same host bandwidth
  bool hccs;
  bool roce;
};

constexpr std::array<Family, 7> kFamilies = {{
    {unknown, "", "", "", "", "", "", false, false},
    {a910, "910A", "Ascend910A", "Ascend910", "Ascend910", "", "ascend-910a-8", false, true},
    {a2, "A2", "Ascend910B", "Ascend910", "Ascend910B", "", "ascend-910b-8", true, true},
    {a3, "A3", "Ascend910C", "Ascend910", "", "A3", "ascend-a3-16", true, true},
    {i310, "310", "Ascend310", "Ascend310", "Ascend310", "", "ascend-310-chip-4", false, false},
    {i310p, "310P", "Ascend310P", "Ascend310P", "Ascend310P", "", "ascend-310p-8", false, false},
    {a5, "A5", "Ascend950", "npu", "npu", "npu", "ascend-a5-8", false, false},
}};

const Family& family(AscendGeneration generation) {
  return kFamilies[static_cast<std::size_t>(generation)];
}

// In upper case, without "ASCEND" before it: "910B3".
std::string chip_name(const DcmiSnapshot& snapshot) {
  for (const DcmiDevice& device : snapshot.devices) {
    std::string name = upper_case(device.chip_name);
    if (name.starts_with("ASCEND")) name.erase(0, std::string_view("ASCEND").size());
    if (!name.empty()) return name;
  }
  return "";
}

bool in_super_pod(const DcmiSnapshot& snapshot) {
  return std::any_of(
      snapshot.devices.begin(), snapshot.devices.end(),
      [](const DcmiDevice& device) { return device.super_pod && device.super_pod->sdid; });
}

// By the text after "910".
AscendGeneration generation_of_910(std::string_view rest, const DcmiSnapshot& snapshot) {
  if (rest.starts_with("_93") || snapshot.devices_per_card > 1 || in_super_pod(snapshot)) return a3;
  if (rest.size() > 1 && rest[0] == 'B' && rest[1] >= '1' && rest[1] <= '9') return a2;
  if (rest.empty() || rest == "A" || rest.starts_with("PRO")) return a910;
  return unknown;
}

}  // namespace

AscendGeneration generation_of(const DcmiSnapshot& snapshot) {
  const std::string name = chip_name(snapshot);
  if (name.starts_with("910")) {
    return generation_of_910(std::string_view(name).substr(3), snapshot);
  }
  if (name.starts_with("310P")) return i310p;
  if (name == "310") return i310;
  if (name.starts_with("950")) return a5;
  return name.empty() && snapshot.flat ? a5 : unknown;
}

std::string_view to_string(AscendGeneration generation) { return family(generation).name; }
std::string_view model_of(AscendGeneration generation) { return family(generation).model; }
std::string_view chip_prefix(AscendGeneration generation) { return family(generation).prefix; }
std::string_view card_type(AscendGeneration generation) { return family(generation).card_type; }
std::string_view server_type(AscendGeneration generation) { return family(generation).server_type; }
bool tells_hccs(AscendGeneration generation) { return family(generation).hccs; }
bool has_roce(AscendGeneration generation) { return family(generation).roce; }

std::optional<domain::HostBandwidth> host_bandwidth_of(AscendGeneration generation) {
  const std::string profile(family(generation).profile);
  if (profile.empty()) return std::nullopt;
  const auto machine = io::load_machine(profile);
  if (!machine) return std::nullopt;
  return machine->topology.host_bandwidth();
}

}  // namespace chipweave::agent

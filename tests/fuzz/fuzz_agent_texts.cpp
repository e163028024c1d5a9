// The agent's text inputs: the health policy file, lists of chips in annotations, and device
// plugins' names of devices. Each is accepted or rejected with a message; patterns of rules match
// in bounded time.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/codec/agent/chip_list_annotation.hpp"
#include "common/codec/agent/health_policy.hpp"
#include "common/codec/mindcluster/names/chip_list.hpp"
#include "common/codec/mindcluster/names/device_ids.hpp"
#include "tests/fuzz/read_back.hpp"

namespace {

namespace mc = chipweave::codec::mindcluster;
using chipweave::codec::require;

// A resource and an id, separated by the first blank.
void check_device(std::string_view text) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return;
  const std::string_view resource = text.substr(0, blank);
  const std::string_view id = text.substr(blank + 1);
  for (const char* prefix : {"Ascend910", "Ascend310P", "npu"}) {
    const auto chip = mc::chip_of_device(prefix, resource, id);
    if (!chip) continue;
    require(mc::device_kind(prefix, resource) != mc::DeviceKind::other);
    // The number that the id ends with, and a name that no other chip has.
    require(mc::chip_of_name(id.substr(0, id.rfind('-')), id) == chip && id.starts_with(prefix));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto policy = chipweave::codec::read_health_policy(text);
  chipweave::codec::require_words(policy);
  if (policy) {
    for (const auto& rule : policy->rules) {
      chipweave::codec::require(chipweave::domain::matches(rule, rule.code));
      chipweave::codec::require(rule.hold >= 0 && rule.window > 0 && rule.rise >= 0);
      chipweave::domain::matches(rule, text.substr(0, 200));
    }
  }
  const auto chips = chipweave::codec::parse_chip_selection("annotation", text);
  chipweave::codec::require_words(chips);
  check_device(text);
  if (chips) chipweave::codec::require(!chips->all || chips->chips.empty());
  return 0;
}

// What people write for the agent: the health policy file and the lists of chips in annotations.
// Read or refused in words; what a rule's pattern matches is decided in bounded time.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/codec/agent/chip_list_annotation.hpp"
#include "common/codec/agent/health_policy.hpp"
#include "tests/fuzz/read_back.hpp"

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
  if (chips) chipweave::codec::require(!chips->all || chips->chips.empty());
  return 0;
}

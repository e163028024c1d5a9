// Arbitrary bytes → profile overlay: no crash; constants that are accepted are ones that links
// have.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/codec/calibration/overlay_file.hpp"
#include "tests/fuzz/read_back.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chipweave;
  // a null pointer comes with size 0 only
  const std::string_view text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  const auto overlay = codec::read_overlay(text, "fuzz");
  codec::require_words(overlay);
  if (!overlay) return 0;
  codec::require(!overlay->models.empty() && !overlay->vendor.empty());
  codec::require(!overlay->lanes.empty() || !overlay->host.empty());
  for (const auto& [kind, gbps] : overlay->lanes)
    codec::require(gbps > 0 && gbps <= domain::kMaxMeasuredLane);
  for (const auto& [kind, gbps] : overlay->host)
    codec::require(gbps > 0 && gbps <= domain::kMaxMeasuredHostPath);
  return 0;
}

// Arbitrary bytes → lldpctl's JSON and networkd's LLDP frames: no crash, and what is accepted is
// short and printable.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/codec/lldp/lldp.hpp"

namespace {

void require_plain(const std::string& text) {
  if (text.size() > chipweave::codec::kMaxLldpTextBytes) std::abort();
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) std::abort();
  }
}

void require_plain(
    const chipweave::Result<std::vector<chipweave::codec::LldpNeighbour>>& neighbours) {
  if (!neighbours) return;
  if (neighbours->size() > chipweave::codec::kMaxLldpNeighbours) std::abort();
  for (const auto& one : *neighbours) {
    for (const std::string* text : {&one.interface, &one.system, &one.port, &one.address}) {
      require_plain(*text);
    }
    if (one.system.empty() && one.port.empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // a null pointer comes with size 0 only
  const std::string_view text(size == 0 ? "" : reinterpret_cast<const char*>(data), size);
  require_plain(chipweave::codec::parse_lldpctl_json(text));
  require_plain(chipweave::codec::parse_lldp_frames(text));
  return 0;
}

#include "common/codec/mindcluster/names/super_device.hpp"

namespace chipweave::codec::mindcluster {

std::optional<std::uint32_t> super_device_id(const SuperDevice& device) {
  if (device.server >= 1024 || device.chip >= 16 || device.die >= 2) return std::nullopt;
  return device.server << 22U | device.chip << 18U | device.die << 16U |
         (device.chip * 2 + device.die);
}

std::optional<SuperDevice> super_device_of(std::uint32_t id) {
  const SuperDevice out{id >> 22U, id >> 18U & 0xFU, id >> 16U & 0x3U};
  return super_device_id(out) == id ? std::optional(out) : std::nullopt;
}

}  // namespace chipweave::codec::mindcluster

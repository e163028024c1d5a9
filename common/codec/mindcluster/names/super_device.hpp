// SuperDevice — the position of a die in an A3 super pod, as packed into its SuperDeviceID (SDID).
//
// Bits 31..22 the server's index, 21..18 the chip, 17..16 the die, 15..0 the device, which is chip
// * 2 + die. The last part repeats the middle ones, which exposes invalid numbers.
#pragma once

#include <cstdint>
#include <optional>

namespace chipweave::codec::mindcluster {

struct SuperDevice {
  std::uint32_t server = 0;  // below 1024
  std::uint32_t chip = 0;    // below 16
  std::uint32_t die = 0;     // 0 or 1

  friend bool operator==(const SuperDevice&, const SuperDevice&) = default;
};

// nullopt if a part is out of its range.
std::optional<std::uint32_t> super_device_id(const SuperDevice& device);
// nullopt if the parts of the number contradict each other.
std::optional<SuperDevice> super_device_of(std::uint32_t id);

}  // namespace chipweave::codec::mindcluster

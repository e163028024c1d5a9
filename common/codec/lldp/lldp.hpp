// The devices at the other ends of a host's network ports, by LLDP (IEEE 802.1AB): as lldpd prints
// them and as systemd-networkd keeps them.
//
// The device on a port chooses these bytes, so every size is bounded, and texts come out as valid
// UTF-8 without control characters. Tested on synthetic input only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec {

inline constexpr std::size_t kMaxLldpBytes = std::size_t{1} << 20U;
inline constexpr std::size_t kMaxLldpNeighbours = 256;
inline constexpr std::size_t kMaxLldpTextBytes = 256;

struct LldpNeighbour {
  std::string interface;  // of this host; "" if the source is one interface's file
  std::string system;     // name of the other device; "" if not announced
  std::string port;       // its port id; where that is a hardware address, its description if any
  std::string address;    // the first management address; "" without one
};

// Output of `lldpctl -f json0`. Neighbours known by another protocol (CDP, …) are left out.
// invalid_argument: not JSON, or not that JSON; limit_exceeded.
Result<std::vector<LldpNeighbour>> parse_lldpctl_json(std::string_view text);

// /run/systemd/netif/lldp/<ifindex> of systemd-networkd: Ethernet frames as received, each after
// its length as 64 bits, little-endian, below 4096. A frame that is not LLDP or lacks chassis, port
// or time to live is left out. invalid_argument: the lengths do not fit the file.
Result<std::vector<LldpNeighbour>> parse_lldp_frames(std::string_view bytes);

}  // namespace chipweave::codec

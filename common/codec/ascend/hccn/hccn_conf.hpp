// HccnConf — /etc/hccn.conf: which addresses somebody configured for the RoCE ports of an Ascend
// host, a `KEY_ID=VALUE` a line.
//
// It is applied at boot; a device may meanwhile run with another address, and inside a container
// the file is often missing or renumbered. Whoever can ask the device itself should
// (hccn_tool.hpp).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec::ascend {

// What the vendor's own reader accepts.
inline constexpr std::size_t kMaxHccnConfBytes = 1'024'000;
inline constexpr std::size_t kMaxHccnConfLineBytes = 384;
inline constexpr int kMaxHccnDevice = 1023;

// Values as written; empty where the file does not say.
struct HccnConfDevice {
  std::string address;
  std::string netmask;
  std::string gateway;
  std::string ipv6_address;
  std::string ipv6_netmask;  // a mask, or the length of the prefix
  std::string ipv6_gateway;
};

struct HccnConf {
  std::map<int, HccnConfDevice> devices;  // those that the file gives any of the values above
  std::vector<std::string> warnings;      // each names its line
};

// Comments (#), blank lines and all other keys are passed over; lines that are no KEY=VALUE too,
// with a warning. Errors name the line: what is no address, no device id, or is said twice
// differently; and whatever is over the limits above.
Result<HccnConf> parse_hccn_conf(std::string_view text);

}  // namespace chipweave::codec::ascend

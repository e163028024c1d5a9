// HccnConf — /etc/hccn.conf: the configured addresses of an Ascend host's RoCE ports, lines
// `KEY_ID=VALUE`.
//
// The file is applied at boot. A device may run with another address by now, and inside a container
// the file is often missing or renumbered; prefer the device's own answer (hccn_tool.hpp).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec::ascend {

// The limits of the vendor's own reader.
inline constexpr std::size_t kMaxHccnConfBytes = 1'024'000;
inline constexpr std::size_t kMaxHccnConfLineBytes = 384;
inline constexpr int kMaxHccnDevice = 1023;

// Values as written; "" if the file has none.
struct HccnConfDevice {
  std::string address;
  std::string netmask;
  std::string gateway;
  std::string ipv6_address;
  std::string ipv6_netmask;  // a mask, or the length of the prefix
  std::string ipv6_gateway;
};

struct HccnConf {
  std::map<int, HccnConfDevice> devices;  // those with any of the values above
  std::vector<std::string> warnings;      // each names its line
};

// Comments (#), blank lines and all other keys are ignored, and with a warning lines that are not
// KEY=VALUE. Errors name the line: an invalid address or device id, two values for one key, a limit
// above exceeded.
Result<HccnConf> parse_hccn_conf(std::string_view text);

}  // namespace chipweave::codec::ascend

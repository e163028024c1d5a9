// What `hccn_tool -i DEVICE … -g` prints about the RoCE port of one Ascend device, one function for
// each query.
//
// Errors of all of them: not_found if the device has no such setting, unavailable if the tool is
// busy (try again), limit_exceeded above kMaxHccnToolBytes, invalid_argument for anything else,
// with the first line that the tool printed. Unrelated lines are ignored.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::codec::ascend {

inline constexpr std::size_t kMaxHccnToolBytes = std::size_t{256} << 10U;

struct PortAddress {
  std::string address;
  std::string netmask;  // "" if not printed; the prefix length for IPv6
};

// `-ip -g`: one for each port, in the order of the ports; never empty.
Result<std::vector<PortAddress>> parse_hccn_ip(std::string_view output);
// `-ip -inet6 -g`
Result<std::vector<PortAddress>> parse_hccn_ip6(std::string_view output);

// `-link -g`: whether the link is up.
Result<bool> parse_hccn_link(std::string_view output);
// `-net_health -g`: "Success", "Fault", "Socket fail" …, as printed.
Result<std::string> parse_hccn_net_health(std::string_view output);

// What the leaf switch announces; "" if it does not.
struct HccnLldp {
  std::string port;                // Ifname: "400GE1/1/20:2"
  std::string system_name;         // may be missing
  std::string management_address;  // as printed

  friend bool operator==(const HccnLldp&, const HccnLldp&) = default;
};
// `-lldp -g`
Result<HccnLldp> parse_hccn_lldp(std::string_view output);

}  // namespace chipweave::codec::ascend

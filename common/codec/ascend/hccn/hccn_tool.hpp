// What `hccn_tool -i DEVICE … -g` prints about the RoCE port of one Ascend device, one function for
// each query.
//
// Errors of all of them: not_found if the device has no such setting, unavailable if the tool is
// busy (try again), limit_exceeded above kMaxHccnToolBytes, invalid_argument for anything else,
// with the first line that the tool printed. Unrelated lines are ignored.
#pragma once

#include <cstddef>
#include <optional>
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

struct HccnVnic {
  bool up = false;
  std::string address;
  std::string netmask;
};
// `-vnic -g`
Result<HccnVnic> parse_hccn_vnic(std::string_view output);

// `-link -g`: whether the link is up.
Result<bool> parse_hccn_link(std::string_view output);
// `-net_health -g`: "Success", "Fault", "Socket fail" …, as printed.
Result<std::string> parse_hccn_net_health(std::string_view output);
// `-netdetect -g`: the address that the health check probes.
Result<std::string> parse_hccn_netdetect(std::string_view output);

struct HccnGateway {
  std::string address;
  std::string interface;  // "eth0"; may be empty
};
// `-gateway -g`
Result<HccnGateway> parse_hccn_gateway(std::string_view output);

// What the leaf switch announces; "" if it does not.
struct HccnLldp {
  std::string port;                // Ifname: "400GE1/1/20:2"
  std::string system_name;         // may be missing
  std::string management_address;  // as printed

  friend bool operator==(const HccnLldp&, const HccnLldp&) = default;
};
// `-lldp -g`
Result<HccnLldp> parse_hccn_lldp(std::string_view output);

// `-route -g`: one line of the device's routing table.
struct HccnRoute {
  std::string destination;  // "default" or an address
  std::string gateway;      // "*": none
  std::string netmask;
  std::string interface;
};
// In the order printed; never empty.
Result<std::vector<HccnRoute>> parse_hccn_routes(std::string_view output);

// `-arp -g`: a neighbour of the device.
struct HccnArp {
  std::string address;
  std::string mac;  // "" if the neighbour has not answered
  std::string interface;
};
// May be empty: a device without traffic has no neighbours.
Result<std::vector<HccnArp>> parse_hccn_arp(std::string_view output);

// `-speed -g`: Mb/s; nullopt if unknown, e.g. while the link is down.
Result<std::optional<int>> parse_hccn_speed(std::string_view output);

// `-optical -g`: of the module in the port. Values as printed, with their units.
struct HccnOptical {
  bool present = false;
  std::string temperature;            // "47 C"; "" if not printed
  std::vector<std::string> tx_power;  // by lane: "1.39 mW"
  std::vector<std::string> rx_power;
  unsigned tx_los = 0;  // loss of signal, a bit a lane
  unsigned rx_los = 0;
};
Result<HccnOptical> parse_hccn_optical(std::string_view output);

struct HccnTls {
  int device = 0;
  bool on = false;
};
// `-tls -g`, in the order printed; the devices of a job must agree.
Result<std::vector<HccnTls>> parse_hccn_tls(std::string_view output);

struct HccnPing {
  int sent = 0;
  int received = 0;
};
// `-ping -g address A` and `-hccs_ping -g address A`
Result<HccnPing> parse_hccn_ping(std::string_view output);

}  // namespace chipweave::codec::ascend

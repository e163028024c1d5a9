#include "common/domain/ranktable/assembly/member_checks.hpp"

#include <map>
#include <string_view>
#include <utility>

#include "common/base/ip_address.hpp"

namespace chipweave::domain::ranktable {
namespace {

// One, or several separated by commas.
bool are_addresses(std::string_view text) {
  while (true) {
    const std::size_t end = text.find(',');
    if (!parse_ip(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

void add_missing(const Member& member, const MemberNeeds& needs, std::vector<std::string>& to) {
  const auto require = [&](bool known, const std::string& what) {
    if (!known) to.push_back("pod " + member.pod + ": " + what);
  };
  require(!member.host_ip.empty(), "the address of its node");
  require(!member.pod_ip.empty(), "its address");
  require(!needs.super_pods || !member.super_pod.empty(), "the super pod of its node");
  require(!needs.devices || !member.devices.empty(), "its devices");
  for (const MemberDevice& device : member.devices) {
    const std::string of = " of device " + std::to_string(device.device_id);
    if (needs.layers) {
      require(!device.layers.empty(), "the network layers" + of);
      continue;
    }
    const bool none = device.ip.empty() && !needs.addresses;
    require(none || are_addresses(device.ip), "the address" + of);
    require(!needs.super_pods || device.super_device_id.has_value(), "the SDID" + of);
  }
}

Result<void> check_distinct(std::span<const Member* const> members) {
  std::map<std::pair<std::string_view, std::int64_t>, std::string_view> pods;  // of devices
  std::map<std::string_view, std::string> devices;                             // of addresses
  for (const Member* member : members) {
    for (const MemberDevice& device : member->devices) {
      std::string name = "device " + std::to_string(device.device_id) + " of " + member->host_ip;
      const auto [pod, first] = pods.try_emplace({member->host_ip, device.device_id}, member->pod);
      if (!first) {
        return make_error(Errc::conflict, "pods " + std::string(pod->second) + " and " +
                                              member->pod + " both have " + name);
      }
      if (device.ip.empty()) continue;
      const auto [other, fresh] = devices.try_emplace(device.ip, name);
      if (!fresh) {
        return make_error(Errc::conflict,
                          other->second + " and " + name + " both have the address " + device.ip);
      }
    }
  }
  return {};
}

}  // namespace chipweave::domain::ranktable

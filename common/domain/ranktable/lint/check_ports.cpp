// Ports of devices and hosts, and backup addresses (A3).
#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "common/domain/ranktable/lint/check.hpp"

namespace chipweave::domain::ranktable {
namespace {

constexpr std::int64_t kLast = 65535;
constexpr std::int64_t kFirstFree = 1024;

void check_port(Check& check, const Number& port, Place place) {
  if (!port) return;
  const std::string what = std::string(place.member) + " " + std::to_string(*port);
  if (*port < 1 || *port > kLast) {
    check.error("RT050", place, what + " is outside 1..65535");
  } else if (*port < kFirstFree) {
    check.warn("RT050", place, what + " is below 1024, where the system's services are");
  }
}

// Ports that are bound on one address.
class Bound {
 public:
  explicit Bound(Check& check) : check_(check) {}

  void bind(const Text& ip, const Number& port, Place place) {
    if (!ip || ip->empty() || !port) return;
    const auto [at, is_new] = seen_.emplace(std::pair(std::string_view(*ip), *port), place);
    if (is_new) return;
    check_.warn("RT050", place,
                std::string(place.member) + " " + std::to_string(*port) + " of address " +
                    quoted(*ip) + " is taken already",
                at->second);
  }

 private:
  Check& check_;
  std::map<std::pair<std::string_view, std::int64_t>, Place> seen_;
};

const Device* sibling_of(const Server& server, const Device& device) {
  if (!device.device_id) return nullptr;
  const auto at = std::find_if(server.devices.begin(), server.devices.end(), [&](const Device& d) {
    return d.device_id && *d.device_id == (*device.device_id ^ 1);
  });
  return at == server.devices.end() ? nullptr : &*at;
}

void check_backup(Check& check, const Server& server, const Device& device) {
  if (!device.backup_ip || device.backup_ip->empty()) return;
  const Place place{device.source, "backup_device_ip"};
  if (device.backup_ip == device.device_ip) {
    check.error("RT051", place, "backup_device_ip is the device's own address");
    return;
  }
  const Device* sibling = sibling_of(server, device);
  if (sibling == nullptr || !sibling->device_ip) return;  // not in this job: cannot be told
  if (sibling->device_ip == device.backup_ip) return;
  check.error("RT051", place,
              "backup_device_ip " + quoted(*device.backup_ip) + " is not that of device " +
                  std::to_string(*sibling->device_id) + ", the other die of this NPU (" +
                  *sibling->device_ip + ")",
              Place{sibling->source, "device_ip"});
}

}  // namespace

void check_ports(Check& check) {
  Bound devices(check);
  for (const Seat& seat : check.seats()) {
    const Device& device = *seat.device;
    const std::pair<const Number*, std::string_view> ports[] = {
        {&device.device_port, "device_port"},
        {&device.backup_port, "backup_device_port"},
        {&device.host_port, "host_port"},
        {&device.vnic_port, "device_vnic_port"}};
    for (const auto& [port, member] : ports) {
      if (*port) check_port(check, *port, {device.source, member});
    }
    if (device.device_port) {
      devices.bind(device.device_ip, device.device_port, {device.source, "device_port"});
    }
  }
  // After the primary ones, so that the backup port is what is wrong.
  for (const Seat& seat : check.seats()) {
    const Device& device = *seat.device;
    if (!device.backup_ip && !device.backup_port) continue;
    devices.bind(device.backup_ip, device.backup_port, {device.source, "backup_device_port"});
    check_backup(check, *seat.server, device);
  }
}

}  // namespace chipweave::domain::ranktable

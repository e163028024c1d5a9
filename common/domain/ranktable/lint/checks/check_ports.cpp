// Ports of devices and hosts, and backup addresses (A3).
#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/domain/ranktable/lint/checks/check.hpp"

namespace chipweave::domain::ranktable {
namespace {

constexpr std::int64_t kLast = 65535;
constexpr std::int64_t kFirstFree = 1024;

void check_port(Check& check, const Number& port, Place place) {
  if (check.expect_range("RT050", port, 1, kLast, place) && port && *port < kFirstFree) {
    check.warn("RT050", place,
               concat(place.member, " ", *port, " is a privileged port (below 1024)"));
  }
}

// Ports that are bound on one address.
class Bound {
 public:
  explicit Bound(Check& check) : check_(check) {}

  template <class AnyText>
  void bind(const AnyText& ip, const Number& port, Place place) {
    if (!ip || ip->empty() || !port) return;
    const auto [at, is_new] = seen_.emplace(std::pair(std::string_view(*ip), *port), place);
    if (is_new) return;
    check_.warn(
        "RT050", place,
        concat(place.member, " ", *port, " of address ", in_quotes(*ip), " is already used"),
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
    check.error("RT051", place, "backup_device_ip must not be the device's own address");
    return;
  }
  const Device* sibling = sibling_of(server, device);
  if (sibling == nullptr || !sibling->device_ip) return;  // not in this job: cannot be told
  if (sibling->device_ip == device.backup_ip) return;
  check.error(
      "RT051", place,
      concat("backup_device_ip ", in_quotes(*device.backup_ip), " is not the address of device ",
             *sibling->device_id, ", the other die of this NPU (", *sibling->device_ip, ")"),
      Place{sibling->source, "device_ip"});
}

// Ports of MindIE's servers; they must not be privileged.
void check_server_ports(Check& check, const Server& server) {
  for (const std::string_view member :
       {"predict_port", "mgmt_port", "metric_port", "inter_comm_port"}) {
    const std::string_view text = text_of(server.extras, member);
    if (text.empty()) continue;
    const auto port = parse_number<std::int64_t>(text);
    if (port && *port >= kFirstFree && *port <= kLast) continue;
    check.error("RT050", {server.source, member},
                concat(member, " must be 1024 to 65535, got ", in_quotes(text)));
  }
}

}  // namespace

void check_ports(Check& check) {
  if (check.is(Dialect::mindie_global)) {
    for (const Server* server : check.servers) check_server_ports(check, *server);
  }
  if (!check.any_ports) return;
  std::vector<const DeviceEntry*> entries;
  for (const DeviceEntry& entry : check.entries) {
    if (has_ports(*entry.device)) entries.push_back(&entry);
  }
  Bound bound(check);
  for (const DeviceEntry* entry : entries) {
    const Device& device = *entry->device;
    check_port(check, device.device_port, {device.source, "device_port"});
    check_port(check, device.backup_port, {device.source, "backup_device_port"});
    check_port(check, device.host_port, {device.source, "host_port"});
    check_port(check, device.vnic_port, {device.source, "device_vnic_port"});
    bound.bind(device.device_ip, device.device_port, {device.source, "device_port"});
  }
  // After the primary ones, so that the backup port is what is wrong.
  for (const DeviceEntry* entry : entries) {
    const Device& device = *entry->device;
    bound.bind(device.backup_ip, device.backup_port, {device.source, "backup_device_port"});
    check_backup(check, *entry->server, device);
  }
}

}  // namespace chipweave::domain::ranktable

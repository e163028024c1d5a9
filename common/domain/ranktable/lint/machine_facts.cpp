#include "common/domain/ranktable/lint/machine_facts.hpp"

#include <utility>

#include "common/base/text.hpp"

namespace chipweave::domain::ranktable {
namespace {

// The network of an address with this mask; nullopt if either cannot be read.
std::optional<IpAddress> subnet_of(const std::string& address, const std::string& mask) {
  const auto ip = parse_ip(address);
  if (!ip || mask.empty()) return std::nullopt;
  const auto dotted = parse_ip(mask);
  const auto prefix =
      dotted && dotted->v6 == ip->v6 ? prefix_of_netmask(*dotted) : parse_number<int>(mask);
  if (!prefix || *prefix < 0 || *prefix > ip->bits()) return std::nullopt;
  return ip->with_host_bits(*prefix, false);
}

class MachineCheck {
 public:
  explicit MachineCheck(Findings& findings) : findings_(findings) {}

  void check(const Server& server, const MachineFacts& facts) {
    for (const Device& device : server.devices) {
      if (!device.device_id) continue;
      const auto known = facts.devices.find(static_cast<int>(*device.device_id));
      if (known == facts.devices.end()) continue;
      check_device(device, known->second, facts.source);
    }
  }

 private:
  void warn(std::string_view code, const Device& device, std::string message,
            std::optional<Place> related = std::nullopt) {
    findings_.push_back(
        {code, Severity::warning, {device.source, "device_ip"}, related, std::move(message)});
  }

  void check_device(const Device& device, const DeviceFacts& facts, const std::string& source) {
    const std::string id = std::to_string(*device.device_id);
    const std::string in_table = device.device_ip.value_or("");
    if (!facts.address.empty() && !in_table.empty() && !same(in_table, facts.address)) {
      warn("RT081", device,
           "device_ip " + in_table + " of device " + id + " is " + facts.address + " in " + source);
    }
    if (facts.up == false) warn("RT081", device, "the link of device " + id + " is down");
    if (!facts.health.empty() && facts.health != "Success") {
      warn("RT081", device, "the network health of device " + id + " is \"" + facts.health + "\"");
    }
    check_rail(device, facts);
  }

  // Several addresses: the first port's.
  static bool same(const std::string& in_table, const std::string& known) {
    const auto a = parse_ip(in_table.substr(0, in_table.find(',')));
    const auto b = parse_ip(known);
    return a && b && *a == *b;
  }

  void check_rail(const Device& device, const DeviceFacts& facts) {
    const auto subnet = subnet_of(facts.address, facts.netmask);
    if (!subnet) return;
    const auto [first, is_new] = rails_.emplace(*device.device_id, Rail{*subnet, &device});
    if (is_new || first->second.subnet == *subnet || first->second.reported) return;
    first->second.reported = true;
    warn("RT046", device,
         concat("device ", *device.device_id, " is in subnet ", subnet->text(), " here and in ",
                first->second.subnet.text(), " on another server"),
         Place{first->second.device->source, "device_ip"});
  }

  struct Rail {
    IpAddress subnet;
    const Device* device;
    bool reported = false;  // one finding for each rail
  };
  Findings& findings_;
  std::map<std::int64_t, Rail> rails_;
};

}  // namespace

Findings lint_against_machines(const RankTable& table, const FactsByServer& facts) {
  Findings out;
  MachineCheck check(out);
  for (const Server* server : table.servers()) {
    const auto known = facts.find(server->server_id.value_or(""));
    if (known != facts.end()) check.check(*server, known->second);
  }
  return out;
}

}  // namespace chipweave::domain::ranktable

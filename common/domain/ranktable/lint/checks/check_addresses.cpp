// Addresses of devices and hosts.
#include <algorithm>
#include <bit>
#include <map>
#include <unordered_set>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/ip_address.hpp"
#include "common/base/text.hpp"
#include "common/domain/ranktable/lint/checks/check.hpp"
#include "common/domain/ranktable/sdid.hpp"

namespace chipweave::domain::ranktable {
namespace {

// 192.0.2.1 = 0xC0000201.
std::uint32_t number_of(const IpAddress& v4) {
  const auto& b = v4.bytes;
  return std::uint32_t{b[0]} << 24U | std::uint32_t{b[1]} << 16U | std::uint32_t{b[2]} << 8U |
         std::uint32_t{b[3]};
}

// What two devices may not share. ModelArts tells devices apart by address and port.
struct Key {
  IpAddress ip;
  std::string_view scope;
  std::int64_t port;
  friend auto operator<=>(const Key&, const Key&) = default;
};

// IPv4 addresses, which are nearly all: open addressing in eight bytes a slot, three quarters full
// at most. Colliding addresses end up in a tree.
class SeenV4 {
 public:
  explicit SeenV4(std::size_t most)
      : shift_(64U - static_cast<unsigned>(std::bit_width(most + most / 3 + 1))),
        slots_(std::size_t{1} << (64U - shift_)) {}

  // The index that the address was given first, and whether that was now.
  std::pair<std::uint32_t, bool> first_index(std::uint32_t address, std::uint32_t index) {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15U;
    constexpr std::size_t kMaxProbes = 64;
    const std::size_t mask = slots_.size() - 1;
    const std::size_t home = address * kOdd >> shift_;
    for (std::size_t probe = 0; probe < std::min(kMaxProbes, slots_.size()); ++probe) {
      Slot& slot = slots_[(home + probe) & mask];
      if (slot.index_plus_1 == 0) {
        slot = {address, index + 1};
        return {index, true};
      }
      if (slot.address == address) return {slot.index_plus_1 - 1, false};
    }
    const auto [at, is_new] = crowded_.emplace(address, index);
    return {at->second, is_new};
  }

 private:
  struct Slot {
    std::uint32_t address = 0;
    std::uint32_t index_plus_1 = 0;
  };
  unsigned shift_;
  std::vector<Slot> slots_;
  std::map<std::uint32_t, std::uint32_t> crowded_;
};

bool is_documentation(const IpAddress& ip) {
  const auto& b = ip.bytes;
  if (ip.v6) return b[0] == 0x20 && b[1] == 0x01 && b[2] == 0x0d && b[3] == 0xb8;
  return (b[0] == 192 && b[1] == 0 && b[2] == 2) || (b[0] == 198 && b[1] == 51 && b[2] == 100) ||
         (b[0] == 203 && b[1] == 0 && b[2] == 113);
}

class AddressCheck {
 public:
  explicit AddressCheck(Check& check)
      : check_(check), entries_(check.entries), seen_v4_(count_addresses(check.entries)) {}

  void run() {
    const bool vnic_matters = vnic_is_unreachable();
    for (const DeviceEntry& entry : entries_) check_device(entry, vnic_matters);
    for (const Server* server : check_.servers) check_hosts(*server);
    check_missing();
  }

 private:
  Place at(const DeviceEntry& entry) const { return {entry.device->source, "device_ip"}; }

  void check_device(const DeviceEntry& entry, bool vnic_matters) {
    const Device& device = *entry.device;
    if (device.backup_ip) check_syntax(device.backup_ip, {device.source, "backup_device_ip"});
    if (!device.device_ip || device.device_ip->empty()) return;
    const std::string_view text = *device.device_ip;
    // Nearly all addresses of nearly all tables are usual.
    const auto plain = parse_ip(text);
    const bool usual = plain && is_usual(entry, *plain, text);
    const std::size_t count = usual ? 1 : check_each(entry, text, vnic_matters);
    if (addresses_ == 0) addresses_ = count;
    if (count == addresses_) return;
    check_.error("RT040", at(entry),
                 concat("this device has ", count, " addresses, others have ", addresses_,
                        "; all must have the same number"));
  }

  // Whether this is IPv4 and no rule but that of repeated addresses can apply to it, and it is new;
  // it is then recorded.
  bool is_usual(const DeviceEntry& entry, const IpAddress& ip, std::string_view text) {
    constexpr std::uint8_t kVnics = 192;
    constexpr std::uint8_t kTest2 = 198;
    constexpr std::uint8_t kTest3 = 203;
    constexpr std::uint8_t kLoopback = 127;
    const std::uint8_t front = ip.bytes[0];
    if (ip.v6 || family_ == nullptr || v6_ || front == kVnics || front == kTest2 ||
        front == kTest3 || front == kLoopback || check_.is(Dialect::modelarts_global)) {
      return false;
    }
    const Server& server = *entry.server;
    for (const Text* name : {&server.server_id, &server.host_ip, &server.server_ip}) {
      if (*name && (*name)->size() == text.size() && **name == text) return false;
    }
    const auto index = static_cast<std::uint32_t>(&entry - entries_.data());
    return seen_v4_.first_index(number_of(ip), index).second;
  }

  // Of a comma-separated list; returns how many there are.
  std::size_t check_each(const DeviceEntry& entry, std::string_view list, bool vnic_matters) {
    const std::vector<std::string_view> texts = split(list, ',');
    for (const std::string_view text : texts) {
      const auto parsed = parse_scoped_ip(text);
      if (parsed) {
        check_one(entry, *parsed, text, vnic_matters);
      } else {
        check_.error("RT040", at(entry), "device_ip " + in_quotes(text) + " is not an IP address");
      }
    }
    return texts.size();
  }

  void check_one(const DeviceEntry& entry, const ScopedIp& parsed, std::string_view text,
                 bool vnic_matters) {
    const DeviceEntry* first = first_with(parsed, entry);
    if (first != nullptr) {
      check_.add("RT041", check_.severity_of_repeat(*first, entry), at(entry),
                 "device_ip " + in_quotes(text) + " is repeated", at(*first));
    }
    check_family(entry, parsed.ip, text);
    check_likely(entry, parsed.ip, text);
    if (vnic_matters && entry.device->device_id &&
        is_vnic_address(parsed.ip, *entry.device->device_id)) {
      check_.warn("RT045", at(entry),
                  concat("device_ip ", in_quotes(text), " looks like the vNIC address of device ",
                         *entry.device->device_id));
    }
  }

  // The device that has this address already; else this one is noted.
  const DeviceEntry* first_with(const ScopedIp& address, const DeviceEntry& entry) {
    const bool by_port = check_.is(Dialect::modelarts_global) && entry.device->device_port;
    if (!address.ip.v6 && !by_port) {
      const auto index = static_cast<std::uint32_t>(&entry - entries_.data());
      const auto [first, is_new] = seen_v4_.first_index(number_of(address.ip), index);
      return is_new ? nullptr : &entries_[first];
    }
    const std::int64_t port = by_port ? *entry.device->device_port : 0;
    const auto [at, is_new] = seen_.emplace(Key{address.ip, address.scope, port}, &entry);
    return is_new ? nullptr : at->second;
  }

  // All devices have as many as the first, or it is wrong.
  static std::size_t count_addresses(const std::vector<DeviceEntry>& entries) {
    if (entries.empty() || !entries.front().device->device_ip) return entries.size();
    const std::string& text = *entries.front().device->device_ip;
    constexpr std::ptrdiff_t kMaxPorts = 8;
    const auto commas = std::count(text.begin(), text.end(), ',');
    return entries.size() * static_cast<std::size_t>(std::min(commas, kMaxPorts) + 1);
  }

  // One finding, at the first change of family.
  void check_family(const DeviceEntry& entry, const IpAddress& ip, std::string_view text) {
    if (family_ == nullptr) {
      family_ = &entry;
      v6_ = ip.v6;
    } else if (ip.v6 != v6_ && !mixed_) {
      mixed_ = true;
      check_.error("RT043", at(entry),
                   "device_ip " + in_quotes(text) + " is IPv" + (ip.v6 ? "6" : "4") +
                       ", but that of the first device is IPv" + (v6_ ? "6" : "4"),
                   at(*family_));
    }
  }

  void check_likely(const DeviceEntry& entry, const IpAddress& ip, std::string_view text) {
    const Server& server = *entry.server;
    const char* what = nullptr;
    if (server.host_ip == text) {
      what = "is also the address of the host";
    } else if (server.server_id == text || server.server_ip == text) {
      what = "is also the name of the server";
    } else if (ip.is_loopback()) {
      what = "is a loopback address";
    } else if (is_documentation(ip)) {
      what = "is in a range reserved for documentation";
    }
    if (what != nullptr) {
      check_.warn("RT044", at(entry), "device_ip " + in_quotes(text) + " " + what);
    }
  }

  template <class AnyText>
  void check_syntax(const AnyText& text, Place place) {
    if (!text || parse_scoped_ip(*text)) return;
    check_.error("RT040", place,
                 concat(place.member, " ", in_quotes(*text), " is not an IP address"));
  }

  void check_hosts(const Server& server) {
    check_syntax(server.host_ip, {server.source, "host_ip"});
    if (check_.is(Dialect::mindie_llm)) {
      check_syntax(server.container_ip, {server.source, "container_ip"});
    }
  }

  // vNICs talk over HCCS, which ends at the super pod; without super pods at the server.
  bool vnic_is_unreachable() const {
    if (check_.table.super_pods) return check_.table.super_pods->size() > 1;
    if (check_.is(Dialect::vllm_ascend)) {
      std::unordered_set<std::string_view> pods;
      bool all_know = true;
      for (const DeviceEntry& entry : entries_) {
        all_know = all_know && entry.device->super_pod_id.has_value();
        if (entry.device->super_pod_id) pods.insert(*entry.device->super_pod_id);
      }
      return all_know ? pods.size() > 1 : check_.several_machines;
    }
    return check_.several_machines;
  }

  bool all_hosts_have_addresses() const {
    for (const Server* server : check_.servers) {
      if (!server->host_ip || server->host_ip->empty()) return false;
    }
    return true;
  }

  // Whether this consumer needs device_ip in this table.
  bool needed() const {
    switch (check_.profile) {
      case Profile::mindie_llm:
      case Profile::mindie_motor:
      case Profile::vllm_ascend:
      case Profile::modelarts:
        return true;
      case Profile::hccl_a3:
        if (check_.table.super_pods) return check_.table.super_pods->size() > 1;
        return check_.several_machines && !all_hosts_have_addresses();
      default:
        return check_.for_hccl() && check_.several_machines && !all_hosts_have_addresses() &&
               !(check_.table.super_pods && check_.table.super_pods->size() == 1);
    }
  }

  void check_missing() {
    if (!needed()) return;
    for (const DeviceEntry& entry : entries_) {
      if (entry.device->device_ip && !entry.device->device_ip->empty()) continue;
      check_.error("RT042", at(entry), "device_ip is missing");
    }
  }

  Check& check_;
  const std::vector<DeviceEntry>& entries_;
  SeenV4 seen_v4_;
  std::map<Key, const DeviceEntry*> seen_;  // the others
  std::size_t addresses_ = 0;               // of the first device
  const DeviceEntry* family_ = nullptr;
  bool v6_ = false;
  bool mixed_ = false;
};

}  // namespace

void check_addresses(Check& check) { AddressCheck(check).run(); }

}  // namespace chipweave::domain::ranktable

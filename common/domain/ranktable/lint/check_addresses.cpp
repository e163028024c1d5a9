// Addresses of devices and hosts.
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "common/base/ip_address.hpp"
#include "common/domain/ranktable/lint/check.hpp"
#include "common/domain/ranktable/sdid.hpp"

namespace chipweave::domain::ranktable {
namespace {

struct Parsed {
  IpAddress ip;
  std::string_view scope;  // of an IPv6 address, with its '%'
};

std::optional<Parsed> parse(std::string_view text) {
  const std::size_t percent = text.find('%');
  Parsed out;
  if (percent != text.npos) {
    out.scope = text.substr(percent);
    text = text.substr(0, percent);
  }
  const auto ip = parse_ip(text);
  if (!ip || (!out.scope.empty() && (!ip->v6 || out.scope.size() == 1))) return std::nullopt;
  out.ip = *ip;
  return out;
}

// What two devices may not share. ModelArts tells devices apart by address and port.
struct Key {
  IpAddress ip;
  std::string_view scope;
  std::int64_t port;
  friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15U;
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    std::memcpy(&high, key.ip.bytes.data(), sizeof high);
    std::memcpy(&low, key.ip.bytes.data() + sizeof high, sizeof low);
    std::uint64_t hash = (high * kOdd) ^ (low + static_cast<std::uint64_t>(key.port));
    hash = (hash ^ (hash >> 29U)) * kOdd;
    return hash ^ (hash >> 32U);
  }
};

bool is_documentation(const IpAddress& ip) {
  const auto& b = ip.bytes;
  if (ip.v6) return b[0] == 0x20 && b[1] == 0x01 && b[2] == 0x0d && b[3] == 0xb8;
  return (b[0] == 192 && b[1] == 0 && b[2] == 2) || (b[0] == 198 && b[1] == 51 && b[2] == 100) ||
         (b[0] == 203 && b[1] == 0 && b[2] == 113);
}

class AddressCheck {
 public:
  explicit AddressCheck(Check& check) : check_(check), seats_(check.seats()) {}

  void run() {
    seen_.reserve(seats_.size());
    const bool vnic_matters = vnic_is_unreachable();
    for (const Seat& seat : seats_) check_device(seat, vnic_matters);
    for (const Server* server : check_.servers()) check_hosts(*server);
    check_missing();
  }

 private:
  Place at(const Seat& seat) const { return {seat.device->source, "device_ip"}; }

  void check_device(const Seat& seat, bool vnic_matters) {
    check_syntax(seat.device->backup_ip, {seat.device->source, "backup_device_ip"});
    if (!seat.device->device_ip || seat.device->device_ip->empty()) return;
    std::string_view rest = *seat.device->device_ip;
    std::size_t count = 0;
    while (true) {
      const std::size_t comma = rest.find(',');
      check_one(seat, rest.substr(0, comma), vnic_matters);
      ++count;
      if (comma == rest.npos) break;
      rest.remove_prefix(comma + 1);
    }
    if (addresses_ == 0) addresses_ = count;
    if (count == addresses_) return;
    check_.error("RT040", at(seat),
                 "this device has " + std::to_string(count) + " addresses, others have " +
                     std::to_string(addresses_) + "; all must have the same number");
  }

  void check_one(const Seat& seat, std::string_view text, bool vnic_matters) {
    const auto parsed = parse(text);
    if (!parsed) {
      check_.error("RT040", at(seat), "device_ip " + quoted(text) + " is no IP address");
      return;
    }
    const bool by_port = check_.is(Dialect::modelarts_global);
    const std::int64_t port = by_port ? seat.device->device_port.value_or(0) : 0;
    const auto [first, is_new] = seen_.emplace(Key{parsed->ip, parsed->scope, port}, &seat);
    if (!is_new) {
      const bool groups = check_.is(Dialect::mindie_global) && first->second->group != seat.group;
      check_.add("RT041", groups ? Severity::warning : Severity::error, at(seat),
                 "device_ip " + quoted(text) + " is there twice", at(*first->second));
    }
    check_family(seat, parsed->ip, text);
    check_likely(seat, parsed->ip, text);
    if (vnic_matters && seat.device->device_id &&
        is_vnic_address(parsed->ip, *seat.device->device_id)) {
      check_.warn("RT045", at(seat),
                  "device_ip " + quoted(text) + " has the form of the vNIC address of device " +
                      std::to_string(*seat.device->device_id));
    }
  }

  // One finding: where the family changes first.
  void check_family(const Seat& seat, const IpAddress& ip, std::string_view text) {
    if (family_ == nullptr) {
      family_ = &seat;
      v6_ = ip.v6;
    } else if (ip.v6 != v6_ && !mixed_) {
      mixed_ = true;
      check_.error("RT043", at(seat),
                   "device_ip " + quoted(text) + " is IPv" + (ip.v6 ? "6" : "4") +
                       ", the first device's is IPv" + (v6_ ? "6" : "4"),
                   at(*family_));
    }
  }

  void check_likely(const Seat& seat, const IpAddress& ip, std::string_view text) {
    const Server& server = *seat.server;
    const char* what = nullptr;
    if (server.host_ip == text) {
      what = "is the host's own address, too";
    } else if (server.server_id == text || server.server_ip == text) {
      what = "is also the name of the server";
    } else if (ip.is_loopback()) {
      what = "is a loopback address";
    } else if (is_documentation(ip)) {
      what = "is from a range for documentation";
    }
    if (what != nullptr) {
      check_.warn("RT044", at(seat), "device_ip " + quoted(text) + " " + what);
    }
  }

  void check_syntax(const Text& text, Place place) {
    if (!text || parse(*text)) return;
    check_.error("RT040", place,
                 std::string(place.member) + " " + quoted(*text) + " is no IP address");
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
      for (const Seat& seat : seats_) {
        all_know = all_know && seat.device->super_pod_id.has_value();
        if (seat.device->super_pod_id) pods.insert(*seat.device->super_pod_id);
      }
      return all_know ? pods.size() > 1 : check_.machines() > 1;
    }
    return check_.machines() > 1;
  }

  bool all_hosts_have_addresses() const {
    for (const Server* server : check_.servers()) {
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
        return check_.machines() > 1 && !all_hosts_have_addresses();
      default:
        return check_.for_hccl() && check_.machines() > 1 && !all_hosts_have_addresses() &&
               !(check_.table.super_pods && check_.table.super_pods->size() == 1);
    }
  }

  void check_missing() {
    if (!needed()) return;
    for (const Seat& seat : seats_) {
      if (seat.device->device_ip && !seat.device->device_ip->empty()) continue;
      check_.error("RT042", at(seat), "device_ip is missing");
    }
  }

  Check& check_;
  std::vector<Seat> seats_;
  std::unordered_map<Key, const Seat*, KeyHash> seen_;
  std::size_t addresses_ = 0;  // of the first device
  const Seat* family_ = nullptr;
  bool v6_ = false;
  bool mixed_ = false;
};

}  // namespace

void check_addresses(Check& check) { AddressCheck(check).run(); }

}  // namespace chipweave::domain::ranktable

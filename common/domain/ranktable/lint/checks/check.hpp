// Check — what the rules of a lint share: the table, its consumer, and the findings.
//
// Internal to common/domain/ranktable.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/domain/ranktable/lint/lint.hpp"

namespace chipweave::domain::ranktable {

// Whether it has a port or a backup address.
inline bool has_ports(const Device& device) {
  return device.device_port || device.backup_port || device.host_port || device.vnic_port ||
         device.backup_ip;
}

// A device with its server and group.
struct DeviceEntry {
  const Group* group;
  const Server* server;
  const Device* device;
};

class Check {
 public:
  Check(const RankTable& the_table, Profile the_profile, Findings& findings);

  const RankTable& table;
  const Profile profile;
  // All devices and all servers, in the order of the text.
  std::vector<DeviceEntry> entries;
  std::vector<const Server*> servers;
  // Rare features of tables: most rules can skip the scan of all devices.
  const Device* first_sdid = nullptr;
  bool any_ports = false;         // or backup addresses
  bool has_negative_id = false;   // a device_id below 0
  bool ids_ascend = true;         // in every server
  bool several_machines = false;  // that list devices

  bool is(Dialect dialect) const { return table.dialect == dialect; }
  bool for_profile(Profile wanted) const { return profile == wanted; }
  // Whether the dialect may list one host in several entries.
  bool lists_hosts_repeatedly() const;
  // MindIE's groups may be tables of jobs at other times, so only devices of one group collide.
  Severity severity_of_repeat(const DeviceEntry& first, const DeviceEntry& second) const {
    const bool groups = is(Dialect::mindie_global) && first.group != second.group;
    return groups ? Severity::warning : Severity::error;
  }
  // HCCL on a given chip, directly or through torch_npu or MindSpore.
  bool for_hccl() const;

  void add(std::string_view code, Severity severity, Place place, std::string message,
           std::optional<Place> related = std::nullopt) {
    if (limit_.admit(code)) {
      findings_.push_back({code, severity, place, related, std::move(message)});
    }
  }
  // After the last rule: reports what the limits cut off.
  void finish() const { limit_.add_summaries(table.source, findings_); }
  void error(std::string_view code, Place place, std::string message,
             std::optional<Place> related = std::nullopt) {
    add(code, Severity::error, place, std::move(message), related);
  }
  void warn(std::string_view code, Place place, std::string message,
            std::optional<Place> related = std::nullopt) {
    add(code, Severity::warning, place, std::move(message), related);
  }

  // False and an error if the value is there and not in min..max.
  bool expect_range(std::string_view code, const Number& value, std::int64_t min, std::int64_t max,
                    Place place);

  // RT020: the numbers of the members `member` must be first, first + 1, …, each once. outside: the
  // severity of others.
  void expect_each_once(std::string_view member,
                        const std::vector<std::pair<Source, Number>>& numbers, std::int64_t first,
                        Severity outside);

  // How many machines: distinct server ids of servers that list devices.
  std::size_t machines() const;

 private:
  Findings& findings_;
  FindingLimit limit_;
};

// The rules, by what they are about.
void check_table(Check& check);       // RT002, RT007, RT010, RT011
void check_servers(Check& check);     // RT012, RT013, RT071
void check_ranks(Check& check);       // RT020 to RT023
void check_devices(Check& check);     // RT030 to RT033, RT063
void check_addresses(Check& check);   // RT040 to RT045
void check_ports(Check& check);       // RT050, RT051
void check_super_pods(Check& check);  // RT060 to RT062
void check_modelarts(Check& check);   // RT070
void check_layered(Check& check);     // RT101 to RT108, and RT020, RT030, RT050 of 2.0

}  // namespace chipweave::domain::ranktable

#include "common/domain/ranktable/lint/lint.hpp"

#include <algorithm>
#include <unordered_set>

#include "common/base/text.hpp"
#include "common/domain/ranktable/lint/checks/check.hpp"

namespace chipweave::domain::ranktable {

Check::Check(const RankTable& the_table, Profile the_profile, Findings& findings)
    : table(the_table), profile(the_profile), findings_(findings) {
  entries.reserve(table.rank_count());
  const Server* machine = nullptr;
  for (const Group& group : table.groups) {
    for (const Server& server : group.servers) {
      servers.push_back(&server);
      if (server.devices.empty()) continue;
      if (machine == nullptr) machine = &server;
      several_machines = several_machines || machine->server_id != server.server_id;
      Number before;
      for (const Device& device : server.devices) {
        ids_ascend = ids_ascend && before < device.device_id;
        before = device.device_id;
        entries.push_back({&group, &server, &device});
        if (device.super_device_id && first_sdid == nullptr) first_sdid = &device;
        has_negative_id = has_negative_id || (device.device_id && device.device_id < 0);
        any_ports = any_ports || has_ports(device);
      }
    }
  }
}

bool Check::lists_hosts_repeatedly() const {
  switch (table.dialect) {
    case Dialect::modelarts_global:
    case Dialect::vllm_ascend:
    case Dialect::group_list:
      return true;
    case Dialect::modelarts_1980:  // its group form
      return table.groups.size() != 1 || table.groups.front().count.has_value();
    default:
      return false;
  }
}

bool Check::for_hccl() const {
  switch (profile) {
    case Profile::hccl_910a:
    case Profile::hccl_a2:
    case Profile::hccl_a3:
    case Profile::torch_npu:
    case Profile::mindspore:
      return true;
    default:
      return false;
  }
}

bool Check::expect_range(std::string_view code, const Number& value, std::int64_t min,
                         std::int64_t max, Place place) {
  if (!value || (*value >= min && *value <= max)) return true;
  error(code, place, concat(place.member, " must be ", min, " to ", max, ", got ", *value));
  return false;
}

void Check::expect_each_once(std::string_view member,
                             const std::vector<std::pair<Source, Number>>& numbers,
                             std::int64_t first, Severity outside) {
  const std::int64_t last = first + static_cast<std::int64_t>(numbers.size()) - 1;
  std::vector<const Source*> seen(numbers.size(), nullptr);
  for (const auto& [source, number] : numbers) {
    if (!number) continue;
    const Place place{source, member};
    if (*number < first || *number > last) {
      add("RT020", outside, place,
          concat(member, " must be ", first, " to ", last, ", got ", *number));
      continue;
    }
    const Source*& before = seen[static_cast<std::size_t>(*number - first)];
    if (before != nullptr) {
      error("RT020", place, concat(member, " ", *number, " is repeated"), Place{*before, member});
    }
    before = &source;
  }
}

std::size_t Check::machines() const {
  std::unordered_set<std::string_view> ids;
  for (const Server* server : servers) {
    if (server->server_id && !server->devices.empty()) ids.insert(*server->server_id);
  }
  return ids.size();
}

Findings lint(const RankTable& table, Profile profile) {
  Findings out;
  Check check(table, profile, out);
  check_table(check);
  if (table.dialect == Dialect::hccl_2_0) {
    check_layered(check);
  } else if (table.dialect != Dialect::hccl_2_0_prerelease) {
    check_servers(check);
    check_ranks(check);
    check_devices(check);
    check_addresses(check);
    check_ports(check);
    check_super_pods(check);
    check_modelarts(check);
  }
  check.finish();
  return out;
}

}  // namespace chipweave::domain::ranktable

// Device ids: unique on a host, in the chip's range, in sets that the hardware runs.
#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/domain/ranktable/lint/checks/check.hpp"

namespace chipweave::domain::ranktable {
namespace {

// Instances of one machine share its address, in ModelArts' tables also its (free) name.
std::string_view host_of(const Check& check, const Server& server) {
  if (check.is(Dialect::modelarts_global) && server.server_ip) return *server.server_ip;
  return server.server_id ? std::string_view(*server.server_id) : std::string_view();
}

// What device ids are unique in: a host, in MindIE's tables a pod of it, since a server_id that
// several pods have may be that of several hosts (RT012).
std::pair<std::string_view, std::string_view> unit_of(const Check& check, const Server& server) {
  const bool pods = check.is(Dialect::mindie_global) && server.server_ip;
  return {host_of(check, server), pods ? std::string_view(*server.server_ip) : ""};
}

bool several_entries(const Check& check) {
  return check.lists_hosts_repeatedly() || check.is(Dialect::mindie_global);
}

// Over all entries of a host if it has several, else in each entry: that a server is repeated is
// RT012.
void check_unique(Check& check) {
  const bool by_host = several_entries(check);
  if (!by_host && check.ids_ascend) return;
  std::map<std::pair<std::string_view, std::string_view>,
           std::unordered_map<std::int64_t, const DeviceEntry*>>
      seen;
  const Server* last = nullptr;
  for (const DeviceEntry& entry : check.entries) {
    const Server& server = *entry.server;
    if (!by_host && last != nullptr && &server != last) seen.clear();
    last = &server;
    if (entry.device->device_id < 0) continue;
    const auto [first, is_new] =
        seen[unit_of(check, server)].emplace(*entry.device->device_id, &entry);
    if (is_new) continue;
    check.add("RT030", check.severity_of_repeat(*first->second, entry),
              {entry.device->source, "device_id"},
              concat("device_id ", *entry.device->device_id, " of host ",
                     in_quotes(host_of(check, server)), " is repeated"),
              Place{first->second->device->source, "device_id"});
  }
}

void check_below_zero(Check& check) {
  if (!check.has_negative_id) return;
  for (const DeviceEntry& entry : check.entries) {
    const Number& id = entry.device->device_id;
    if (!id || id >= 0 || (id == -1 && check.is(Dialect::hccl_1_1))) continue;
    check.error("RT030", {entry.device->source, "device_id"},
                concat("device_id must not be negative, got ", *id));
  }
}

std::int64_t largest_id(Profile profile) {
  switch (profile) {
    case Profile::hccl_910a:
      return 7;
    case Profile::hccl_a2:
    case Profile::hccl_a3:
      return 15;
    case Profile::hccl_310p:
      return 31;
    case Profile::hccl_950:
      return 64;
    case Profile::mindie_llm:
      return 63;
    case Profile::mindie_motor:
      return 2048;
    default:
      return INT64_MAX;
  }
}

void check_range(Check& check) {
  const std::int64_t max = largest_id(check.profile);
  if (max == INT64_MAX) return;
  for (const DeviceEntry& entry : check.entries) {
    if (entry.device->device_id <= max) continue;
    check.error("RT031", {entry.device->source, "device_id"},
                concat("device_id ", *entry.device->device_id, " is above ", max, ", the last of ",
                       to_string(check.profile)));
  }
}

std::vector<int> sorted_ids(const Server& server) {
  std::vector<int> out;
  for (const Device& device : server.devices) {
    constexpr std::int64_t kMax = 1 << 20;
    if (device.device_id && *device.device_id >= 0 && *device.device_id <= kMax) {
      out.push_back(static_cast<int>(*device.device_id));
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Four devices of a 910A: two rings of four, or two of each that are opposite.
bool is_910a_four(const std::vector<int>& ids) {
  static const std::array<std::array<int, 4>, 8> kSets = {{{0, 1, 2, 3},
                                                           {4, 5, 6, 7},
                                                           {0, 1, 4, 5},
                                                           {0, 2, 4, 6},
                                                           {0, 3, 4, 7},
                                                           {1, 2, 5, 6},
                                                           {1, 3, 5, 7},
                                                           {2, 3, 6, 7}}};
  return std::any_of(kSets.begin(), kSets.end(), [&](const auto& set) {
    return std::equal(set.begin(), set.end(), ids.begin(), ids.end());
  });
}

void check_910a(Check& check, const Server& server) {
  const std::size_t count = server.devices.size();
  const Place place{server.source, "device"};
  if (count != 1 && count != 2 && count != 4 && count != 8) {
    check.error("RT032", place,
                concat("a 910A server must have 1, 2, 4 or 8 devices, got ", count));
  } else if (count == 4 && !is_910a_four(sorted_ids(server))) {
    check.error("RT032", place,
                "devices " + comma_list(sorted_ids(server)) +
                    " form no ring on a 910A; sets of four that do: 0123, 4567, 0145, 0246, 0347, "
                    "1256, 1357, 2367");
  }
}

// Every server must have as many devices as the first.
void check_equal_counts(Check& check) {
  const Server* first = nullptr;
  for (const Server* server : check.servers) {
    if (server->devices.empty()) continue;
    if (first == nullptr) first = server;
    if (server->devices.size() == first->devices.size()) continue;
    check.error("RT032", {server->source, "device"},
                concat("this server has ", server->devices.size(), " devices, but ",
                       in_quotes(first->server_id.value_or("")), " has ", first->devices.size(),
                       "; all must have the same number"),
                Place{first->source, "device"});
  }
}

void check_sets(Check& check) {
  constexpr std::size_t kMaxLlm = 32;
  constexpr std::size_t kMaxMotor = 128;
  switch (check.profile) {
    case Profile::hccl_910a:
      for (const Server* server : check.servers) check_910a(check, *server);
      check_equal_counts(check);
      break;
    case Profile::hccl_310p:
      if (check.several_machines) {
        check.warn("RT032", {check.table.source, "server_list"},
                   concat("300I Duo supports one server only, the table has ", check.machines()));
      }
      break;
    case Profile::mindie_llm:
    case Profile::mindie_motor: {
      const std::size_t max = check.for_profile(Profile::mindie_llm) ? kMaxLlm : kMaxMotor;
      for (const Server* server : check.servers) {
        if (server->devices.size() > max) {
          check.error(
              "RT032", {server->source, "device"},
              concat("this server has ", server->devices.size(), " devices; the maximum is ", max));
        }
      }
      if (check.for_profile(Profile::mindie_llm)) check_equal_counts(check);
      break;
    }
    default:
      break;
  }
}

// 0, 1, 10, 11, .. 2: sorted as text.
void check_text_order(Check& check) {
  if (check.ids_ascend) return;
  for (const Server* server : check.servers) {
    const bool numeric =
        std::is_sorted(server->devices.begin(), server->devices.end(),
                       [](const Device& a, const Device& b) { return a.device_id < b.device_id; });
    if (numeric) continue;
    std::vector<std::string> texts;
    for (const Device& device : server->devices) {
      texts.push_back(device.device_id ? std::to_string(*device.device_id) : "");
    }
    if (!std::is_sorted(texts.begin(), texts.end())) continue;
    check.warn("RT033", {server->source, "device"},
               "device ids are sorted as text, not as numbers");
  }
}

// The devices by id.
std::vector<const Device*> by_id(const Check& check, const Server& server) {
  std::vector<const Device*> out;
  for (const Device& device : server.devices) {
    if (device.device_id && device.rank_id) out.push_back(&device);
  }
  if (check.ids_ascend) return out;
  std::stable_sort(out.begin(), out.end(),
                   [](const Device* a, const Device* b) { return a->device_id < b->device_id; });
  return out;
}

// Dies 2k and 2k+1 are one NPU of an A3 server. Only the first pair of a server is reported.
void check_dies(Check& check, const Server& server) {
  const std::vector<const Device*> devices = by_id(check, server);
  for (std::size_t i = 1; i < devices.size(); ++i) {
    const Device& die = *devices[i - 1];
    const Device& sibling = *devices[i];
    if (*die.device_id % 2 != 0 || *sibling.device_id != *die.device_id + 1) continue;
    const std::int64_t gap = *sibling.rank_id - *die.rank_id;
    if (gap == 1 || gap == -1) continue;
    check.warn("RT063", {sibling.source, "rank_id"},
               concat("devices ", *die.device_id, " and ", *sibling.device_id,
                      " are dies of one NPU, but their ranks ", *die.rank_id, " and ",
                      *sibling.rank_id, " are not adjacent"),
               Place{die.source, "rank_id"});
    return;
  }
}

}  // namespace

void check_devices(Check& check) {
  check_below_zero(check);
  check_unique(check);
  check_range(check);
  check_sets(check);
  check_text_order(check);
  if (check.is(Dialect::hccl_1_2) || check.for_profile(Profile::hccl_a3)) {
    for (const Server* server : check.servers) check_dies(check, *server);
  }
}

}  // namespace chipweave::domain::ranktable

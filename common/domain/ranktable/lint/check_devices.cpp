// Device ids: unique on a host, in the chip's range, in sets that the hardware runs.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "common/base/text.hpp"
#include "common/domain/ranktable/lint/check.hpp"

namespace chipweave::domain::ranktable {
namespace {

// A device of a host, as a key. Where a host has one entry only the entry is the host: that a name
// is there twice is RT012.
struct HostDevice {
  const Server* entry;  // nullptr: the name counts
  std::string_view host;
  std::int64_t device;
  friend bool operator==(const HostDevice&, const HostDevice&) = default;
};
struct HostDeviceHash {
  std::size_t operator()(const HostDevice& key) const {
    constexpr std::size_t kOdd = 0x9E3779B97F4A7C15U;
    return std::hash<std::string_view>()(key.host) ^ std::hash<const void*>()(key.entry) ^
           (static_cast<std::size_t>(key.device) + 1) * kOdd;
  }
};

// Instances of one machine share its address, in ModelArts' tables also its (free) name.
std::string_view host_of(const Check& check, const Server& server) {
  if (check.is(Dialect::modelarts_global) && server.server_ip) return *server.server_ip;
  return server.server_id ? std::string_view(*server.server_id) : std::string_view();
}

bool several_entries(const Check& check) {
  switch (check.table.dialect) {
    case Dialect::modelarts_global:
    case Dialect::mindie_global:
    case Dialect::vllm_ascend:
    case Dialect::group_list:
      return true;
    case Dialect::modelarts_1980:
      return check.table.groups.size() > 1 ||
             (!check.table.groups.empty() && check.table.groups.front().count.has_value());
    default:
      return false;
  }
}

// MindIE's groups may be tables of jobs at other times, so only one group's devices collide.
Severity severity_of_repeat(const Check& check, const Seat& first, const Seat& second) {
  const bool groups = check.is(Dialect::mindie_global) && first.group != second.group;
  return groups ? Severity::warning : Severity::error;
}

void check_unique(Check& check, const std::vector<Seat>& seats) {
  std::unordered_map<HostDevice, const Seat*, HostDeviceHash> seen;
  seen.reserve(seats.size());
  for (const Seat& seat : seats) {
    if (!seat.device->device_id) continue;
    const std::int64_t id = *seat.device->device_id;
    const Place place{seat.device->source, "device_id"};
    const bool cpu = id == -1 && check.is(Dialect::hccl_1_1);
    if (id < 0 && !cpu)
      check.error("RT030", place, "device_id " + std::to_string(id) + " is below 0");
    if (id < 0) continue;
    const HostDevice key = several_entries(check)
                               ? HostDevice{nullptr, host_of(check, *seat.server), id}
                               : HostDevice{seat.server, {}, id};
    const auto [at, is_new] = seen.emplace(key, &seat);
    if (is_new) continue;
    check.add("RT030", severity_of_repeat(check, *at->second, seat), place,
              "device_id " + std::to_string(id) + " of host " +
                  quoted(host_of(check, *seat.server)) + " is there twice",
              Place{at->second->device->source, "device_id"});
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

void check_range(Check& check, const std::vector<Seat>& seats) {
  const std::int64_t most = largest_id(check.profile);
  for (const Seat& seat : seats) {
    if (!seat.device->device_id || *seat.device->device_id <= most) continue;
    check.error("RT031", {seat.device->source, "device_id"},
                "device_id " + std::to_string(*seat.device->device_id) + " is above " +
                    std::to_string(most) + ", the last of " +
                    std::string(to_string(check.profile)));
  }
}

std::vector<int> sorted_ids(const Server& server) {
  std::vector<int> out;
  for (const Device& device : server.devices) {
    constexpr std::int64_t kMost = 1 << 20;
    if (device.device_id && *device.device_id >= 0 && *device.device_id <= kMost) {
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
                "a 910A server runs 1, 2, 4 or 8 devices, this one has " + std::to_string(count));
  } else if (count == 4 && !is_910a_four(sorted_ids(server))) {
    check.error("RT032", place,
                "devices " + comma_list(sorted_ids(server)) +
                    " are no set of four that a 910A builds rings of (0123, 4567, 0145, 0246, "
                    "0347, 1256, 1357, 2367)");
  }
}

// Every server as many as the first.
void check_equal_counts(Check& check) {
  const Server* first = nullptr;
  for (const Server* server : check.servers()) {
    if (server->devices.empty()) continue;
    if (first == nullptr) first = server;
    if (server->devices.size() == first->devices.size()) continue;
    check.error("RT032", {server->source, "device"},
                "this server has " + std::to_string(server->devices.size()) + " devices, " +
                    quoted(first->server_id.value_or("")) + " has " +
                    std::to_string(first->devices.size()) + "; all must have the same number",
                Place{first->source, "device"});
  }
}

void check_sets(Check& check) {
  constexpr std::size_t kMostLlm = 32;
  constexpr std::size_t kMostMotor = 128;
  switch (check.profile) {
    case Profile::hccl_910a:
      for (const Server* server : check.servers()) check_910a(check, *server);
      check_equal_counts(check);
      break;
    case Profile::hccl_310p:
      if (check.machines() > 1) {
        check.warn(
            "RT032", {check.table.source, "server_list"},
            "300I Duo runs one server only, the table has " + std::to_string(check.machines()));
      }
      break;
    case Profile::mindie_llm:
    case Profile::mindie_motor: {
      const std::size_t most = check.for_profile(Profile::mindie_llm) ? kMostLlm : kMostMotor;
      for (const Server* server : check.servers()) {
        if (server->devices.size() > most) {
          check.error("RT032", {server->source, "device"},
                      "this server has " + std::to_string(server->devices.size()) +
                          " devices, at most " + std::to_string(most) + " are read");
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
  for (const Server* server : check.servers()) {
    std::vector<std::string> texts;
    bool numeric = true;
    std::int64_t before = -1;
    for (const Device& device : server->devices) {
      if (!device.device_id) return;
      numeric = numeric && *device.device_id >= before;
      before = *device.device_id;
      texts.push_back(std::to_string(*device.device_id));
    }
    if (numeric || !std::is_sorted(texts.begin(), texts.end())) continue;
    check.warn("RT033", {server->source, "device"},
               "device ids are in the order of their text, not of their numbers");
  }
}

// Dies 2k and 2k+1 are one NPU of an A3 server.
void check_dies(Check& check) {
  const bool a3 = check.is(Dialect::hccl_1_2) || check.for_profile(Profile::hccl_a3);
  if (!a3) return;
  for (const Server* server : check.servers()) {
    std::map<std::int64_t, const Device*> by_id;
    for (const Device& device : server->devices) {
      if (device.device_id && device.rank_id) by_id.emplace(*device.device_id, &device);
    }
    for (const auto& [id, device] : by_id) {
      const auto sibling = by_id.find(id + 1);
      if (id % 2 != 0 || sibling == by_id.end()) continue;
      const std::int64_t gap = *sibling->second->rank_id - *device->rank_id;
      if (gap == 1 || gap == -1) continue;
      check.warn("RT063", {sibling->second->source, "rank_id"},
                 "devices " + std::to_string(id) + " and " + std::to_string(id + 1) +
                     " are dies of one NPU, their ranks " + std::to_string(*device->rank_id) +
                     " and " + std::to_string(*sibling->second->rank_id) + " are no neighbours",
                 Place{device->source, "rank_id"});
      break;  // one a server says it
    }
  }
}

}  // namespace

void check_devices(Check& check) {
  const std::vector<Seat> seats = check.seats();
  check_unique(check, seats);
  check_range(check, seats);
  check_sets(check);
  check_text_order(check);
  check_dies(check);
}

}  // namespace chipweave::domain::ranktable

// ModelArts' tables of prefill and decode: groups 0, 1, 2, instances of equal size, local tables
// that are part of the global one.
#include <algorithm>
#include <array>
#include <map>

#include "common/base/foreign_text.hpp"
#include "common/base/ip_address.hpp"
#include "common/base/text.hpp"
#include "common/domain/ranktable/lint/checks/check.hpp"

namespace chipweave::domain::ranktable {
namespace {

struct Role {
  std::string_view id;
  std::string_view what;
};
constexpr std::array<Role, 3> kRoles = {
    {{"0", "scheduler"}, {"1", "prefill instances"}, {"2", "decode instances"}}};

// What merge-all writes: a group an instance, numbered from 0; not the documented layout.
bool is_group_per_instance(const RankTable& table) {
  return !table.groups.empty() &&
         std::any_of(table.groups.begin(), table.groups.end(), [](const Group& group) {
           return group.id == "0" && !group.servers.empty() && group.servers.front().lists_devices;
         });
}

const Group* group_of(const RankTable& table, std::string_view id) {
  const auto at = std::find_if(table.groups.begin(), table.groups.end(),
                               [&](const Group& group) { return group.id == id; });
  return at == table.groups.end() ? nullptr : &*at;
}

// A table that lacks a group is one machine's part; serving needs all groups.
void check_group_set(Check& check) {
  const RankTable& table = check.table;
  const Severity missing =
      check.for_profile(Profile::modelarts) ? Severity::error : Severity::warning;
  for (const Role& role : kRoles) {
    if (group_of(table, role.id) != nullptr) continue;
    check.add(
        "RT070", missing, {table.source, "server_group_list"},
        concat("group \"", role.id, "\" (", role.what, ") is missing: the table is incomplete"));
  }
  std::string before;
  for (const Group& group : table.groups) {
    if (!group.id) continue;
    const Place place{group.source, "group_id"};
    const bool known = std::any_of(kRoles.begin(), kRoles.end(),
                                   [&](const Role& role) { return group.id == role.id; });
    if (!known) {
      check.error("RT070", place,
                  "group_id " + in_quotes(*group.id) + " is unknown; known: 0, 1, 2");
      continue;
    }
    if (*group.id == before) {
      check.error("RT070", place, "group " + in_quotes(*group.id) + " is repeated");
    } else if (*group.id < before) {
      check.error("RT070", place, "groups must be in the order 0, 1, 2");
    }
    before = *group.id;
  }
}

void check_scheduler(Check& check) {
  const Group* group = group_of(check.table, "0");
  if (group == nullptr) return;
  if (group->servers.size() != 1) {
    check.error("RT070", {group->source, "server_list"},
                concat("group \"0\" has ", group->servers.size(),
                       " servers; it must have exactly one, the scheduler"));
  }
}

void check_instances(Check& check, const Group& group) {
  const Server* first = nullptr;
  for (const Server& server : group.servers) {
    if (!server.lists_devices) {
      check.error("RT070", {server.source}, "an instance must have devices");
      continue;
    }
    if (server.devices.empty()) {
      check.error("RT070", {server.source, "device"}, "an instance must have devices");
    }
    if (first == nullptr) first = &server;
    if (server.devices.size() == first->devices.size()) continue;
    check.error("RT070", {server.source, "device"},
                concat("this instance has ", server.devices.size(),
                       " devices, but the first of its group has ", first->devices.size(),
                       "; all instances of a role must have the same tensor parallel size"),
                Place{first->source, "device"});
  }
}

// "localhost" is valid for one machine only.
void check_addresses_of_hosts(Check& check) {
  const Server* local = nullptr;
  const Server* other = nullptr;
  std::map<std::string_view, const Server*> id_of;
  for (const Server* server : check.servers) {
    (is_local_host(server->server_ip.value_or("")) ? local : other) = server;
    if (!server->server_ip || !server->server_id) continue;
    const auto [at, is_new] = id_of.emplace(*server->server_ip, server);
    if (is_new || at->second->server_id == server->server_id) continue;
    check.warn("RT071", {server->source, "server_id"},
               "server_ip " + in_quotes(*server->server_ip) + " has two names, " +
                   in_quotes(*server->server_id) + " and " + in_quotes(*at->second->server_id),
               Place{at->second->source, "server_id"});
  }
  if (local == nullptr || other == nullptr) return;
  check.error("RT070", {local->source, "server_ip"},
              "server_ip " + in_quotes(*local->server_ip) +
                  " is a different machine on every host, and the table has several hosts");
}

bool same_server(const Server& a, const Server& b) {
  return a.server_id == b.server_id && a.server_ip == b.server_ip &&
         std::equal(a.devices.begin(), a.devices.end(), b.devices.begin(), b.devices.end(),
                    [](const Device& x, const Device& y) {
                      return x.device_id == y.device_id && x.device_ip == y.device_ip &&
                             x.rank_id == y.rank_id && x.device_port == y.device_port;
                    });
}

// The instance of the global table that has the local one's first device, or its address.
const Server* closest(const Server& local, const RankTable& global) {
  const Server* by_address = nullptr;
  for (const Server* server : global.servers()) {
    if (server->server_ip != local.server_ip) continue;
    const auto& devices = server->devices;
    const bool same_device = !devices.empty() && !local.devices.empty() &&
                             devices.front().device_id == local.devices.front().device_id;
    if (same_device || (devices.empty() && local.devices.empty())) return server;
    by_address = server;
  }
  return by_address;
}

}  // namespace

void check_modelarts(Check& check) {
  if (check.is(Dialect::modelarts_local)) {
    const RankTable& table = check.table;
    if (table.group_id && *table.group_id != "0") {
      check.error("RT070", {table.source, "group_id"},
                  "group_id of a local table must be \"0\", got " + in_quotes(*table.group_id));
    }
    if (!table.groups.empty() && table.groups.front().servers.size() != 1) {
      check.error(
          "RT070", {table.source, "server_list"},
          concat("a local table must have one server, got ", table.groups.front().servers.size()));
    }
    return;
  }
  if (!check.is(Dialect::modelarts_global)) return;
  check_addresses_of_hosts(check);
  if (is_group_per_instance(check.table)) {
    check.warn(
        "RT070", {check.table.source, "server_group_list"},
        "one group for each instance, as merge-all writes it; the documented layout has groups "
        "0 (scheduler), 1 (prefill) and 2 (decode)");
    return;
  }
  check_group_set(check);
  check_scheduler(check);
  for (const Group& group : check.table.groups) {
    if (group.id && *group.id != "0") check_instances(check, group);
  }
}

Findings lint_local_against_global(const RankTable& local, const RankTable& global) {
  Findings out;
  Check check(local, Profile::modelarts, out);
  for (const Server* server : check.servers) {
    const Server* match = closest(*server, global);
    if (match == nullptr) {
      check.error("RT070", {server->source, "server_ip"},
                  "the global table has no server " + in_quotes(server->server_ip.value_or("")));
    } else if (!same_server(*server, *match)) {
      check.error("RT070", {server->source, "device"},
                  "the global table describes this instance differently");
    }
  }
  return out;
}

}  // namespace chipweave::domain::ranktable

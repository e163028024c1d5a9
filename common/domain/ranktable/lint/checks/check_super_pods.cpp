// Super pods and clusters: every server in one, SDIDs that fit device and server.
#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/domain/ranktable/lint/checks/check.hpp"
#include "common/domain/ranktable/sdid.hpp"

namespace chipweave::domain::ranktable {
namespace {

constexpr std::size_t kMaxSetIdBytes = 127;

bool has_sdid(const Server& server) {
  return std::any_of(server.devices.begin(), server.devices.end(),
                     [](const Device& device) { return device.super_device_id.has_value(); });
}

// The sets' ids, the servers they name, and the servers that none names.
class SetCheck {
 public:
  SetCheck(Check& check, const char* what) : check_(check), what_(what) {}

  void run(const std::vector<ServerSet>& sets, const std::vector<Server>& servers) {
    for (const Server& server : servers) {
      if (server.server_id) in_set_.emplace(*server.server_id, nullptr);
    }
    for (const ServerSet& set : sets) check_set(set);
    for (const Server& server : servers) {
      if (!server.server_id || in_set_.at(*server.server_id) != nullptr) continue;
      // MindIE lists servers without super pods beside others.
      const bool needed = !check_.is(Dialect::mindie_global) || has_sdid(server);
      check_.add("RT060", needed ? Severity::error : Severity::warning,
                 {server.source, "server_id"},
                 "server " + in_quotes(*server.server_id) + " is in no " + what_);
    }
  }

 private:
  void check_set(const ServerSet& set) {
    if (set.id) {
      const Place place{set.source, "super_pod_id"};
      if (set.id->empty()) {
        check_.error("RT060", place, concat("the id of a ", what_, " must not be empty"));
      } else if (set.id->size() > kMaxSetIdBytes) {
        check_.error("RT060", place,
                     concat("the id of a ", what_, " must have at most 127 characters"));
      } else if (!ids_.emplace(*set.id).second) {
        check_.error("RT060", place, concat(what_, " ", in_quotes(*set.id), " is repeated"));
      }
    }
    for (const ServerName& name : set.servers) check_name(name);
  }

  void check_name(const ServerName& name) {
    if (!name.server_id) return;
    const Place place{name.source, "server_id"};
    const auto at = in_set_.find(*name.server_id);
    if (at == in_set_.end()) {
      check_.error("RT060", place,
                   concat(what_, " names server ", in_quotes(*name.server_id),
                          ", which is not in server_list"));
    } else if (at->second != nullptr) {
      check_.error("RT060", place,
                   "server " + in_quotes(*name.server_id) +
                       concat(" must be listed in one ", what_, " only"),
                   Place{at->second->source, "server_id"});
    } else {
      at->second = &name;
    }
  }

  Check& check_;
  const char* what_;
  std::unordered_map<std::string_view, const ServerName*> in_set_;
  std::set<std::string_view> ids_;
};

// Super pods as numbers: by server, or by the id that a device has; 0: none.
class Pods {
 public:
  explicit Pods(const RankTable& table) : by_server_(super_pods_by_server(table)) {}
  std::uint32_t of(const Server& server) {
    if (!server.server_id || by_server_.empty()) return 0;
    const auto at = by_server_.find(*server.server_id);
    return at == by_server_.end() ? 0 : named(at->second);
  }
  std::uint32_t named(std::string_view id) {
    return numbers_.emplace(id, static_cast<std::uint32_t>(numbers_.size() + 1)).first->second;
  }

 private:
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::unordered_map<std::string_view, std::string_view> by_server_;
};

// Server by server, in the order of the text.
class SdidCheck {
 public:
  SdidCheck(Check& check, Pods& pods) : check_(check), pods_(pods), ascend_(all_ascend()) {
    if (!ascend_) seen_.reserve(check.entries.size());
  }

  void run() {
    for (const DeviceEntry& entry : check_.entries) {
      if (entry.server != server_) begin_server(*entry.server);
      // Groups of MindIE are jobs of their own.
      if (check_.is(Dialect::mindie_global) && entry.group != group_) seen_.clear();
      group_ = entry.group;
      if (entry.device->super_device_id) check_device(entry);
    }
  }

 private:
  void begin_server(const Server& server) {
    server_ = &server;
    pod_ = pods_.of(server);
    indexed_ = nullptr;
    reported_ = false;
  }

  void check_device(const DeviceEntry& entry) {
    const std::int64_t sdid = *entry.device->super_device_id;
    const Place place{entry.device->source, "super_device_id"};
    if (sdid < 0 || sdid > INT64_C(0xFFFFFFFF)) {
      check_.error("RT062", place, concat("super_device_id must be a 32-bit number, got ", sdid));
      return;
    }
    if (entry.device->super_pod_id) pod_ = pods_.named(*entry.device->super_pod_id);
    if (!ascend_) check_unique(entry, sdid, place);
    if (!reported_) check_layout(entry, sdid, place);  // one finding for each server
  }

  // Numbers that ascend from server to server of each super pod, as in most tables, are unique.
  bool all_ascend() const {
    std::uint64_t before = 0;
    const Server* server = nullptr;
    std::uint64_t pod = 0;
    for (const DeviceEntry& entry : check_.entries) {
      const Number& sdid = entry.device->super_device_id;
      if (entry.device->super_pod_id || !sdid || *sdid < 0) return false;
      if (entry.server != server) pod = pods_.of(*entry.server);
      server = entry.server;
      const std::uint64_t key = pod << 32U | static_cast<std::uint64_t>(*sdid);
      if (key < before || (key == before && &entry != check_.entries.data())) return false;
      before = key;
    }
    return true;
  }

  void check_unique(const DeviceEntry& entry, std::int64_t sdid, Place place) {
    const auto [at, is_new] = seen_.emplace(in_pod(sdid), entry.device);
    if (is_new) return;
    check_.error("RT061", place, concat("super_device_id ", sdid, " is repeated in one super pod"),
                 Place{at->second->source, "super_device_id"});
  }

  std::uint64_t in_pod(std::int64_t number) const {
    return std::uint64_t{pod_} << 32U | static_cast<std::uint64_t>(number);
  }

  void check_layout(const DeviceEntry& entry, std::int64_t sdid, Place place) {
    const auto decoded = decode_sdid(sdid);
    if (!decoded || (entry.device->device_id && decoded->device_id != *entry.device->device_id)) {
      report(place,
             concat("super_device_id ", sdid,
                    (decoded ? concat(" belongs to device ", decoded->device_id)
                             : std::string(" does not have the layout of the driver")),
                    ", not of device ", entry.device->device_id.value_or(-1)),
             std::nullopt);
    } else if (indexed_ != nullptr) {
      check_same_index(decoded->server_index, place);
    } else {
      indexed_ = entry.device;
      index_ = decoded->server_index;
      check_other_servers(entry, place);
    }
  }

  void check_same_index(std::int64_t index, Place place) {
    if (index == index_) return;
    report(place,
           concat("super_device_id belongs to server ", index,
                  " of the super pod, that of another device here to server ", index_),
           Place{indexed_->source, "super_device_id"});
  }

  void check_other_servers(const DeviceEntry& entry, Place place) {
    const auto [other, is_new] = server_at_.emplace(in_pod(index_), &entry);
    if (is_new || other->second->server->server_id == entry.server->server_id) return;
    report(place,
           concat("servers ", in_quotes(entry.server->server_id.value_or("")), " and ",
                  in_quotes(other->second->server->server_id.value_or("")), " have the same index ",
                  index_, " in one super pod"),
           Place{other->second->device->source, "super_device_id"});
  }

  void report(Place place, std::string message, std::optional<Place> related) {
    reported_ = true;
    check_.warn("RT062", place, std::move(message), related);
  }

  Check& check_;
  Pods& pods_;
  bool ascend_;
  std::unordered_map<std::uint64_t, const Device*> seen_;            // pod and SDID
  std::unordered_map<std::uint64_t, const DeviceEntry*> server_at_;  // pod and index
  // Of the current server.
  const Server* server_ = nullptr;
  const Group* group_ = nullptr;
  std::uint32_t pod_ = 0;
  const Device* indexed_ = nullptr;  // the first whose SDID told index_
  std::int64_t index_ = 0;
  bool reported_ = false;
};

}  // namespace

void check_super_pods(Check& check) {
  const RankTable& table = check.table;
  for (const Group& group : table.groups) {
    if (table.super_pods) SetCheck(check, "super pod").run(*table.super_pods, group.servers);
    if (table.clusters) SetCheck(check, "cluster").run(*table.clusters, group.servers);
    if (group.super_pods) {
      SetCheck(check, "super pod").run(*group.super_pods, group.servers);
    } else if (check.is(Dialect::mindie_global) &&
               std::any_of(group.servers.begin(), group.servers.end(), has_sdid)) {
      check.warn("RT060", {group.source},
                 "devices have a super_device_id, but the group has no super_pod_list");
    }
  }
  if (table.super_pods) {
    for (const DeviceEntry& entry : check.entries) {
      if (entry.device->super_device_id) continue;
      check.error("RT005", {entry.device->source},
                  "member \"super_device_id\" is missing; a table with super_pod_list needs it");
    }
  }
  if (check.first_sdid == nullptr) return;
  Pods pods(table);
  SdidCheck(check, pods).run();
}

}  // namespace chipweave::domain::ranktable

// Super pods and clusters: every server in one, SDIDs that fit device and server.
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "common/domain/ranktable/lint/check.hpp"
#include "common/domain/ranktable/sdid.hpp"

namespace chipweave::domain::ranktable {
namespace {

constexpr std::size_t kMostIdBytes = 127;

// The sets' ids, the servers they name, and the servers that none names.
class SetCheck {
 public:
  SetCheck(Check& check, const char* what, bool all_needed)
      : check_(check), what_(what), all_needed_(all_needed) {}

  void run(const std::vector<ServerSet>& sets, const std::vector<Server>& servers) {
    for (const Server& server : servers) {
      if (server.server_id) in_set_.emplace(*server.server_id, nullptr);
    }
    for (const ServerSet& set : sets) check_set(set);
    for (const Server& server : servers) {
      if (!server.server_id || in_set_.at(*server.server_id) != nullptr) continue;
      check_.add("RT060", all_needed_ ? Severity::error : Severity::warning,
                 {server.source, "server_id"},
                 "server " + quoted(*server.server_id) + " is in no " + what_);
    }
  }

 private:
  void check_set(const ServerSet& set) {
    if (set.id) {
      const Place place{set.source, "super_pod_id"};
      if (set.id->empty()) {
        check_.error("RT060", place, std::string(what_) + " has an empty id");
      } else if (set.id->size() > kMostIdBytes) {
        check_.error("RT060", place, std::string(what_) + " has an id of 128 characters and more");
      } else if (!ids_.emplace(*set.id).second) {
        check_.error("RT060", place,
                     std::string(what_) + " " + quoted(*set.id) + " is there twice");
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
                   std::string(what_) + " names server " + quoted(*name.server_id) +
                       ", which is not in server_list");
    } else if (at->second != nullptr) {
      check_.error("RT060", place,
                   "server " + quoted(*name.server_id) + " is in two, or twice in one " + what_,
                   Place{at->second->source, "server_id"});
    } else {
      at->second = &name;
    }
  }

  Check& check_;
  const char* what_;
  bool all_needed_;
  std::unordered_map<std::string_view, const ServerName*> in_set_;
  std::set<std::string_view> ids_;
};

// Which super pod a device is in: by its server, or by what it says itself; "" without any.
class Pods {
 public:
  explicit Pods(const RankTable& table) {
    if (table.super_pods) add(*table.super_pods);
    for (const Group& group : table.groups) {
      if (group.super_pods) add(*group.super_pods);
    }
  }
  std::string_view of(const Seat& seat) const {
    if (seat.device->super_pod_id) return *seat.device->super_pod_id;
    const auto at =
        seat.server->server_id ? by_server_.find(*seat.server->server_id) : by_server_.end();
    return at == by_server_.end() ? std::string_view() : at->second;
  }

 private:
  void add(const std::vector<ServerSet>& sets) {
    for (const ServerSet& set : sets) {
      for (const ServerName& name : set.servers) {
        if (set.id && name.server_id) by_server_.emplace(*name.server_id, *set.id);
      }
    }
  }
  std::unordered_map<std::string_view, std::string_view> by_server_;
};

struct IndexedServer {
  std::int64_t index;
  const Device* device;
};

class SdidCheck {
 public:
  SdidCheck(Check& check, const Pods& pods) : check_(check), pods_(pods) {}

  void add(const Seat& seat) {
    if (!seat.device->super_device_id) return;
    const std::int64_t sdid = *seat.device->super_device_id;
    const Place place{seat.device->source, "super_device_id"};
    if (sdid < 0 || sdid > INT64_C(0xFFFFFFFF)) {
      check_.error("RT062", place, "super_device_id " + std::to_string(sdid) + " has no 32 bits");
      return;
    }
    check_unique(seat, sdid, place);
    check_layout(seat, sdid, place);
  }

 private:
  void check_unique(const Seat& seat, std::int64_t sdid, Place place) {
    const void* group = check_.is(Dialect::mindie_global) ? seat.group : nullptr;
    const auto [at, is_new] =
        seen_.emplace(std::make_tuple(group, pods_.of(seat), sdid), seat.device);
    if (is_new) return;
    check_.error("RT061", place,
                 "super_device_id " + std::to_string(sdid) + " is there twice in one super pod",
                 Place{at->second->source, "super_device_id"});
  }

  // One finding a server: the first that does not fit.
  void check_layout(const Seat& seat, std::int64_t sdid, Place place) {
    if (reported_.count(seat.server) > 0) return;
    const auto decoded = decode_sdid(sdid);
    if (!decoded || (seat.device->device_id && decoded->device_id != *seat.device->device_id)) {
      reported_.insert(seat.server);
      check_.warn("RT062", place,
                  "super_device_id " + std::to_string(sdid) +
                      (decoded ? " is that of device " + std::to_string(decoded->device_id)
                               : std::string(" has no layout that the driver makes")) +
                      ", not of device " + std::to_string(seat.device->device_id.value_or(-1)));
      return;
    }
    check_index(seat, decoded->server_index, place);
  }

  void check_index(const Seat& seat, std::int64_t index, Place place) {
    const auto [own, is_first] = index_of_.emplace(seat.server, IndexedServer{index, seat.device});
    if (!is_first) {
      if (own->second.index == index) return;
      reported_.insert(seat.server);
      check_.warn("RT062", place,
                  "super_device_id is of server " + std::to_string(index) +
                      " of the super pod, another device's here of server " +
                      std::to_string(own->second.index),
                  Place{own->second.device->source, "super_device_id"});
      return;
    }
    const std::string_view id =
        seat.server->server_id ? std::string_view(*seat.server->server_id) : std::string_view();
    const auto [other, is_new] = server_at_.emplace(std::pair(pods_.of(seat), index), &seat);
    if (is_new || other->second->server->server_id == id) return;
    reported_.insert(seat.server);
    check_.warn("RT062", place,
                "servers " + quoted(id) + " and " +
                    quoted(other->second->server->server_id.value_or("")) +
                    " have the same index " + std::to_string(index) + " in one super pod",
                Place{other->second->device->source, "super_device_id"});
  }

  Check& check_;
  const Pods& pods_;
  std::map<std::tuple<const void*, std::string_view, std::int64_t>, const Device*> seen_;
  std::set<const Server*> reported_;
  std::unordered_map<const Server*, IndexedServer> index_of_;
  std::map<std::pair<std::string_view, std::int64_t>, const Seat*> server_at_;
};

bool has_sdids(const std::vector<Seat>& seats) {
  for (const Seat& seat : seats) {
    if (seat.device->super_device_id) return true;
  }
  return false;
}

}  // namespace

void check_super_pods(Check& check) {
  const RankTable& table = check.table;
  for (const Group& group : table.groups) {
    if (table.super_pods) SetCheck(check, "super pod", true).run(*table.super_pods, group.servers);
    if (table.clusters) SetCheck(check, "cluster", true).run(*table.clusters, group.servers);
    if (group.super_pods) SetCheck(check, "super pod", false).run(*group.super_pods, group.servers);
  }
  const std::vector<Seat> seats = check.seats();
  if (table.super_pods) {
    for (const Seat& seat : seats) {
      if (seat.device->super_device_id) continue;
      check.error("RT005", {seat.device->source},
                  "member \"super_device_id\" is missing, which a table with super_pod_list needs");
    }
  }
  if (!has_sdids(seats)) return;
  const Pods pods(table);
  SdidCheck sdids(check, pods);
  for (const Seat& seat : seats) sdids.add(seat);
}

}  // namespace chipweave::domain::ranktable

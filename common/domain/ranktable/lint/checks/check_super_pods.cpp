// Super pods and clusters: every server in one, SDIDs that fit device and server.
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/domain/ranktable/lint/checks/check.hpp"
#include "common/domain/ranktable/sdid.hpp"

namespace chipweave::domain::ranktable {
namespace {

constexpr std::size_t kMaxSuperPodIdBytes = 127;

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
                 "server " + in_quotes(*server.server_id) + " is in no " + what_);
    }
  }

 private:
  void check_set(const ServerSet& set) {
    if (set.id) {
      const Place place{set.source, "super_pod_id"};
      if (set.id->empty()) {
        check_.error("RT060", place, std::string(what_) + " has an empty id");
      } else if (set.id->size() > kMaxSuperPodIdBytes) {
        check_.error("RT060", place, std::string(what_) + " has an id of 128 characters and more");
      } else if (!ids_.emplace(*set.id).second) {
        check_.error("RT060", place,
                     std::string(what_) + " " + in_quotes(*set.id) + " is there twice");
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
                   std::string(what_) + " names server " + in_quotes(*name.server_id) +
                       ", which is not in server_list");
    } else if (at->second != nullptr) {
      check_.error("RT060", place,
                   "server " + in_quotes(*name.server_id) + " is in two, or twice in one " + what_,
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

// Super pods as numbers: by server, or as a device says it itself; 0 without any.
class Pods {
 public:
  explicit Pods(const RankTable& table) {
    if (table.super_pods) add(*table.super_pods);
    for (const Group& group : table.groups) {
      if (group.super_pods) add(*group.super_pods);
    }
  }
  std::uint32_t of(const Server& server) const {
    if (!server.server_id || by_server_.empty()) return 0;
    const auto at = by_server_.find(*server.server_id);
    return at == by_server_.end() ? 0 : at->second;
  }
  std::uint32_t named(std::string_view id) {
    return numbers_.emplace(id, static_cast<std::uint32_t>(numbers_.size() + 1)).first->second;
  }

 private:
  void add(const std::vector<ServerSet>& sets) {
    for (const ServerSet& set : sets) {
      for (const ServerName& name : set.servers) {
        if (set.id && name.server_id) by_server_.emplace(*name.server_id, named(*set.id));
      }
    }
  }
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::unordered_map<std::string_view, std::uint32_t> by_server_;
};

// Server by server, in the order of the text.
class SdidCheck {
 public:
  SdidCheck(Check& check, Pods& pods) : check_(check), pods_(pods), ascend_(all_ascend()) {
    if (!ascend_) seen_.reserve(check.seats.size());
  }

  void run() {
    for (const Seat& seat : check_.seats) {
      if (seat.server != server_) begin_server(*seat.server);
      // Groups of MindIE are jobs of their own.
      if (check_.is(Dialect::mindie_global) && seat.group != group_) seen_.clear();
      group_ = seat.group;
      if (seat.device->super_device_id) check_device(seat);
    }
  }

 private:
  void begin_server(const Server& server) {
    server_ = &server;
    pod_ = pods_.of(server);
    indexed_ = nullptr;
    reported_ = false;
  }

  void check_device(const Seat& seat) {
    const std::int64_t sdid = *seat.device->super_device_id;
    const Place place{seat.device->source, "super_device_id"};
    if (sdid < 0 || sdid > INT64_C(0xFFFFFFFF)) {
      check_.error("RT062", place, "super_device_id " + std::to_string(sdid) + " has no 32 bits");
      return;
    }
    if (seat.device->super_pod_id) pod_ = pods_.named(*seat.device->super_pod_id);
    if (!ascend_) check_unique(seat, sdid, place);
    if (!reported_) check_layout(seat, sdid, place);  // the first of a server says it
  }

  // Numbers that ascend from server to server of each super pod, as in most tables, are unique.
  bool all_ascend() const {
    std::uint64_t before = 0;
    const Server* server = nullptr;
    std::uint64_t pod = 0;
    for (const Seat& seat : check_.seats) {
      const Number& sdid = seat.device->super_device_id;
      if (seat.device->super_pod_id || !sdid || *sdid < 0) return false;
      if (seat.server != server) pod = pods_.of(*seat.server);
      server = seat.server;
      const std::uint64_t key = pod << 32U | static_cast<std::uint64_t>(*sdid);
      if (key < before || (key == before && &seat != check_.seats.data())) return false;
      before = key;
    }
    return true;
  }

  void check_unique(const Seat& seat, std::int64_t sdid, Place place) {
    const auto [at, is_new] = seen_.emplace(in_pod(sdid), seat.device);
    if (is_new) return;
    check_.error("RT061", place,
                 "super_device_id " + std::to_string(sdid) + " is there twice in one super pod",
                 Place{at->second->source, "super_device_id"});
  }

  std::uint64_t in_pod(std::int64_t number) const {
    return std::uint64_t{pod_} << 32U | static_cast<std::uint64_t>(number);
  }

  void check_layout(const Seat& seat, std::int64_t sdid, Place place) {
    const auto decoded = decode_sdid(sdid);
    if (!decoded || (seat.device->device_id && decoded->device_id != *seat.device->device_id)) {
      report(place,
             "super_device_id " + std::to_string(sdid) +
                 (decoded ? " is that of device " + std::to_string(decoded->device_id)
                          : std::string(" has no layout that the driver makes")) +
                 ", not of device " + std::to_string(seat.device->device_id.value_or(-1)),
             std::nullopt);
    } else if (indexed_ != nullptr) {
      check_same_index(decoded->server_index, place);
    } else {
      indexed_ = seat.device;
      index_ = decoded->server_index;
      check_other_servers(seat, place);
    }
  }

  void check_same_index(std::int64_t index, Place place) {
    if (index == index_) return;
    report(place,
           "super_device_id is of server " + std::to_string(index) +
               " of the super pod, another device's here of server " + std::to_string(index_),
           Place{indexed_->source, "super_device_id"});
  }

  void check_other_servers(const Seat& seat, Place place) {
    const auto [other, is_new] = server_at_.emplace(in_pod(index_), &seat);
    if (is_new || other->second->server->server_id == seat.server->server_id) return;
    report(place,
           "servers " + in_quotes(seat.server->server_id.value_or("")) + " and " +
               in_quotes(other->second->server->server_id.value_or("")) + " have the same index " +
               std::to_string(index_) + " in one super pod",
           Place{other->second->device->source, "super_device_id"});
  }

  void report(Place place, std::string message, std::optional<Place> related) {
    reported_ = true;
    check_.warn("RT062", place, std::move(message), related);
  }

  Check& check_;
  Pods& pods_;
  bool ascend_;
  std::unordered_map<std::uint64_t, const Device*> seen_;     // pod and SDID
  std::unordered_map<std::uint64_t, const Seat*> server_at_;  // pod and index
  // Of the server that is looked at.
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
    if (table.super_pods) SetCheck(check, "super pod", true).run(*table.super_pods, group.servers);
    if (table.clusters) SetCheck(check, "cluster", true).run(*table.clusters, group.servers);
    if (group.super_pods) SetCheck(check, "super pod", false).run(*group.super_pods, group.servers);
  }
  if (table.super_pods) {
    for (const Seat& seat : check.seats) {
      if (seat.device->super_device_id) continue;
      check.error("RT005", {seat.device->source},
                  "member \"super_device_id\" is missing, which a table with super_pod_list needs");
    }
  }
  if (check.first_sdid == nullptr) return;
  Pods pods(table);
  SdidCheck(check, pods).run();
}

}  // namespace chipweave::domain::ranktable

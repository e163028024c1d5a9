// RankTable — which rank of a distributed job runs on which accelerator of which server, and its
// addresses: one model for all dialects.
//
// A table has groups of servers. Dialects without groups (HCCL 1.x, MindIE-LLM, a local table) have
// one group without an id; ModelArts' and MindIE's global tables have one for each server_group;
// the cloud template one for each of group_list; vLLM's table has two, prefill and decode, in which
// consecutive entries of one server are that server. HCCL 2.0 has no servers: see `ranks`.
//
// Numbers are stored as numbers, whether or not the dialect quotes them; nullopt if missing or not
// a number. Members that the model does not use are kept as JSON text (Extra), so that no rewrite
// loses them.
//
// A value type of about 200 bytes for each rank.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/domain/ranktable/dialect.hpp"

namespace chipweave::domain::ranktable {

using Text = std::optional<std::string>;

// An optional whole number in eight bytes, since tables have ten of them for each rank. None
// compares below every number.
class Number {
 public:
  constexpr Number() = default;
  constexpr Number(std::nullopt_t) {}
  constexpr Number(std::int64_t value) : value_(value) {}

  constexpr bool has_value() const { return value_ != kNone; }
  constexpr explicit operator bool() const { return has_value(); }
  // Precondition of both: has_value().
  constexpr std::int64_t operator*() const { return value_; }
  constexpr std::int64_t& operator*() { return value_; }
  constexpr std::int64_t value_or(std::int64_t other) const { return has_value() ? value_ : other; }
  constexpr void reset() { value_ = kNone; }
  friend constexpr auto operator<=>(const Number&, const Number&) = default;

 private:
  static constexpr std::int64_t kNone = INT64_MIN;
  std::int64_t value_ = kNone;
};

// A text that few objects have, in eight bytes.
class RareText {
 public:
  RareText() = default;
  RareText(std::nullopt_t) {}
  RareText(std::string text) : text_(std::make_unique<std::string>(std::move(text))) {}
  RareText(const char* text) : RareText(std::string(text)) {}
  RareText(const RareText& other) : RareText(other.copy()) {}
  RareText(RareText&&) noexcept = default;
  RareText& operator=(const RareText& other) { return *this = other.copy(); }
  RareText& operator=(RareText&&) noexcept = default;
  ~RareText() = default;

  bool has_value() const { return text_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  // Precondition of both: has_value().
  const std::string& operator*() const { return *text_; }
  const std::string* operator->() const { return text_.get(); }
  void emplace(std::string_view text) { text_ = std::make_unique<std::string>(text); }
  void reset() { text_.reset(); }
  friend bool operator==(const RareText& a, const RareText& b) {
    return a.has_value() == b.has_value() && (!a.has_value() || *a == *b);
  }
  friend bool operator==(const RareText& a, const Text& b) {
    return a.has_value() == b.has_value() && (!a.has_value() || *a == *b);
  }

 private:
  RareText copy() const { return has_value() ? RareText(*text_) : RareText(); }
  std::unique_ptr<std::string> text_;
};

// Where an object was read: its node in the document, for messages. Not part of the value: all are
// equal.
struct Source {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::uint32_t node = kNone;
  friend bool operator==(const Source&, const Source&) { return true; }
};

// A member that is kept as it was written.
struct Extra {
  std::string after;  // the modelled member before it; empty: first
  std::string name;
  std::string json;
  friend bool operator==(const Extra&, const Extra&) = default;
};
using Extras = std::vector<Extra>;

// The text of a kept member if it is a JSON string without escapes, else "".
std::string_view text_of(const Extras& extras, std::string_view name);

// One rank of the job on one accelerator.
struct Device {
  Source source;
  Number rank_id;          // nullopt also if the dialect has none
  Number device_id;        // physical id on the host; -1: a CPU rank (HCCL 1.1)
  Number logical_id;       // MindIE: position in the pod
  Number super_device_id;  // SDID, see sdid.hpp
  Number cluster_id;       // vLLM
  Number device_port, host_port, vnic_port, backup_port;
  Text device_ip;         // one address, or several separated by commas (dual-port)
  RareText backup_ip;     // the sibling die's
  RareText super_pod_id;  // in vLLM a member of the device
  Extras extras;
  friend bool operator==(const Device&, const Device&) = default;
};

struct Server {
  Source source;
  Text server_id;  // the name of a machine, often its address
  Text host_ip, container_ip, server_ip, pod_ip, pod_name;
  Number rank_id;              // the lab's template: rank of the instance
  bool lists_devices = false;  // has the member; schedulers and controllers do not
  std::vector<Device> devices;
  Extras extras;
  friend bool operator==(const Server&, const Server&) = default;
};

struct ServerName {
  Source source;
  Text server_id;
  Extras extras;
  friend bool operator==(const ServerName&, const ServerName&) = default;
};

// A super pod, or a cluster of MindSpore.
struct ServerSet {
  Source source;
  Text id;
  std::vector<ServerName> servers;
  Extras extras;
  friend bool operator==(const ServerSet&, const ServerSet&) = default;
};

struct Group {
  Source source;
  Text id;
  Number count;  // of servers or instances, as stated
  Number device_count;
  Text deploy_server;  // MindIE
  std::vector<Server> servers;
  std::optional<std::vector<ServerSet>> super_pods;
  Extras extras;
  friend bool operator==(const Group&, const Group&) = default;
};

// HCCL 2.0: an address of a rank in one layer of the network.
struct RankAddress {
  Source source;
  Text type;  // EID, IPV4, IPV6
  Text address;
  std::optional<std::vector<std::string>> ports;  // "die/port" or "d2h"
  Text plane_id;
  Extras extras;
  friend bool operator==(const RankAddress&, const RankAddress&) = default;
};

struct NetLayer {
  Source source;
  Number layer;
  Text instance_id;
  Text type;
  Text attributes;
  std::vector<RankAddress> addresses;
  Extras extras;
  friend bool operator==(const NetLayer&, const NetLayer&) = default;
};

struct LayeredRank {
  Source source;
  Number rank_id;
  Number local_id;
  Number replaced_local_id;  // of the NPU that a backup NPU replaces
  Number device_id;
  Number device_port, host_port;
  std::vector<NetLayer> layers;
  Extras extras;
  friend bool operator==(const LayeredRank&, const LayeredRank&) = default;
};

struct RankTable {
  Dialect dialect = Dialect::hccl_1_0;
  Source source;
  Text version;
  Text status;
  Number count;               // server_count, group_count or rank_count, as stated
  Text group_id;              // only in a local table
  std::vector<Group> groups;  // empty for HCCL 2.0
  std::optional<std::vector<ServerSet>> super_pods;  // HCCL 1.2
  std::optional<std::vector<ServerSet>> clusters;    // MindSpore
  std::vector<LayeredRank> ranks;                    // HCCL 2.0
  Extras extras;
  friend bool operator==(const RankTable&, const RankTable&) = default;

  // The servers of all groups, in the order of the text.
  std::vector<const Server*> servers() const;
  std::size_t rank_count() const;
};

// The id of each server's super pod, by server_id; views into the table.
std::unordered_map<std::string_view, std::string_view> super_pods_by_server(const RankTable& table);

// A table without groups, of version "1.0" and status "completed".
RankTable completed_table(Dialect dialect);

}  // namespace chipweave::domain::ranktable

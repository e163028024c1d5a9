// Other dialects: HCCL 1.1 (node_list), HCCL 2.0 (rank_list) and vLLM's table of prefill and decode
// devices.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "common/codec/ranktable/schema/lists.hpp"

namespace chipweave::codec::ranktable {
namespace {

using domain::ranktable::Text;

constexpr std::array kNodeRank = {
    digits_member("rank_id", &Device::rank_id, "RT020", Need::required),
    digits_member("device_id", &Device::device_id, "RT030", Need::required),
    text_member("rank_ip", &Device::device_ip),
    digits_member("port", &Device::device_port, "RT050"),
    digits_member("sdid", &Device::super_device_id, "RT062"),
    kept_text<Device>("bind_device_id"),
};
constexpr std::array kNode = {
    text_member("node_addr", &Server::server_id, Need::required),
    devices_member("ranks", Need::required),
};
constexpr std::array kNodeTable = {
    text_member("version", &RankTable::version, Need::required),
    text_member("status", &RankTable::status, Need::required),
    kept_text<RankTable>("collective_id"),
    kept_text<RankTable>("master_ip"),
    kept_text<RankTable>("master_port"),
    only_group("node_list", Need::required),
    kept_text<RankTable>("mode"),
};

constexpr auto kPorts = list_member<RankAddress>(
    "ports",
    [](TableReader& reader, JsonTree::Id list, RankAddress& out) {
      const JsonTree& tree = reader.tree();
      if (!reader.expect(list, JsonTree::Kind::array, "an array of strings")) return;
      auto& ports = out.ports.emplace();
      for (JsonTree::Id p = tree.first(list); p != JsonTree::kNone; p = tree.next(list, p)) {
        Text port;
        reader.read_text(p, port);
        if (port) ports.push_back(*std::move(port));
      }
    },
    [](TableWriter& writer, std::string_view name, const RankAddress& from) {
      writer.json().key(name).begin_array();
      for (const std::string& port : *from.ports) writer.json().string(port);
      writer.json().end_array();
    },
    [](const RankAddress& from) { return from.ports.has_value(); }, Need::required);
constexpr std::array kAddress = {
    text_member("addr_type", &RankAddress::type, Need::required),
    text_member("addr", &RankAddress::address, Need::required),
    kPorts,
    text_member("plane_id", &RankAddress::plane_id),
    kept_member<RankAddress>("backup_addr"),
};
constexpr std::array kLayer = {
    number_member("net_layer", &NetLayer::layer, "RT103", Need::required),
    text_member("net_instance_id", &NetLayer::instance_id, Need::required),
    text_member("net_type", &NetLayer::type, Need::required),
    text_member("net_attr", &NetLayer::attributes),
    plain_list<NetLayer, &NetLayer::addresses, &Schema::address>("rank_addr_list"),
    kept_member<NetLayer>("detour"),
};
constexpr std::array kRank = {
    number_member("rank_id", &LayeredRank::rank_id, "RT020", Need::required),
    number_member("local_id", &LayeredRank::local_id, "RT102", Need::required),
    number_member("replaced_local_id", &LayeredRank::replaced_local_id, "RT102"),
    number_member("device_id", &LayeredRank::device_id, "RT030", Need::required),
    number_member("device_port", &LayeredRank::device_port, "RT050"),
    number_member("host_port", &LayeredRank::host_port, "RT050"),
    plain_list<LayeredRank, &LayeredRank::layers, &Schema::layer>("level_list"),
    kept_member<LayeredRank>("control_plane"),
    kept_member<LayeredRank>("detour"),
    kept_member<LayeredRank>("backup_addr"),
};
constexpr std::array kLayeredTable = {
    text_member("version", &RankTable::version, Need::required),
    text_member("status", &RankTable::status),
    number_member("rank_count", &RankTable::count, "RT101", Need::required),
    plain_list<RankTable, &RankTable::ranks, &Schema::rank>("rank_list"),
    kept_text<RankTable>("topo_file_path"),
    kept_member<RankTable>("detour"),
};

// An entry of vLLM's lists is a device that names its server.
struct VllmEntry : Device {
  Text server_id;
};
constexpr std::array kVllmEntry = {
    text_member("server_id", &VllmEntry::server_id, Need::required),
    digits_member<VllmEntry>("device_id", &VllmEntry::device_id, "RT030", Need::required),
    text_member<VllmEntry>("device_ip", &VllmEntry::device_ip, Need::required),
    rare_member<VllmEntry>("super_pod_id", &VllmEntry::super_pod_id),
    digits_member<VllmEntry>("super_device_id", &VllmEntry::super_device_id, "RT062"),
    digits_member<VllmEntry>("cluster_id", &VllmEntry::cluster_id, "RT020", Need::required),
};

void read_entries(TableReader& reader, JsonTree::Id list, const char* id, RankTable& out) {
  Group& group = out.groups.emplace_back();
  group.source.node = list;
  group.id = id;
  std::vector<VllmEntry> entries;
  reader.read_list(list, std::span<const Member<VllmEntry>>(kVllmEntry), entries);
  for (VllmEntry& entry : entries) {
    if (group.servers.empty() || group.servers.back().server_id != entry.server_id) {
      Server& server = group.servers.emplace_back();
      server.source = entry.source;
      server.server_id = entry.server_id;
      server.lists_devices = true;
    }
    group.servers.back().devices.push_back(std::move(entry));
  }
}

template <const char* Id>
bool has_entries(const RankTable& from) {
  return std::any_of(from.groups.begin(), from.groups.end(),
                     [](const Group& group) { return group.id == Id; });
}

void write_entries(TableWriter& writer, std::string_view name, const char* id,
                   const RankTable& from) {
  std::vector<VllmEntry> entries;
  for (const Group& group : from.groups) {
    if (group.id != id) continue;
    for (const Server& server : group.servers) {
      for (const Device& device : server.devices) entries.push_back({device, server.server_id});
    }
  }
  writer.write_list(name, entries, std::span<const Member<VllmEntry>>(kVllmEntry));
}

constexpr char kPrefill[] = "prefill";
constexpr char kDecode[] = "decode";

// The list of one role.
template <const char* Id>
constexpr Member<RankTable> entries_member(std::string_view name) {
  return list_member<RankTable>(
      name,
      [](TableReader& reader, JsonTree::Id list, RankTable& out) {
        read_entries(reader, list, Id, out);
      },
      [](TableWriter& writer, std::string_view key, const RankTable& from) {
        write_entries(writer, key, Id, from);
      },
      has_entries<Id>, Need::required);
}

constexpr std::array kVllmTable = {
    text_member("version", &RankTable::version, Need::required),
    digits_member("server_count", &RankTable::count, "RT011", Need::required),
    entries_member<kPrefill>("prefill_device_list"),
    entries_member<kDecode>("decode_device_list"),
    text_member("status", &RankTable::status, Need::required),
};

}  // namespace

const Schema kHeterogeneous{.table = kNodeTable, .server = kNode, .device = kNodeRank};
const Schema kLayered{.table = kLayeredTable, .rank = kRank, .layer = kLayer, .address = kAddress};
const Schema kVllm{.table = kVllmTable};

}  // namespace chipweave::codec::ranktable

// The lists that schemas share: how each is read into the model and written from it.
//
// Internal to common/codec/ranktable.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "common/codec/ranktable/schema/schema.hpp"
#include "common/codec/ranktable/schema/table_reader.hpp"
#include "common/codec/ranktable/schema/table_writer.hpp"

namespace chipweave::codec::ranktable {

using domain::ranktable::NetLayer;
using domain::ranktable::RankAddress;
using domain::ranktable::ServerName;
using domain::ranktable::ServerSet;

// A list that is a vector of the object. Vector points to it, Members to its schema.
template <class T, auto Vector, auto Members>
constexpr Member<T> plain_list(std::string_view name, Need need = Need::required) {
  return list_member<T>(
      name,
      [](TableReader& reader, JsonTree::Id list, T& out) {
        reader.read_list(list, reader.schema().*Members, out.*Vector);
      },
      [](TableWriter& writer, std::string_view key, const T& from) {
        writer.write_list(key, from.*Vector, writer.schema().*Members);
      },
      [](const T&) { return true; }, need);
}

// The same for a list that may be missing.
template <class T, auto Vector, auto Members>
constexpr Member<T> optional_list(std::string_view name) {
  return list_member<T>(
      name,
      [](TableReader& reader, JsonTree::Id list, T& out) {
        reader.read_list(list, reader.schema().*Members, (out.*Vector).emplace());
      },
      [](TableWriter& writer, std::string_view key, const T& from) {
        writer.write_list(key, *(from.*Vector), writer.schema().*Members);
      },
      [](const T& from) { return (from.*Vector).has_value(); });
}

// The devices of a server; lists_devices tells whether it has the list.
Member<Server> constexpr devices_member(std::string_view name, Need need) {
  return list_member<Server>(
      name,
      [](TableReader& reader, JsonTree::Id list, Server& out) {
        out.lists_devices = true;
        reader.read_list(list, reader.schema().device, out.devices);
      },
      [](TableWriter& writer, std::string_view key, const Server& from) {
        writer.write_list(key, from.devices, writer.schema().device);
      },
      [](const Server& from) { return from.lists_devices || !from.devices.empty(); }, need);
}

// The servers of a table without groups: those of its only group.
constexpr Member<RankTable> only_group(std::string_view name, Need need) {
  return list_member<RankTable>(
      name,
      [](TableReader& reader, JsonTree::Id list, RankTable& out) {
        Group& group = out.groups.emplace_back();
        group.source = out.source;
        reader.read_list(list, reader.schema().server, group.servers);
      },
      [](TableWriter& writer, std::string_view key, const RankTable& from) {
        writer.write_list(key, from.groups.front().servers, writer.schema().server);
      },
      [](const RankTable& from) { return !from.groups.empty(); }, need);
}

inline constexpr std::array kServerName = {
    text_member("server_id", &ServerName::server_id, Need::required),
};
inline constexpr std::array kSuperPod = {
    text_member("super_pod_id", &ServerSet::id, Need::required),
    plain_list<ServerSet, &ServerSet::servers, &Schema::server_name>("server_list"),
};

// A table of servers in super pods.
constexpr Schema by_servers(std::span<const Member<RankTable>> table,
                            std::span<const Member<Server>> server,
                            std::span<const Member<Device>> device) {
  return {.table = table,
          .server = server,
          .device = device,
          .super_pod = kSuperPod,
          .server_name = kServerName};
}

inline constexpr std::array kModelArtsDevice = {
    digits_member("device_id", &Device::device_id, "RT030", Need::required),
    text_member("device_ip", &Device::device_ip, Need::required),
    digits_member("rank_id", &Device::rank_id, "RT020", Need::required),
    digits_member("device_port", &Device::device_port, "RT050"),
};
inline constexpr std::array kModelArtsServer = {
    text_member("server_id", &Server::server_id, Need::required),
    text_member("server_ip", &Server::server_ip, Need::required),
    devices_member("device", Need::optional),
};

}  // namespace chipweave::codec::ranktable

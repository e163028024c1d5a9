#include "common/codec/ranktable/tools/pd_tables.hpp"

#include <utility>

#include "common/codec/ranktable/rank_table.hpp"

namespace chipweave::codec::ranktable {
namespace {

using domain::ranktable::Device;
using domain::ranktable::Dialect;
using domain::ranktable::Group;
using domain::ranktable::RankTable;
using domain::ranktable::Server;

RankTable complete_table(Dialect dialect) {
  RankTable out;
  out.dialect = dialect;
  out.version = "1.0";
  out.status = "completed";
  return out;
}

Server api_server_of(const PdMachine& machine) {
  Server out;
  out.server_id = machine.address;
  out.server_ip = machine.address;
  return out;
}

Server server_of(const PdMachine& machine, const PdInstance& instance) {
  Server out = api_server_of(machine);
  out.lists_devices = true;
  for (const PdDevice& each : instance) {
    Device device;
    device.device_id = each.id;
    device.device_ip = each.address;
    device.rank_id = static_cast<std::int64_t>(out.devices.size());
    if (each.port) device.device_port = *each.port;
    out.devices.push_back(std::move(device));
  }
  return out;
}

Group group_of(std::string id, std::vector<Server> servers) {
  Group out;
  out.id = std::move(id);
  out.count = static_cast<std::int64_t>(servers.size());
  out.servers = std::move(servers);
  return out;
}

std::string local_table(Server server) {
  RankTable table = complete_table(Dialect::modelarts_local);
  table.group_id = "0";
  table.count = 1;
  table.groups.emplace_back().servers.push_back(std::move(server));
  return write_table(table);
}

}  // namespace

std::string local_table_name(const Server& server) {
  std::string ids = server.lists_devices ? "" : "host";
  for (const Device& device : server.devices) ids += std::to_string(device.device_id.value_or(0));
  return "local_ranktable_" + server.server_ip.value_or("") + "_" + ids + ".json";
}

std::vector<NamedText> write_pd_tables(const PdMachine& machine) {
  RankTable global = complete_table(Dialect::modelarts_global);
  std::vector<NamedText> locals;
  const auto add = [&](const char* id, const std::vector<PdInstance>& instances) {
    std::vector<Server> servers;
    for (const PdInstance& instance : instances) {
      servers.push_back(server_of(machine, instance));
      locals.push_back({local_table_name(servers.back()), local_table(servers.back())});
    }
    if (!servers.empty()) global.groups.push_back(group_of(id, std::move(servers)));
  };
  if (machine.api_server) global.groups.push_back(group_of("0", {api_server_of(machine)}));
  add("1", machine.prefill);
  add("2", machine.decode);
  if (machine.api_server) {
    const Server server = api_server_of(machine);
    locals.push_back({local_table_name(server), local_table(server)});
  }
  std::vector<NamedText> out = {
      {"global_ranktable_" + machine.address + ".json", write_table(global)}};
  for (NamedText& file : locals) out.push_back(std::move(file));
  return out;
}

}  // namespace chipweave::codec::ranktable

#include "common/codec/ranktable/tools/generated_tables.hpp"

#include <utility>

#include "common/codec/ranktable/rank_table.hpp"
#include "common/domain/ranktable/assembly/pd_tables.hpp"

namespace chipweave::codec::ranktable {
namespace {

using domain::ranktable::completed_table;

void add_devices(Server& server, const PdInstance& devices) {
  server.lists_devices = true;
  for (const PdDevice& each : devices) {
    Device device;
    device.device_id = each.id;
    device.device_ip = each.address;
    device.rank_id = static_cast<std::int64_t>(server.devices.size());
    if (each.port) device.device_port = *each.port;
    server.devices.push_back(std::move(device));
  }
}

Server api_server_of(const PdMachine& machine) {
  Server out;
  out.server_id = machine.address;
  out.server_ip = machine.address;
  return out;
}

NamedText local_table(const Server& server) {
  return {local_table_name(server), write_table(domain::ranktable::local_pd_table(server))};
}

}  // namespace

std::string local_table_name(const Server& server) {
  std::string ids = server.lists_devices ? "" : "host";
  for (const Device& device : server.devices) ids += std::to_string(device.device_id.value_or(0));
  return "local_ranktable_" + server.server_ip.value_or("") + "_" + ids + ".json";
}

std::vector<NamedText> write_pd_tables(const PdMachine& machine) {
  RankTable global = completed_table(Dialect::modelarts_global);
  std::vector<NamedText> out(1);
  const auto add = [&](const char* id, const std::vector<PdInstance>& instances) {
    std::vector<Server> servers;
    for (const PdInstance& instance : instances) {
      add_devices(servers.emplace_back(api_server_of(machine)), instance);
      out.push_back(local_table(servers.back()));
    }
    if (!servers.empty())
      global.groups.push_back(domain::ranktable::pd_group(id, std::move(servers)));
  };
  if (machine.api_server)
    global.groups.push_back(domain::ranktable::pd_group("0", {api_server_of(machine)}));
  add("1", machine.prefill);
  add("2", machine.decode);
  if (machine.api_server) out.push_back(local_table(api_server_of(machine)));
  out.front() = {"global_ranktable_" + machine.address + ".json", write_table(global)};
  return out;
}

std::string write_hccl_table(const std::string& server, const PdInstance& devices) {
  RankTable table = completed_table(Dialect::hccl_1_0);
  table.count = 1;
  Server& only = table.groups.emplace_back().servers.emplace_back();
  only.server_id = server;
  add_devices(only, devices);
  only.extras.push_back({"device", "host_nic_ip", "\"reserve\""});
  return write_table(table);
}

}  // namespace chipweave::codec::ranktable

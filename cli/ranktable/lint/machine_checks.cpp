#include "cli/ranktable/lint/machine_checks.hpp"

#include <utility>

#include "cli/input_file.hpp"
#include "cli/ranktable/tools/addresses/address_source.hpp"
#include "cli/terminal.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/codec/ascend/hccn/hccn_conf.hpp"
#include "common/codec/ascend/hccn/hccn_tool.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/io/hccn_program.hpp"

namespace chipweave::cli {

using domain::ranktable::DeviceFacts;
using domain::ranktable::FactsByServer;
using domain::ranktable::MachineFacts;
using domain::ranktable::RankTable;
using domain::ranktable::Server;

namespace {

std::vector<const Server*> servers_with_devices(const RankTable& table) {
  std::vector<const Server*> out = table.servers();
  std::erase_if(out, [](const Server* server) { return server->devices.empty(); });
  return out;
}

Error flag_error(const std::string& flag, std::string message) {
  return make_error(Errc::invalid_argument, std::move(message)).in(flag);
}

Result<void> check_server(const std::string& flag, const RankTable& table,
                          const std::string& name) {
  std::vector<std::string> known;
  for (const Server* server : servers_with_devices(table)) {
    if (server->server_id == name) return {};
    known.push_back(server->server_id.value_or(""));
  }
  return flag_error(flag,
                    "unknown server " + in_quotes(name) + "; known: " + codec::quoted_list(known));
}

Result<MachineFacts> read_conf(const std::string& file) {
  const Result<std::string> text = read_input(file, codec::ascend::kMaxHccnConfBytes);
  if (!text) return text.error();
  auto conf = codec::ascend::parse_hccn_conf(*text);
  if (!conf) return std::move(conf).error().in(input_name(file));
  for (const std::string& warning : conf->warnings) warn(input_name(file) + ": " + warning);
  MachineFacts out;
  out.source = file;
  for (const auto& [id, device] : conf->devices) {
    const bool v4 = !device.address.empty();
    out.devices[id] = {v4 ? device.address : device.ipv6_address,
                       v4 ? device.netmask : device.ipv6_netmask, std::nullopt, ""};
  }
  return out;
}

Result<void> add_conf(const std::string& flag, const RankTable& table, FactsByServer& out) {
  const std::size_t equals = flag.find('=');
  std::string server = equals == std::string::npos ? "" : flag.substr(0, equals);
  if (server.empty()) {
    const auto servers = servers_with_devices(table);
    if (servers.size() != 1) {
      return flag_error("--hccn-conf", concat("expected SERVER=FILE, got ", in_quotes(flag),
                                              ": the table has ", servers.size(), " servers"));
    }
    server = servers.front()->server_id.value_or("");
  } else if (auto known = check_server("--hccn-conf", table, server); !known) {
    return known;
  }
  auto facts = read_conf(flag.substr(equals == std::string::npos ? 0 : equals + 1));
  if (!facts) return std::move(facts).error();
  out[server] = *std::move(facts);
  return {};
}

// What hccn_tool reports about one device.
DeviceFacts facts_from(io::HccnProgram& tool, int device) {
  const auto answer = [&](const char* question) -> std::string {
    auto output = tool.answer({"-i", std::to_string(device), question, "-g"});
    if (output) return *std::move(output);
    warn(concat("device ", device, ": ", output.error().text()));
    return {};
  };
  DeviceFacts out;
  const auto ports = codec::ascend::parse_hccn_ip(answer("-ip"));
  if (ports) {
    out.address = ports->front().address;
    out.netmask = ports->front().netmask;
  }
  const auto link = codec::ascend::parse_hccn_link(answer("-link"));
  if (link) out.up = *link;
  const auto health = codec::ascend::parse_hccn_net_health(answer("-net_health"));
  if (health) out.health = *health;
  return out;
}

Result<void> add_live(const MachineFlags& flags, const RankTable& table, FactsByServer& out) {
  if (flags.live.empty()) return {};
  if (auto known = check_server("--live", table, flags.live); !known) return known;
  const auto path = find_hccn_tool(flags.hccn_tool);
  if (!path) {
    return flag_error("--hccn-tool",
                      "must be an executable program, got " + in_quotes(flags.hccn_tool));
  }
  if (path->empty()) {
    return make_error(
        Errc::invalid_argument,
        "--live requires --hccn-tool: this machine has no hccn_tool in the usual folders");
  }
  io::HccnProgram tool(*path);
  MachineFacts& facts = out[flags.live];
  facts.source = "hccn_tool";
  for (const Server* server : servers_with_devices(table)) {
    if (server->server_id != flags.live) continue;
    for (const auto& device : server->devices) {
      constexpr std::int64_t kMax = codec::ascend::kMaxHccnDevice;
      if (!device.device_id || *device.device_id < 0 || *device.device_id > kMax) continue;
      const int id = static_cast<int>(*device.device_id);
      facts.devices[id] = facts_from(tool, id);
    }
  }
  return {};
}

}  // namespace

Result<FactsByServer> read_machine_facts(const MachineFlags& flags, const RankTable& table) {
  FactsByServer out;
  for (const std::string& flag : flags.hccn_conf) {
    const auto added = add_conf(flag, table, out);
    if (!added) return added.error();
  }
  const auto added = add_live(flags, table, out);
  if (!added) return added.error();
  return out;
}

}  // namespace chipweave::cli

#include "common/codec/ranktable/tools/hccl_tables.hpp"

#include <map>
#include <string_view>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/natural_order.hpp"
#include "common/base/text.hpp"
#include "common/codec/ranktable/rank_table.hpp"

namespace chipweave::codec::ranktable {
namespace {

using domain::ranktable::Device;
using domain::ranktable::Dialect;
using domain::ranktable::RankTable;
using domain::ranktable::Server;

RankTable complete_table() {
  RankTable out;
  out.dialect = Dialect::hccl_1_0;
  out.version = "1.0";
  out.status = "completed";
  out.groups.emplace_back();
  return out;
}

std::string write_counted(RankTable& table) {
  table.count = static_cast<std::int64_t>(table.groups.front().servers.size());
  return write_table(table);
}

// Collects the servers of several tables and what may stand only once in all of them.
class Merger {
 public:
  // The table must outlive this.
  Result<void> take(const InputTable& input) {
    if (input.table.groups.empty() || input.table.groups.front().servers.empty()) {
      return input.wrong(input.table.source, "has no server");
    }
    for (const Server& server : input.table.groups.front().servers) {
      if (Result<void> good = take_server(input, server); !good) return good;
    }
    return {};
  }

  RankTable& table() { return table_; }
  std::int64_t ranks() const { return ranks_; }

 private:
  Result<void> take_server(const InputTable& input, const Server& server) {
    const std::string id = server.server_id.value_or("");
    const auto [first, fresh] = servers_.try_emplace(id, Seen{&input, server.source});
    if (!fresh) {
      return input.wrong(server.source, "server " + in_quotes(id) + " stands in " +
                                            first->second.text() +
                                            " too; was a merged table given again?");
    }
    if (server.devices.empty()) return input.wrong(server.source, "has no device");
    Server out = server;
    for (Device& device : out.devices) {
      if (Result<void> good = check_device(input, device); !good) return good;
      device.rank_id = ranks_++;
    }
    table_.groups.front().servers.push_back(std::move(out));
    return {};
  }

  Result<void> check_device(const InputTable& input, const Device& device) {
    const std::string address = device.device_ip.value_or("");
    if (address.empty()) return {};
    const std::string key = address + (device.device_port ? concat(":", *device.device_port) : "");
    const auto [first, fresh] = addresses_.try_emplace(key, Seen{&input, device.source});
    if (fresh) return {};
    return input.wrong(device.source, "device_ip " + in_quotes(key) + " stands in " +
                                          first->second.text() + " too");
  }

  RankTable table_ = complete_table();
  std::int64_t ranks_ = 0;
  std::map<std::string, Seen> servers_, addresses_;
};

// Two servers of which the later would be the earlier if numbers counted as numbers, while all are
// in the order of their texts; "" if there are none.
std::string text_order(const std::vector<Server>& servers) {
  std::string out;
  for (std::size_t i = 1; i < servers.size(); ++i) {
    const std::string& before = *servers[i - 1].server_id;
    const std::string& here = *servers[i].server_id;
    if (here < before) return "";
    if (out.empty() && natural_less(here, before)) out = before + " before " + here;
  }
  return out;
}

}  // namespace

std::string write_hccl_table(const std::string& server, const std::vector<PdDevice>& devices) {
  RankTable table = complete_table();
  Server& only = table.groups.front().servers.emplace_back();
  only.server_id = server;
  only.lists_devices = true;
  for (const PdDevice& each : devices) {
    Device device;
    device.device_id = each.id;
    device.device_ip = each.address;
    device.rank_id = static_cast<std::int64_t>(only.devices.size());
    only.devices.push_back(std::move(device));
  }
  only.extras.push_back({"device", "host_nic_ip", "\"reserve\""});
  return write_counted(table);
}

Result<MergedTable> merge_hccl_tables(std::vector<NamedText> files) {
  MergedTable out;
  Merger merger;
  const auto inputs =
      read_inputs(std::move(files), Dialect::hccl_1_0, "; merge-hccl takes HCCL 1.0 tables");
  if (!inputs) return inputs.error();
  for (const InputTable& input : *inputs) {
    if (Result<void> good = merger.take(input); !good) return std::move(good).error();
    const std::size_t servers = input.table.groups.front().servers.size();
    if (servers > 1) {
      out.warnings.push_back(concat("file ", input.name, " has ", servers,
                                    " servers already: is it a merged table of before?"));
    }
  }
  const std::vector<Server>& servers = merger.table().groups.front().servers;
  if (const std::string order = text_order(servers); !order.empty()) {
    out.warnings.push_back("servers stand in the order of their addresses as text (" + order +
                           "), and so do their ranks; name the files in the order you want");
  }
  out.file.name = concat("hccl_", servers.size(), "s_", merger.ranks(), "p.json");
  out.file.text = write_counted(merger.table());
  return out;
}

}  // namespace chipweave::codec::ranktable

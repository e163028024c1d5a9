#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/ip_address.hpp"
#include "common/base/text.hpp"
#include "common/codec/ranktable/rank_table.hpp"
#include "common/codec/ranktable/tools/input_table.hpp"
#include "common/codec/ranktable/tools/merge.hpp"
#include "common/codec/ranktable/tools/pd_instances.hpp"

namespace chipweave::codec::ranktable {
namespace {

using domain::ranktable::completed_table;

constexpr const char* kGlobalName = "global_ranktable_merge.json";
constexpr const char* kLocalName = "local_ranktable_merge.json";
constexpr std::array<const char*, 3> kGroupNames = {"API server", "prefill", "decode"};

constexpr std::size_t kMaxWarnings = 20;

// What must hold over all servers of the tables of a merge. Tables must outlive this.
class PdChecks {
 public:
  // The names of a server and of its devices must be new. An API server has no devices.
  Result<void> take(const InputTable& input, const Server& server) {
    const std::string ip = server.server_ip.value_or("");
    const std::string id = server.server_id.value_or("");
    if (ip.empty() || id.empty()) {
      return input.wrong(server.source, "server_id and server_ip must not be empty");
    }
    const auto [first, is_new] = ids_.try_emplace(ip, id);
    if (!is_new && first->second != id && warnings_.size() < kMaxWarnings) {
      warnings_.push_back(concat(input.place(server.source), ": server_ip ", in_quotes(ip),
                                 " has server_id ", in_quotes(id), " here and ",
                                 in_quotes(first->second), " before"));
    }
    if (is_new && is_local_host(ip)) loopback_.try_emplace(ip, Seen{&input, server.source});
    for (const Device& device : server.devices) {
      if (Result<void> good = take_device(input, server, device); !good) return good;
    }
    return {};
  }

  // The ranks of a server's devices are `first`, first + 1, … in order; there is at least one.
  static Result<void> check_ranks(const InputTable& input, const Server& server,
                                  std::int64_t first) {
    if (server.devices.empty()) {
      return input.wrong(server.source, "has no devices; only the API server has none");
    }
    for (const Device& device : server.devices) {
      if (device.rank_id != first) {
        return input.wrong(device.source, "rank_id must be \"", first,
                           "\" here: the ranks of an instance are 0, 1, … in order");
      }
      ++first;
    }
    return {};
  }

  // After the last server: no loopback address among several machines.
  Result<void> finish() const {
    if (ids_.size() < 2 || loopback_.empty()) return {};
    const auto& [ip, seen] = *loopback_.begin();
    return seen.input->wrong(seen.object, "server_ip ", in_quotes(ip),
                             " cannot be reached from the other ", ids_.size() - 1,
                             " machines: generate this table with --ip ADDRESS");
  }

  std::vector<std::string>& warnings() { return warnings_; }

 private:
  Result<void> take_device(const InputTable& input, const Server& server, const Device& device) {
    const std::int64_t id = device.device_id.value_or(-1);
    const auto [used, is_new] =
        devices_.try_emplace(concat(*server.server_ip, "/", id), Seen{&input, device.source});
    if (!is_new) {
      return input.wrong(device.source, "device_id ", id, " of server ",
                         in_quotes(*server.server_ip), " is used in ", used->second.text(), " too");
    }
    // A dual-port device has several addresses.
    const std::string addresses = device.device_ip.value_or("");
    for (const std::string_view address : split(addresses, ',')) {
      if (parse_ip(address)) continue;
      return input.wrong(device.source, "device_ip: expected an IP address, got ",
                         in_quotes(addresses));
    }
    if (device.device_port && (*device.device_port < 1 || *device.device_port > 65535)) {
      return input.wrong(device.source, "device_port must be 1 to 65535");
    }
    return addresses_.take(input, device);
  }

  std::unordered_map<std::string, Seen> devices_;
  UniqueAddresses addresses_;
  std::map<std::string, std::string> ids_;  // server_ip → server_id
  std::map<std::string, Seen> loopback_;    // server_ip
  std::vector<std::string> warnings_;
};

// server_count as the merge-local and merge-all of the reference write it.
domain::ranktable::Extra count_in_numbers(std::size_t count) {
  return {"group_id", "server_count", std::to_string(count)};
}

// Sorts the servers of global tables into the three groups.
class GlobalMerger {
 public:
  explicit GlobalMerger(bool strict) : strict_(strict) {}

  Result<void> take(const InputTable& input) {
    if (input.table.groups.empty()) {
      return input.wrong(input.table.source, "server_group_list is empty");
    }
    for (const Group& group : input.table.groups) {
      const std::string id = group.id.value_or("");
      if (id != "0" && id != "1" && id != "2") {
        return input.wrong(group.source, "unknown group_id ", in_quotes(id),
                           "; known: \"0\" (API server), \"1\" (prefill), \"2\" (decode)");
      }
      const auto number = static_cast<std::size_t>(id[0] - '0');
      for (const Server& server : group.servers) {
        Result<void> good =
            number == 0 ? take_api_server(input, server) : take_instance(input, server, number);
        if (!good) return good;
      }
    }
    return {};
  }

  Result<void> finish() {
    if (groups_[0].empty()) {
      return make_error(Errc::invalid_argument,
                        "no file has an API server (group \"0\"): generate one of the tables with "
                        "--api-server");
    }
    for (const std::size_t number : {1U, 2U}) {
      if (!groups_[number].empty()) continue;
      std::string what = concat("no file has a ", kGroupNames[number], " instance (group \"",
                                number, "\"), and a complete table has all three groups");
      if (strict_) return make_error(Errc::invalid_argument, std::move(what));
      checks_.warnings().push_back(std::move(what));
    }
    if (!groups_[1].empty() && !groups_[2].empty() && size_of(1) != size_of(2)) {
      checks_.warnings().push_back(concat("prefill instances have ", size_of(1),
                                          " devices and decode instances ", size_of(2)));
    }
    return checks_.finish();
  }

  MergedTable result() {
    RankTable table = completed_table(Dialect::modelarts_global);
    for (std::size_t number = 0; number < groups_.size(); ++number) {
      if (groups_[number].empty()) continue;
      Group& group = table.groups.emplace_back();
      group.id = std::to_string(number);
      group.count = static_cast<std::int64_t>(groups_[number].size());
      group.servers = std::move(groups_[number]);
    }
    return {{kGlobalName, write_table(table)}, std::move(checks_.warnings())};
  }

 private:
  std::size_t size_of(std::size_t number) const { return groups_[number].front().devices.size(); }

  Result<void> take_api_server(const InputTable& input, const Server& server) {
    if (!server.devices.empty()) {
      return input.wrong(server.source,
                         "group \"0\" is the API server and must not have devices; is this the "
                         "result of merge-all?");
    }
    if (!groups_[0].empty()) {
      return input.wrong(server.source, "is a second API server (group \"0\"); the first is in ",
                         first_[0].text(), ", and only one machine may have --api-server");
    }
    return keep(input, server, 0);
  }

  Result<void> take_instance(const InputTable& input, const Server& server, std::size_t number) {
    if (Result<void> good = PdChecks::check_ranks(input, server, 0); !good) return good;
    if (!groups_[number].empty() && size_of(number) != server.devices.size()) {
      return input.wrong(server.source, concat("this ", kGroupNames[number], " instance has ",
                                               server.devices.size(), " devices, and the one in ",
                                               first_[number].text(), " has ", size_of(number),
                                               "; all of a group have the same number"));
    }
    return keep(input, server, number);
  }

  Result<void> keep(const InputTable& input, const Server& server, std::size_t number) {
    if (groups_[number].empty()) first_[number] = {&input, server.source};
    groups_[number].push_back(server);
    return checks_.take(input, server);
  }

  bool strict_;
  PdChecks checks_;
  std::array<std::vector<Server>, 3> groups_;
  std::array<Seen, 3> first_;  // server of each group
};

// The servers of a local table, ranks counted through; at least one.
Result<const std::vector<Server>*> servers_of(const InputTable& input) {
  auto out = input.servers();
  if (!out) return out;
  std::int64_t rank = 0;
  for (const Server& server : **out) {
    if (Result<void> good = PdChecks::check_ranks(input, server, rank); !good) {
      return std::move(good).error();
    }
    rank += static_cast<std::int64_t>(server.devices.size());
  }
  return out;
}

constexpr const char* kWantsLocal =
    ": local_ranktable_*.json are wanted; `merge` takes the global tables";

}  // namespace

Result<MergedTable> merge_pd_global(std::vector<NamedText> files, bool strict) {
  if (files.size() < 2)
    return argument_error("--global-ranktable-list", "expected two or more global tables");
  const auto inputs =
      read_inputs(std::move(files), Dialect::modelarts_global,
                  ": global_ranktable_*.json are wanted; merge-local takes the local tables");
  if (!inputs) return inputs.error();
  GlobalMerger merger(strict);
  for (const InputTable& input : *inputs) {
    if (Result<void> good = merger.take(input); !good) return std::move(good).error();
  }
  if (Result<void> good = merger.finish(); !good) return std::move(good).error();
  return merger.result();
}

Result<MergedTable> merge_pd_local(std::vector<NamedText> files) {
  if (files.size() < 2)
    return argument_error("--local-ranktable-list", "expected two or more local tables");
  const auto inputs = read_inputs(std::move(files), Dialect::modelarts_local, kWantsLocal);
  if (!inputs) return inputs.error();
  PdChecks checks;
  RankTable table = completed_table(Dialect::modelarts_local);
  table.group_id = "0";
  std::vector<Server>& out = table.groups.emplace_back().servers;
  std::int64_t rank = 0;
  for (const InputTable& input : *inputs) {
    const auto servers = servers_of(input);
    if (!servers) return servers.error();
    if ((*servers)->size() > 1) {
      return input.wrong(input.table.source,
                         "has several servers: it is a merged table already, "
                         "and only its first server would be taken");
    }
    if (Result<void> good = checks.take(input, (*servers)->front()); !good) {
      return std::move(good).error();
    }
    Server& server = out.emplace_back((*servers)->front());
    server.extras.clear();
    for (Device& device : server.devices) device.rank_id = rank++;
  }
  if (Result<void> good = checks.finish(); !good) return std::move(good).error();
  table.extras.push_back(count_in_numbers(out.size()));
  return MergedTable{{kLocalName, write_table(table)}, std::move(checks.warnings())};
}

Result<MergedTable> merge_pd_all(std::vector<NamedText> prefill, std::vector<NamedText> decode) {
  if (prefill.empty() || decode.empty()) {
    return make_error(Errc::invalid_argument,
                      "arguments --prefill-server-list and --decode-server-list: both need at "
                      "least one local table");
  }
  for (NamedText& file : decode) prefill.push_back(std::move(file));
  const auto inputs = read_inputs(std::move(prefill), Dialect::modelarts_local, kWantsLocal);
  if (!inputs) return inputs.error();
  PdChecks checks;
  RankTable table = completed_table(Dialect::modelarts_global);
  for (const InputTable& input : *inputs) {
    const auto servers = servers_of(input);
    if (!servers) return servers.error();
    for (const Server& server : **servers) {
      if (Result<void> good = checks.take(input, server); !good) return std::move(good).error();
    }
    Group group;
    group.id = std::to_string(table.groups.size());
    group.servers = **servers;
    group.extras.push_back(count_in_numbers(group.servers.size()));
    table.groups.push_back(std::move(group));
  }
  if (Result<void> good = checks.finish(); !good) return std::move(good).error();
  return MergedTable{{kGlobalName, write_table(table)}, std::move(checks.warnings())};
}

}  // namespace chipweave::codec::ranktable

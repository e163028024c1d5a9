#include "common/codec/ranktable/tools/pd_merge.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/codec/ranktable/rank_table.hpp"
#include "common/codec/ranktable/tools/pd_merge_checks.hpp"

namespace chipweave::codec::ranktable {
namespace {

using domain::ranktable::Device;
using domain::ranktable::Dialect;
using domain::ranktable::Group;
using domain::ranktable::RankTable;
using domain::ranktable::Server;

constexpr const char* kGlobalName = "global_ranktable_merge.json";
constexpr const char* kLocalName = "local_ranktable_merge.json";
constexpr std::array<const char*, 3> kGroupNames = {"API server", "prefill", "decode"};

RankTable complete_table(Dialect dialect) {
  RankTable out;
  out.dialect = dialect;
  out.version = "1.0";
  out.status = "completed";
  return out;
}

Error too_few(const char* option, const char* what) {
  return make_error(Errc::invalid_argument,
                    concat("argument ", option, ": two and more ", what, " are needed"));
}

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
        return input.wrong(group.source,
                           "group_id " + in_quotes(id) +
                               " is unknown: a table of this kind has groups \"0\" (API server), "
                               "\"1\" (prefill) and \"2\" (decode)");
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
                        "no file has an API server (group \"0\"): generate one table with "
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
    RankTable table = complete_table(Dialect::modelarts_global);
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
                         "group \"0\" is for the API server and has no devices; is this the "
                         "result of merge-all?");
    }
    if (!groups_[0].empty()) {
      return input.wrong(server.source, "is a second API server (group \"0\"): the first is in " +
                                            first_[0].text() +
                                            ", and only one machine may have --api-server");
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
  if (input.table.groups.empty() || input.table.groups.front().servers.empty()) {
    return input.wrong(input.table.source, "has no server");
  }
  std::int64_t rank = 0;
  for (const Server& server : input.table.groups.front().servers) {
    if (Result<void> good = PdChecks::check_ranks(input, server, rank); !good) {
      return std::move(good).error();
    }
    rank += static_cast<std::int64_t>(server.devices.size());
  }
  return &input.table.groups.front().servers;
}

constexpr const char* kWantsLocal =
    ": local_ranktable_*.json are wanted; `merge` takes the global tables";

}  // namespace

Result<MergedTable> merge_pd_global(std::vector<NamedText> files, bool strict) {
  if (files.size() < 2) return too_few("--global-ranktable-list", "global tables");
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
  if (files.size() < 2) return too_few("--local-ranktable-list", "local tables");
  const auto inputs = read_inputs(std::move(files), Dialect::modelarts_local, kWantsLocal);
  if (!inputs) return inputs.error();
  PdChecks checks;
  RankTable table = complete_table(Dialect::modelarts_local);
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
  RankTable table = complete_table(Dialect::modelarts_global);
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

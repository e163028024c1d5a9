#include "cli/ranktable/route/commands.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cli/ranktable/commands.hpp"
#include "cli/ranktable/route/answer.hpp"
#include "cli/ranktable/route/inputs.hpp"
#include "cli/terminal.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/kube/base64.hpp"
#include "common/codec/ranktable/modelarts/job_table.hpp"
#include "common/codec/ranktable/modelarts/route_file.hpp"
#include "common/io/file_set.hpp"
#include "common/io/files.hpp"
#include "common/io/gzip.hpp"

namespace chipweave::cli {
namespace {

using std::chrono::seconds;

// One step of an init container: is the job complete, and if so, which new rank does this pod have?
// All pods of a job read the same tables and make the same plan: nothing here depends on time, host
// or the order of calls.

// Contents as mounted, compressed or not; nullopt: the file does not exist.
struct RouteTables {
  std::optional<std::string> job_start;  // jobstart_hccl.json
  std::optional<std::string> tors;       // ranktable_tor.json
  std::optional<std::string> plan;       // route_plan.json
};

struct RouteStep {
  enum class Kind {
    ranked,
    keep,  // pods keep their order permanently
    wait,  // the job is not complete yet
  };
  Kind kind = Kind::wait;
  std::size_t rank = 0;
  std::size_t master = 0;
  std::string why;  // for keep and wait
};

using domain::ranktable::RankTable;
using domain::ranktable::Server;

Error bad(std::string message) { return make_error(Errc::invalid_argument, std::move(message)); }

RouteStep keep(std::string why) { return {RouteStep::Kind::keep, 0, 0, std::move(why)}; }
RouteStep wait(std::string why) { return {RouteStep::Kind::wait, 0, 0, std::move(why)}; }

// ConfigMaps hold large tables as base64 of gzip.
Result<std::string> unpacked(const std::string& content) {
  const std::size_t start = content.find_first_not_of(" \t\r\n");
  if (start == std::string::npos || content[start] == '{') return content;
  const Result<std::string> bytes = codec::decode_base64(content);
  if (!bytes || !io::is_gzip(*bytes)) return bad("must be JSON or base64 of gzip");
  return io::gunzip(*bytes, limits::kMaxRankTableBytes);
}

// nullopt: the file is not there.
Result<std::optional<RankTable>> table_in(const std::optional<std::string>& content,
                                          std::string_view name) {
  if (!content) return std::optional<RankTable>();
  const Result<std::string> text = unpacked(*content);
  if (!text) return Error(text.error()).in(std::string(name));
  Result<RankTable> table = codec::read_job_table(*text);
  if (!table) return std::move(table).error().in(std::string(name));
  return std::optional(*std::move(table));
}

const std::vector<Server>& servers_of(const RankTable& table) {
  return table.groups.front().servers;  // read_job_table() ensures that there is one
}

RouteMachine machine_of(const Server& server) {
  RouteMachine out;
  out.host = server.server_id.value_or("");
  out.names.push_back(out.host);
  if (server.host_ip) out.names.push_back(*server.host_ip);
  for (const auto& device : server.devices)
    out.tors.emplace_back(domain::ranktable::text_of(device.extras, "tor_ip"));
  return out;
}

// ConfigMaps are updated one by one: for a while a pod may see one table of the current job and
// another one from before its restart.
bool same_machines(const RankTable& a, const RankTable& b) {
  std::set<std::string> of_a;
  std::set<std::string> of_b;
  for (const Server& server : servers_of(a)) of_a.insert(server.server_id.value_or(""));
  for (const Server& server : servers_of(b)) of_b.insert(server.server_id.value_or(""));
  return of_a == of_b;
}

bool knows_switches(const RankTable& table) {
  const auto known = [](const Server& server) {
    const RouteMachine machine = machine_of(server);
    return std::any_of(machine.tors.begin(), machine.tors.end(),
                       [](const std::string& tor) { return !tor.empty(); });
  };
  return std::any_of(servers_of(table).begin(), servers_of(table).end(), known);
}

std::optional<std::size_t> index_in(const std::string& pod) {
  const std::string_view text = std::string_view(pod).substr(pod.rfind('-') + 1);
  return parse_number<std::size_t>(text);
}

// For ranktable_tor.json: every server is a pod whose name ends in its index.
Result<std::vector<RouteMachine>> machines_by_pod(const RankTable& table) {
  const std::vector<Server>& servers = servers_of(table);
  std::vector<RouteMachine> out(servers.size());
  std::vector<bool> seen(servers.size(), false);
  for (const Server& server : servers) {
    const std::string pod = server.pod_name.value_or("");
    const auto index = index_in(pod);
    if (!index || *index >= seen.size() || seen[*index]) {
      return bad(concat("pods must have the indexes 0 to ", servers.size() - 1,
                        " at the end of their pod_name, each once, and \"", pod.substr(0, 60),
                        "\" does not"))
          .in(std::string(codec::kTorFile));
    }
    seen[*index] = true;
    out[*index] = machine_of(server);
  }
  return out;
}

// For jobstart_hccl.json: servers are in the order of pods, which identifies pods only if every pod
// has its own machine.
Result<std::vector<RouteMachine>> machines_by_place(const RankTable& table, std::size_t replicas) {
  const std::vector<Server>& servers = servers_of(table);
  if (replicas == 0) {
    return bad("--replicas is required: jobstart_hccl.json lists machines, not pods");
  }
  if (replicas != servers.size()) {
    return bad(concat("it has ", servers.size(), " machines for ", replicas,
                      " pods; the place of each pod is in ", codec::kTorFile, " only"))
        .in(std::string(codec::kJobStartFile));
  }
  std::vector<RouteMachine> out;
  out.reserve(servers.size());
  for (const Server& server : servers) out.push_back(machine_of(server));
  return out;
}

// What says how many pods there are: "there are", "FILE has".
Error wrong_index(std::size_t index, std::size_t pods, std::string_view what) {
  return bad(concat("must be 0 to ", pods - 1, ": ", what, " ", pods, " pods; got ", index))
      .in("--index");
}

Result<RouteStep> step_of(const RoutePlaces& places, const RouteInitFlags& flags) {
  if (flags.replicas > 0 && flags.replicas != places.pods.size()) {
    return wait(concat("there are ", places.pods.size(), " pods of ", flags.replicas));
  }
  if (flags.index >= places.pods.size()) {
    return wrong_index(flags.index, places.pods.size(), "there are");
  }
  const solver::RoutePlan plan = solver::route_plan(places.levels.size(), places.pods);
  if (plan.state != solver::RouteState::planned) return keep(why_no_plan(outcome_of(plan.state)));
  return RouteStep{RouteStep::Kind::ranked, plan.rank_of[flags.index], plan.master(), ""};
}

Result<RouteStep> step_of_plan(const std::string& text, const RouteInitFlags& flags,
                               const std::optional<RankTable>& tors) {
  const auto ranks = codec::read_route_plan(text);
  if (!ranks) return Error(ranks.error()).in(std::string(codec::kRoutePlanFile));
  const std::size_t pods = ranks->size();
  const bool other_job =
      (tors && servers_of(*tors).size() != pods) || (flags.replicas > 0 && flags.replicas != pods);
  if (other_job) return wait(concat("route_plan.json is of ", pods, " pods, not this job's"));
  if (flags.index >= pods) {
    return wrong_index(flags.index, pods, "route_plan.json has");
  }
  const auto master = std::find(ranks->begin(), ranks->end(), std::size_t{0});
  return RouteStep{RouteStep::Kind::ranked, (*ranks)[flags.index],
                   static_cast<std::size_t>(master - ranks->begin()), ""};
}

// Uses a plan of `route plan` unchanged, unless a network is given; otherwise plans by the network,
// or by the switches of the devices. Errors: a table that cannot be read or does not tell pods
// apart, an index that it does not contain.
Result<RouteStep> route_step(const RouteTables& tables, const RouteInitFlags& flags,
                             const domain::NetworkTable* network) {
  const auto job_start = table_in(tables.job_start, codec::kJobStartFile);
  if (!job_start) return job_start.error();
  const auto tors = table_in(tables.tors, codec::kTorFile);
  if (!tors) return tors.error();
  for (const auto* table : {&*job_start, &*tors}) {
    if (*table && !codec::is_completed(**table)) return wait("a table is still initializing");
  }
  if (*job_start && *tors && !same_machines(**job_start, **tors))
    return wait("the two tables are of different machines");
  if (tables.plan && network == nullptr) return step_of_plan(*tables.plan, flags, *tors);
  if (!*job_start && !*tors) return wait("there is no table yet");
  const RankTable& table = *tors ? **tors : **job_start;
  if (network == nullptr && !knows_switches(table))
    return keep("the tables contain no switches: pods keep their order");
  auto machines = *tors ? machines_by_pod(table) : machines_by_place(table, flags.replicas);
  if (!machines) return std::move(machines).error();
  return step_of(network != nullptr ? places_in(*network, *machines) : places_by_tors(*machines),
                 flags);
}

// The command: waits for the tables, and writes the files.

constexpr const char* kRankFile = "RANK_AFTER_ACC";
constexpr const char* kMasterFile = "MASTER_INDEX";
constexpr seconds kMaxWait{24 * 3600};

// "90s", "30m", "1h", "90"
std::optional<seconds> parse_wait(std::string_view text) {
  int count = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failed != std::errc() || count < 0 || count > kMaxWait.count()) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (!unit.empty() && unit != "s" && unit != "m" && unit != "h") return std::nullopt;
  const int factor = unit == "h" ? 3600 : unit == "m" ? 60 : 1;
  const seconds out = seconds(count) * factor;
  return out <= kMaxWait ? std::optional(out) : std::nullopt;
}

// The first process of a container ignores SIGTERM by default: the pod could not be deleted while
// it waits.
void end_on_sigterm() {
  std::signal(SIGTERM, [](int number) { std::_Exit(128 + number); });
  std::signal(SIGINT, [](int number) { std::_Exit(128 + number); });
}

Result<std::optional<std::string>> read_if_there(const std::string& folder, std::string_view name) {
  auto content =
      io::read_file(io::joined_path(folder, std::string(name)), limits::kMaxRankTableBytes);
  if (content) return std::optional(*std::move(content));
  if (content.error().code == Errc::not_found) return std::optional<std::string>();
  return std::move(content).error();
}

Result<RouteTables> read_tables(const std::string& folder) {
  RouteTables out;
  for (const auto& [name, to] :
       {std::pair(codec::kJobStartFile, &out.job_start), std::pair(codec::kTorFile, &out.tors),
        std::pair(codec::kRoutePlanFile, &out.plan)}) {
    auto content = read_if_there(folder, name);
    if (!content) return std::move(content).error();
    *to = *std::move(content);
  }
  // What keeps it in a ConfigMap empties it when there is nothing to plan.
  if (out.plan && out.plan->empty()) out.plan.reset();
  return out;
}

// Repeats until the tables are complete or the time is over (the last step is then `wait`).
Result<RouteStep> wait_for_tables(const RouteInitFlags& flags, const domain::NetworkTable* network,
                                  seconds longest) {
  const auto deadline = std::chrono::steady_clock::now() + longest;
  for (bool first = true;; first = false) {
    const Result<RouteTables> tables = read_tables(flags.config);
    if (!tables) return tables.error();
    Result<RouteStep> step = route_step(*tables, flags, network);
    if (!step) {
      if (exit_for(step.error()) == Exit::usage) return step;
      return std::move(step).error().in("folder " + flags.config);
    }
    if (step->kind != RouteStep::Kind::wait) return step;
    if (std::chrono::steady_clock::now() >= deadline) return step;
    if (first) remark("waiting for " + flags.config + ": " + step->why);
    std::this_thread::sleep_for(seconds(1));
  }
}

Result<RouteStep> find_step(const RouteInitFlags& flags, seconds longest) {
  if (!flags.hosts.empty() && flags.network.empty()) {
    return bad("--hosts requires --network: a hostfile does not describe switches");
  }
  std::optional<domain::NetworkTable> network;
  if (!flags.network.empty()) {
    std::vector<std::string> warnings;
    auto read = read_route_network(flags.network, flags.import, warnings);
    if (!read) return std::move(read).error();
    for (const std::string& warning : warnings) warn(warning);
    network = *std::move(read);
  }
  if (flags.hosts.empty()) return wait_for_tables(flags, network ? &*network : nullptr, longest);
  const auto machines = read_route_hosts(flags.hosts);
  if (!machines) return machines.error();
  return step_of(places_in(*network, *machines), flags);
}

// Files of an earlier run must not outlive their plan. The job script takes missing files for "no
// route planning"; an empty MASTER_INDEX would break it.
Result<void> remove_files(const std::string& folder) {
  for (const char* name : {kRankFile, kMasterFile}) {
    std::error_code failed;
    std::filesystem::remove(io::joined_path(folder, name), failed);
    if (failed) {
      return make_error(Errc::unavailable, "cannot remove: " + failed.message())
          .in("file " + io::joined_path(folder, name));
    }
  }
  return {};
}

Result<void> write_step(const std::string& folder, const RouteStep& step) {
  auto master =
      io::write_file_atomically(io::joined_path(folder, kMasterFile), concat(step.master, "\n"));
  if (!master) return master;
  return io::write_file_atomically(io::joined_path(folder, kRankFile), concat(step.rank, "\n"));
}

}  // namespace

Exit run_route_init(const RouteInitFlags& flags) {
  const auto longest = parse_wait(flags.wait);
  if (!longest)
    return complain("--wait: expected a time of at most 24h, such as 30m, 90s or 1h, got " +
                        in_quotes(flags.wait),
                    Exit::usage);
  end_on_sigterm();
  if (auto removed = remove_files(flags.dir); !removed) return fail(removed.error());
  const Result<RouteStep> step = find_step(flags, *longest);
  if (!step) return fail(step.error());
  switch (step->kind) {
    case RouteStep::Kind::wait:
      return complain("the job's tables were not complete within " + flags.wait + ": " + step->why,
                      Exit::findings);
    case RouteStep::Kind::keep:
      remark(concat(step->why, "; this pod's rank is its index, ", flags.index));
      return Exit::fine;
    case RouteStep::Kind::ranked:
      break;
  }
  if (auto written = write_step(flags.dir, *step); !written) return fail(written.error());
  remark(concat("pod ", flags.index, " has new rank ", step->rank, "; the master is pod ",
                step->master));
  return Exit::fine;
}

}  // namespace chipweave::cli

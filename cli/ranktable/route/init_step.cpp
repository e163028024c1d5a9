#include "cli/ranktable/route/init_step.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "cli/ranktable/route/answer.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/json/json_tree.hpp"
#include "common/codec/kube/base64.hpp"
#include "common/codec/ranktable/modelarts/job_table.hpp"
#include "common/codec/ranktable/modelarts/route_file.hpp"
#include "common/io/gzip.hpp"

namespace chipweave::cli {
namespace {

using domain::ranktable::RankTable;
using domain::ranktable::Server;

Error bad(std::string what) { return make_error(Errc::invalid_argument, std::move(what)); }

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
    return bad("is required: jobstart_hccl.json lists machines, not pods").in("--replicas");
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

Result<RouteStep> step_of(const RoutePlaces& places, const RouteStepRequest& request) {
  if (request.replicas > 0 && request.replicas != places.pods.size()) {
    return wait(concat("there are ", places.pods.size(), " pods of ", request.replicas));
  }
  if (request.index >= places.pods.size()) {
    return bad(concat("is ", request.index, ", but there are ", places.pods.size(), " pods"))
        .in("--index");
  }
  const solver::RoutePlan plan = solver::route_plan(places.levels.size(), places.pods);
  switch (plan.state) {
    case solver::RouteState::one_host:
      return keep(why_no_plan(RouteOutcome::one_host));
    case solver::RouteState::no_topology:
      return keep(why_no_plan(RouteOutcome::no_topology));
    case solver::RouteState::planned:
      break;
  }
  return RouteStep{RouteStep::Kind::ranked, plan.rank_of[request.index], plan.master(), ""};
}

Result<RouteStep> step_of_plan(const std::string& text, const RouteStepRequest& request,
                               const std::optional<RankTable>& tors) {
  const auto ranks = codec::read_route_plan(text);
  if (!ranks) return Error(ranks.error()).in(std::string(codec::kRoutePlanFile));
  const std::size_t pods = ranks->size();
  const bool other_job = (tors && servers_of(*tors).size() != pods) ||
                         (request.replicas > 0 && request.replicas != pods);
  if (other_job) return wait(concat("route_plan.json is of ", pods, " pods, not this job's"));
  if (request.index >= pods) {
    return bad(concat("is ", request.index, ", but route_plan.json has ", pods, " pods"))
        .in("--index");
  }
  const auto master = std::find(ranks->begin(), ranks->end(), std::size_t{0});
  return RouteStep{RouteStep::Kind::ranked, (*ranks)[request.index],
                   static_cast<std::size_t>(master - ranks->begin()), ""};
}

}  // namespace

Result<RouteStep> route_step(const RouteTables& tables, const RouteStepRequest& request,
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
  if (tables.plan && network == nullptr) return step_of_plan(*tables.plan, request, *tors);
  if (!*job_start && !*tors) return wait("there is no table yet");
  const RankTable& table = *tors ? **tors : **job_start;
  if (network == nullptr && !knows_switches(table))
    return keep("the tables contain no switches: pods keep their order");
  auto machines = *tors ? machines_by_pod(table) : machines_by_place(table, request.replicas);
  if (!machines) return std::move(machines).error();
  return network != nullptr ? route_step(*machines, request, *network)
                            : step_of(places_by_tors(*machines), request);
}

Result<RouteStep> route_step(const std::vector<RouteMachine>& machines,
                             const RouteStepRequest& request, const domain::NetworkTable& network) {
  return step_of(places_in(network, machines), request);
}

}  // namespace chipweave::cli

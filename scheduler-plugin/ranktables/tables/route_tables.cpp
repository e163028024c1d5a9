#include "scheduler-plugin/ranktables/tables/route_tables.hpp"

#include <algorithm>
#include <utility>

#include "common/codec/ranktable/modelarts/job_pods.hpp"
#include "common/codec/ranktable/modelarts/job_table.hpp"
#include "common/codec/ranktable/modelarts/route_file.hpp"
#include "common/codec/ranktable/modelarts/tor_groups.hpp"
#include "common/solver/ranks/route_plan.hpp"
#include "scheduler-plugin/ranktables/job_members.hpp"

namespace chipweave::sched {
namespace {

using Pods = std::vector<const TablePod*>;

// The pods that request chips, by index. "" or why they cannot be numbered.
std::string number(Pods& pods) {
  std::sort(pods.begin(), pods.end(), [](const TablePod* a, const TablePod* b) {
    return std::pair(a->route->index, a->key) < std::pair(b->route->index, b->key);
  });
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const TablePod& pod = *pods[i];
    const auto pod_is = [&](const std::string& what) { return "pod " + pod.key.name + what; };
    if (!pod.problem.empty()) return pod_is(": " + pod.problem);
    if (pod.route->task != pods.front()->route->task)
      return pod_is(" is of task " + pod.route->task + ", and " + pods.front()->key.name +
                    " of task " + pods.front()->route->task +
                    ": both request chips, and indexes count inside one task");
    if (i > 0 && pod.route->index == pods[i - 1]->route->index)
      return "pods " + pods[i - 1]->key.name + " and " + pod.key.name + " both have index " +
             std::to_string(pod.route->index);
    if (pod.route->index != i)
      return pod_is(" has index " + std::to_string(pod.route->index) + ", and " +
                    std::to_string(pods.size()) + " pods request chips");
  }
  return {};
}

// As its device plugin reports them, else those that the scheduler chose.
codec::DeviceReport report_of(const TablePod& pod, const domain::ranktable::Member& member) {
  if (pod.route->report) return *pod.route->report;
  codec::DeviceReport out{pod.key.name, member.host_ip, {}};
  for (const auto& device : member.devices) {
    codec::RouteDevice& to = out.devices.emplace_back();
    to.id = std::to_string(device.device_id);
    to.ip = device.ip;
    if (device.super_device_id) to.super_device_id = std::to_string(*device.super_device_id);
  }
  return out;
}

codec::JobPod job_pod(const TablePod& pod, const Scheduler& scheduler,
                      std::vector<std::string>& missing) {
  const domain::ranktable::Member member = member_of(pod, scheduler);
  codec::JobPod out;
  out.name = pod.key.name;
  out.index = pod.route->index;
  out.node = pod.node;
  out.host_ip = member.host_ip;
  out.super_pod = member.super_pod;
  out.cabinet = pod.route->cabinet;
  const auto lacks = [&](const std::string& what) {
    missing.push_back("pod " + pod.key.name + ": " + what);
  };
  if (pod.node.empty()) {
    lacks("its node");
    return out;
  }
  codec::DeviceReport report = report_of(pod, member);
  const auto devices = report.devices.size();
  if (report.server_id.empty()) {
    lacks("the address of its host");
  } else if (devices == 0) {
    lacks("its devices");
  } else if (devices != static_cast<std::size_t>(pod.chips)) {
    lacks("its devices, " + std::to_string(devices) + " of which are known and " +
          std::to_string(pod.chips) + " requested");
  } else {
    out.report = std::move(report);
    if (!out.ready()) lacks("addresses of its devices");
  }
  return out;
}

// Places above the node, which is the last level.
solver::RankPath path_of(const Network& network, const std::string& node) {
  solver::RankPath out = network.path_of(node);
  if (!out.empty()) out.pop_back();
  return out;
}

// By the network; where that knows none of the machines, by the switches that devices report.
solver::RoutePlan plan_of(const codec::JobPods& job, const std::vector<solver::RankPath>& paths,
                          std::size_t levels) {
  std::vector<solver::RoutePod> pods;
  const bool known =
      std::any_of(paths.begin(), paths.end(), [](const auto& path) { return !path.empty(); });
  if (known) {
    for (std::size_t i = 0; i < job.pods.size(); ++i) pods.push_back({job.pods[i].node, paths[i]});
    return solver::route_plan(levels, pods);
  }
  std::vector<codec::PodSwitches> switches;
  for (const codec::JobPod& pod : job.pods) {
    codec::PodSwitches& of = switches.emplace_back();
    of.host = pod.node;
    for (const codec::RouteDevice& device : pod.report->devices) of.tors.push_back(device.tor_ip);
  }
  const auto groups = codec::tor_groups_of_pods(switches);
  for (std::size_t i = 0; i < groups.size(); ++i) pods.push_back({switches[i].host, {groups[i]}});
  return solver::route_plan(1, pods);
}

// Of the plan of the gang, if all pods have one and it numbers them from 0.
std::vector<std::size_t> planned_ranks(const Pods& pods) {
  std::vector<std::size_t> out;
  std::vector<bool> used(pods.size(), false);
  for (const TablePod* pod : pods) {
    const auto rank = static_cast<std::size_t>(pod->planned_rank.value_or(-1));
    if (rank >= pods.size() || used[rank]) return {};
    used[rank] = true;
    out.push_back(rank);
  }
  return out;
}

// The order of the network for pods that are new, on the ranks that the others leave.
std::vector<std::size_t> ranks_beside(const KeptPlan& kept, const Pods& pods,
                                      const solver::RoutePlan& plan) {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> out(pods.size(), kNone);
  std::vector<bool> used(pods.size(), false);
  for (std::size_t i = 0; i < pods.size(); ++i) {
    const auto rank = kept.find(pods[i]->uid);
    if (rank == kept.end() || rank->second >= pods.size() || used[rank->second]) continue;
    used[rank->second] = true;
    out[i] = rank->second;
  }
  std::size_t next = 0;
  for (const std::size_t pod : plan.order) {
    if (out[pod] != kNone) continue;
    while (used[next]) ++next;
    out[pod] = next++;
  }
  return out;
}

// All machines are known. Adds the leaf switches of the network to the devices.
std::vector<std::size_t> add_plan(const Pods& pods, const Network& network, const KeptPlan& kept,
                                  codec::JobPods& job) {
  const std::size_t levels = network.levels().size() - 1;
  std::vector<solver::RankPath> paths;
  std::vector<std::string> leaves;
  for (const TablePod* pod : pods) {
    paths.push_back(path_of(network, pod->node));
    leaves.push_back(solver::leaf_name(levels, paths.back()));
  }
  const solver::RoutePlan plan = plan_of(job, paths, levels);
  codec::add_leaf_switches(job, leaves);
  if (plan.state != solver::RouteState::planned) return {};
  std::vector<std::size_t> ranks = planned_ranks(pods);
  return ranks.empty() ? ranks_beside(kept, pods, plan) : ranks;
}

}  // namespace

RouteTables route_tables_of(const Pods& pods, int expected, const Scheduler& scheduler,
                            const domain::ranktable::RankTable* previous, const KeptPlan& kept) {
  RouteTables out;
  codec::JobPods job;
  Pods ranked;
  for (const TablePod* pod : pods) {
    if (pod->chips > 0) ranked.push_back(pod);
  }
  Presence presence = presence_of(pods.size(), expected);
  out.missing = std::move(presence.missing);
  out.problem = std::move(presence.problem);
  out.switches = std::all_of(ranked.begin(), ranked.end(),
                             [](const TablePod* pod) { return pod->route && pod->route->cabinet; });
  const auto unlike =
      std::find_if(ranked.begin(), ranked.end(), [](const auto* pod) { return !pod->route; });
  if (unlike != ranked.end())
    out.problem = "pod " + (*unlike)->key.name + " does not ask for tables of ModelArts, others do";
  if (out.complete()) out.problem = number(ranked);
  if (out.complete()) {
    for (const TablePod* pod : ranked) job.pods.push_back(job_pod(*pod, scheduler, out.missing));
  }
  if (out.complete() && out.switches) out.plan = add_plan(ranked, scheduler.network(), kept, job);
  if (!out.complete()) job.missing.push_back(0);
  auto made = codec::make_job_tables(job, {false, out.switches}, previous);
  if (!made) {
    out.problem = made.error().text();
    job.missing.push_back(0);
    made = codec::make_job_tables(job, {false, out.switches}, previous);  // waits: no error
  }
  out.ranks = std::move(made->ranks);
  out.tors = std::move(made->tors);
  if (!out.complete()) out.plan.clear();
  for (std::size_t i = 0; i < out.plan.size(); ++i) out.kept.emplace(ranked[i]->uid, out.plan[i]);
  return out;
}

KeptPlan kept_plan(const Pods& pods, std::string_view tors, std::string_view plan) {
  const auto table = codec::read_job_table(tors);
  const auto ranks = codec::read_route_plan(plan);
  if (!table || !ranks || table->servers().size() != ranks->size()) return {};
  std::map<std::string_view, std::size_t> there;  // the position of each pod
  const auto servers = table->servers();
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (servers[i]->pod_name) there.emplace(*servers[i]->pod_name, i);
  }
  KeptPlan out;
  for (const TablePod* pod : pods) {
    const auto at = there.find(pod->key.name);
    if (at == there.end() || !pod->route) continue;
    const std::string& host =
        pod->route->report ? pod->route->report->server_id : pod->member.host_ip;
    if (servers[at->second]->server_id == host) out.emplace(pod->uid, (*ranks)[at->second]);
  }
  return out;
}

}  // namespace chipweave::sched

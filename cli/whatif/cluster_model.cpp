#include "cli/whatif/cluster_model.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/natural_order.hpp"
#include "common/codec/topology/import.hpp"
#include "common/domain/availability.hpp"
#include "common/solver/nodes/demand.hpp"
#include "common/solver/nodes/node_offer.hpp"

namespace chipweave::cli {
namespace {

using codec::NodeView;
using domain::ChipSet;

// Chips that the machine does not have are left out.
ChipSet slots_of(const std::vector<int>& indices, const domain::NodeTopology& topology) {
  ChipSet out;
  for (const int index : indices)
    if (const auto slot = topology.slot_of(domain::ChipIndex{index})) out.insert(*slot);
  return out;
}

std::string unready(const NodeView& view) {
  if (view.stale) return std::string(domain::kAgentSilent);
  if (view.closed) return std::string(domain::kPluginNotReady);
  return {};
}

struct Chosen {
  ChipSet chips;       // of all members
  std::string reason;  // empty: it fits
};

// One pod's chips. healthy: of the machine, those of other pods included. The reasons are those of
// the scheduler.
Chosen choose_for_pod(solver::Machine& machine, const solver::Request& request, ChipSet healthy,
                      const std::string& resource, Seat& seat) {
  const solver::Choice choice = machine.choose(request);
  if (choice.fits) {
    seat.parts = {choice.chips};
    seat.gbps = choice.gbps;
    seat.best_gbps = choice.best_gbps;
    return {choice.chips, ""};
  }
  if (request.size > machine.topology().chip_count())
    return {{}, "the machine has fewer chips than requested"};
  if (choice.why == solver::Misfit::size) return {{}, machine.reason(request, choice)};
  if (!machine.fits({healthy, {}, {}, request.size, request.distributed}))
    return {{}, domain::insufficient_healthy(resource)};
  if (choice.why == solver::Misfit::rule)
    return {{}, "no set of free chips is allowed by the machine's rules"};
  return {{}, domain::insufficient(resource)};
}

// Chips for all members of the pod's group.
Chosen choose_for_group(solver::Machine& machine, const solver::Request& request, int members,
                        Seat& seat) {
  const std::vector<int> sizes(static_cast<std::size_t>(members), request.size);
  solver::GroupChoice choice = machine.choose_group(
      {request.usable, request.already_held, sizes, true, request.objective, request.loaded});
  if (!choice.fits)
    return {{}, "no room for all " + std::to_string(members) + " pods of the group on one node"};
  seat.parts = std::move(choice.parts);
  seat.gbps = choice.gbps;
  seat.best_gbps = choice.best_gbps;
  return {choice.chips, ""};
}

// Until pods are known the scheduler, too, takes it that all sizes are equally frequent.
const solver::Demand& usual_demand() {
  static const solver::Demand demand;
  return demand;
}

}  // namespace

std::string Outlook::summary() const {
  std::vector<domain::Unavailable> others;
  others.reserve(rejected.size());
  for (const auto& [reason, positions] : rejected) others.push_back({positions.size(), reason});
  return domain::availability_text(seats.size(), std::move(others));
}

Result<ClusterModel> ClusterModel::of(const std::vector<NodeView>& nodes,
                                      const std::vector<codec::PodSummary>& pods) {
  ClusterModel out;
  solver::MachineCache machines;
  for (const NodeView& view : nodes) {
    if (auto added = out.add(view, machines); !added) return std::move(added).error();
  }
  out.candidates_.resize(out.nodes_.size());
  std::iota(out.candidates_.begin(), out.candidates_.end(), std::size_t{0});
  std::vector<std::size_t> named = out.candidates_;
  std::sort(named.begin(), named.end(), [&](std::size_t a, std::size_t b) {
    return natural_less(out.nodes_[a].name, out.nodes_[b].name);
  });
  for (std::size_t i = 0; i < named.size(); ++i)
    out.nodes_[named[i]].order = static_cast<std::uint32_t>(i);
  for (const codec::PodSummary& pod : pods) {
    const auto at = out.find(pod.node);
    if (pod.job.empty() || !at || out.nodes_[*at].machine == nullptr) continue;
    out.held_by_job_[pod.ns + "/" + pod.job][*at] |=
        slots_of(pod.chips, out.nodes_[*at].machine->topology());
  }
  return out;
}

Result<void> ClusterModel::add(const NodeView& view, solver::MachineCache& machines) {
  Node node;
  node.name = view.name;
  node.resources = view.resources;
  std::sort(node.resources.begin(), node.resources.end());
  node.out_of_use = unready(view);
  if (view.chips > 0) {
    if (view.topology.empty())
      return make_error(Errc::unsupported,
                        "the scheduler does not say how nodes are wired: it is older than this "
                        "program");
    auto imported = codec::import_topology_json(view.topology, {});
    if (!imported) return std::move(imported).error().in("the topology of node " + view.name);
    const domain::NodeTopology& topology = imported->topology;
    node.unhealthy = slots_of(view.unhealthy, topology) | topology.unhealthy();
    node.network_unhealthy =
        slots_of(view.network_unhealthy, topology) | topology.network_unhealthy();
    node.free = slots_of(view.free, topology) - node.unhealthy;
    node.machine = machines.get(topology);
  } else if (node.out_of_use.empty()) {
    node.out_of_use = "inventory not received";
  }
  by_name_.emplace(node.name, nodes_.size());
  nodes_.push_back(std::move(node));
  return {};
}

std::optional<std::size_t> ClusterModel::find(const std::string& name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? std::nullopt : std::optional(at->second);
}

std::vector<std::string> ClusterModel::resources() const {
  std::set<std::string> out;
  for (const Node& node : nodes_) out.insert(node.resources.begin(), node.resources.end());
  return {out.begin(), out.end()};
}

std::vector<int> ClusterModel::indices(std::size_t node, ChipSet chips) const {
  const Node& on = nodes_[node];
  return on.machine == nullptr ? std::vector<int>() : on.machine->topology().indices(chips);
}

ChipSet ClusterModel::with_job(std::size_t node, const std::vector<int>& indices,
                               const std::string& job) const {
  if (nodes_[node].machine == nullptr) return {};
  const ChipSet chips = slots_of(indices, nodes_[node].machine->topology());
  if (chips.empty() || chips.size() != static_cast<int>(indices.size())) return {};
  return chips | held_beside(node, job);
}

double ClusterModel::gbps_with_job(std::size_t node, const std::vector<int>& indices,
                                   const std::string& job) const {
  const ChipSet chips = with_job(node, indices, job);
  return chips.empty() ? 0 : nodes_[node].machine->gbps(chips);
}

double ClusterModel::best_gbps_with_job(std::size_t node, const std::vector<int>& indices,
                                        const std::string& job) const {
  const ChipSet chips = with_job(node, indices, job);
  return chips.empty() ? 0 : nodes_[node].machine->best_gbps(chips, true);
}

int ClusterModel::free_chips() const {
  int out = 0;
  for (const Node& node : nodes_) out += node.out_of_use.empty() ? node.free.size() : 0;
  return out;
}

void ClusterModel::take_out(std::size_t node, const std::string& reason) {
  nodes_[node].out_of_use = reason;
}

ChipSet ClusterModel::held_beside(std::size_t position, const std::string& job) const {
  const auto holds = held_by_job_.find(job);
  if (holds == held_by_job_.end()) return {};
  const auto here = holds->second.find(position);
  return here == holds->second.end() ? ChipSet() : here->second;
}

ClusterModel::Judged ClusterModel::judge(std::size_t position, const PodNeed& need) const {
  const Node& node = nodes_[position];
  Judged out;
  out.seat.node = position;
  if (!need.only_node.empty() && node.name != need.only_node)
    out.reason = "not the node that the pod asks for";
  else if (!node.out_of_use.empty())
    out.reason = node.out_of_use;
  else if (!std::binary_search(node.resources.begin(), node.resources.end(), need.resource))
    out.reason = domain::without_resource(need.resource);
  if (!out.reason.empty()) return out;
  solver::Machine& machine = *node.machine;
  const bool distributed = need.distributed || need.members > 1;
  const ChipSet unusable = distributed ? node.unhealthy | node.network_unhealthy : node.unhealthy;
  const ChipSet beside = held_beside(position, need.job);
  const solver::Request request{node.free - unusable,
                                {},
                                beside,
                                need.chips,
                                distributed,
                                need.objective,
                                machine.topology().all() - node.free - node.unhealthy - beside};
  Chosen chosen = need.members > 1
                      ? choose_for_group(machine, request, need.members, out.seat)
                      : choose_for_pod(machine, request, machine.topology().all() - unusable,
                                       need.resource, out.seat);
  out.reason = std::move(chosen.reason);
  if (!out.reason.empty()) return out;
  out.seat.left = node.free - chosen.chips;
  out.offer =
      solver::offer_of(machine, node.free, chosen.chips, out.seat.gbps, usual_demand(), {}, {});
  return out;
}

ClusterModel::Fitting ClusterModel::fitting(
    const PodNeed& need, std::map<std::string, std::vector<std::size_t>>* rejected) const {
  const solver::NodePreference preference;
  const double ceiling =
      preference.ceiling(need.chips, need.distributed || need.members > 1, need.needs_gbps);
  Fitting out;
  for (const std::size_t position : candidates_) {
    Judged judged = judge(position, need);
    if (judged.reason.empty()) {
      out.inputs.push_back(solver::score_input(judged.offer, ceiling, nodes_[position].order));
      out.seats.push_back(std::move(judged.seat));
    } else if (rejected != nullptr) {
      (*rejected)[judged.reason].push_back(position);
    }
  }
  out.order = solver::NodeOrder(out.inputs, preference.tolerance);
  return out;
}

Outlook ClusterModel::outlook(const PodNeed& need) const {
  Outlook out;
  Fitting fits = fitting(need, &out.rejected);
  std::vector<std::pair<solver::NodeOrder::Rank, std::size_t>> ranks;
  for (std::size_t i = 0; i < fits.inputs.size(); ++i)
    ranks.emplace_back(fits.order.rank(fits.inputs[i]), i);
  std::sort(ranks.begin(), ranks.end());
  for (const auto& [rank, i] : ranks) out.seats.push_back(std::move(fits.seats[i]));
  return out;
}

std::optional<Seat> ClusterModel::best(const PodNeed& need) const {
  Fitting fits = fitting(need, nullptr);
  if (fits.seats.empty()) return std::nullopt;
  return std::move(fits.seats[solver::best_node(fits.inputs, fits.order)]);
}

void ClusterModel::take(const Seat& seat, const PodNeed& need) {
  ChipSet all;
  for (const ChipSet part : seat.parts) all |= part;
  nodes_[seat.node].free -= all;
  if (!need.job.empty()) held_by_job_[need.job][seat.node] |= all;
}

Result<ClusterModel> read_model(SchedulerClient& scheduler,
                                const std::vector<codec::PodSummary>& pods) {
  return scheduler.nodes_with_topologies().and_then(
      [&](const std::vector<NodeView>& nodes) { return ClusterModel::of(nodes, pods); });
}

Result<std::vector<std::size_t>> named_nodes(const ClusterModel& model,
                                             const std::vector<std::string>& names,
                                             const std::string& flag) {
  std::vector<std::size_t> out;
  for (const std::string& name : names) {
    const auto at = model.find(name);
    if (!at) {
      std::vector<std::string_view> known;
      known.reserve(model.nodes().size());
      for (const ClusterModel::Node& node : model.nodes()) known.push_back(node.name);
      return unknown_node(name, known).in(flag);
    }
    if (std::find(out.begin(), out.end(), *at) == out.end()) out.push_back(*at);
  }
  return out;
}

Result<void> restrict_to_named(ClusterModel& model, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  auto only = named_nodes(model, names, "--node");
  if (!only) return std::move(only).error();
  std::sort(only->begin(), only->end());
  model.set_candidates(*std::move(only));
  return {};
}

}  // namespace chipweave::cli

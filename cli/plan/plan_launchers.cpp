#include "cli/plan/plan_launchers.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "cli/ranktable/launchers.hpp"
#include "common/base/text.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::cli {
namespace {

struct LaunchedPod {
  std::string host;
  std::int64_t first_rank = 0;
  std::int64_t ranks = 0;
  std::vector<std::string> environment;  // "NAME=value"
};

std::vector<std::string> environment_of(const solver::NodeMachine& machine,
                                        const std::vector<int>& chips) {
  std::vector<std::string> out;
  const domain::Vendor& vendor = domain::vendor_of(*machine.topology);
  if (!vendor.visible_devices.empty() && !chips.empty()) {
    std::string list;
    for (const int chip : chips) list += (list.empty() ? "" : ",") + std::to_string(chip);
    out.push_back(concat(vendor.visible_devices, "=", list));
  }
  if (vendor.in_nccl_xml && !machine.down_nics.empty()) {
    std::vector<std::string> down;
    for (const int nic : machine.down_nics)
      down.push_back(machine.topology->nics()[static_cast<std::size_t>(nic)].name);
    out.push_back("NCCL_IB_HCA=^=" + joined(down, ","));
  }
  return out;
}

// In the order of ranks.
std::vector<LaunchedPod> launched(const codec::PlanRequest& request,
                                  const PlanEngine::Prepared& prepared,
                                  const PlanEngine::Decided& decided) {
  std::vector<LaunchedPod> out;
  std::int64_t next = 0;
  for (std::size_t i = 0; i < decided.plan.pods.size(); ++i) {
    const domain::PlannedPod& pod = decided.plan.pods[i];
    LaunchedPod& to = out.emplace_back();
    to.host = request.nodes[pod.node].name;
    to.ranks = request.gang.communicators ? request.gang.communicators->ranks_per_pod
                                          : std::max(request.gang.chips_of(pod.pod, pod.set), 1);
    to.first_rank = std::exchange(next, next + to.ranks);
    const auto machine = prepared.machines.find(pod.node);
    if (machine == prepared.machines.end() || i >= decided.details.chips.size()) continue;
    const bool by_rank =
        i < decided.details.rank_chips.size() && !decided.details.rank_chips[i].empty();
    to.environment = environment_of(
        machine->second, by_rank ? decided.details.rank_chips[i] : decided.details.chips[i]);
  }
  return out;
}

// Hosts by their first rank.
std::vector<domain::ranktable::RankedHost> by_host(const std::vector<LaunchedPod>& pods) {
  std::vector<domain::ranktable::RankedHost> out;
  std::map<std::string, std::size_t> places;
  for (const LaunchedPod& pod : pods) {
    const auto [at, fresh] = places.try_emplace(pod.host, out.size());
    if (fresh) out.push_back({pod.host, {}});
    auto& ranks = out[at->second].ranks;
    for (std::int64_t k = 0; k < pod.ranks; ++k)
      ranks.emplace_back(pod.first_rank + k, static_cast<std::int64_t>(ranks.size()));
  }
  return out;
}

Result<std::string> torchrun_lines(const std::vector<LaunchedPod>& pods) {
  std::string out;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    if (pods[i].ranks != pods.front().ranks)
      return make_error(
          Errc::invalid_argument,
          concat("torchrun cannot express this plan: a pod on ", pods[i].host, " has ",
                 pods[i].ranks, " ranks, the first pod ", pods.front().ranks));
    out += pods[i].host;
    for (const std::string& variable : pods[i].environment) out += " " + variable;
    out += concat(" torchrun --nnodes=", pods.size(), " --node_rank=", i,
                  " --nproc_per_node=", pods[i].ranks, " --master_addr=", pods.front().host, "\n");
  }
  return out;
}

// One context of mpirun for each pod: their ranks follow one another in the order of contexts.
std::string mpi_script(const std::vector<LaunchedPod>& pods) {
  std::string out = "#!/bin/sh\n# sh FILE PROGRAM [ARGUMENTS]\nexec mpirun";
  for (std::size_t i = 0; i < pods.size(); ++i) {
    out += concat(i == 0 ? "" : " :", " \\\n  -np ", pods[i].ranks, " -host ", pods[i].host, ":",
                  pods[i].ranks);
    for (const std::string& variable : pods[i].environment) out += " -x " + variable;
    out += " \"$@\"";
  }
  return out + "\n";
}

}  // namespace

Result<std::string> plan_for_launcher(const codec::PlanRequest& request,
                                      const PlanEngine::Prepared& prepared,
                                      const PlanEngine::Decided& decided, std::string_view form,
                                      int cpu_packages) {
  if (!request.gang.existing.empty())
    return make_error(Errc::invalid_argument,
                      "a launcher starts all ranks, but pods of the gang run already");
  const std::vector<LaunchedPod> pods = launched(request, prepared, decided);
  if (form == "torchrun") return torchrun_lines(pods);
  if (form == "mpi") return mpi_script(pods);
  return launcher_text(by_host(pods), form, cpu_packages);
}

}  // namespace chipweave::cli

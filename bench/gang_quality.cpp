// Gang quality: predicted GB/s of gangs planned with the adapters of their nodes in view, against
// the same planner without them, on networks of one machine each; and of the all-to-all objective
// against bandwidth. Prints two Markdown tables (docs/develop/placement-quality.md).
//
//   gang_quality [--network FILE] MACHINE…     MACHINE: as for placement_quality, with adapters
//
// Sixteen nodes in two racks, or the first 64 of the network. In each case up to half of the chips
// of a node are busy, and one adapter in 30 is down; gangs of 2 to 8 pods of 8 or 4 chips, to 16 of
// 2, to 32 of 1.
#include <fmt/format.h>
#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/base/limits.hpp"
#include "common/codec/network/import.hpp"
#include "common/domain/topology_edit.hpp"
#include "common/io/files.hpp"
#include "common/solver/gang/rails/best_nodes.hpp"
#include "common/solver/gang/ranks/communicator_plan.hpp"

namespace {

using namespace chipweave;
using domain::ChipSet;
using domain::Gang;
using domain::NodeTopology;
using solver::ChipPlan;
using solver::NodeMachines;

constexpr int kRounds = 200;
constexpr std::size_t kMaxNodes = 64;

struct Network {
  std::vector<std::string> levels{"rack"};
  std::vector<std::vector<std::string>> paths;
};

Network racks() {
  Network out;
  for (int i = 0; i < 16; ++i) out.paths.push_back({i < 8 ? "r1" : "r2"});
  return out;
}

struct Case {
  solver::Fabric fabric;
  NodeMachines seen;   // with adapters
  NodeMachines blind;  // the same without
  Gang gang;
};

ChipSet random_chips(ChipSet from, int count, std::mt19937_64& random) {
  std::vector<int> slots;
  for (const int slot : from) slots.push_back(slot);
  std::shuffle(slots.begin(), slots.end(), random);
  ChipSet out;
  for (int i = 0; i < count; ++i) out.insert(slots[static_cast<std::size_t>(i)]);
  return out;
}

Case random_case(const Network& network, const std::shared_ptr<solver::Machine>& machine,
                 const std::shared_ptr<const NodeTopology>& whole,
                 const std::shared_ptr<const NodeTopology>& bare, std::mt19937_64& random) {
  Case out{solver::Fabric(network.levels.size()), {}, {}, {}};
  const ChipSet all = whole->all();
  for (std::size_t i = 0; i < network.paths.size(); ++i) {
    const auto id = out.fabric.add("n" + std::to_string(i), network.paths[i]);
    solver::NodeMachine node{machine, whole, all};
    const auto most = static_cast<unsigned>(all.size() / 2 + 1);
    node.loaded = random_chips(all, static_cast<int>(random() % most), random);
    node.free = all - node.loaded;
    for (int nic = 0; nic < static_cast<int>(whole->nics().size()); ++nic)
      if (random() % 30 == 0) node.down_nics.push_back(nic);
    out.fabric.set_free(*id, node.free.size());
    solver::NodeMachine same{machine, bare, node.free};
    out.seen.emplace(*id, std::move(node));
    out.blind.emplace(*id, std::move(same));
  }
  const int sizes[] = {1, 2, 4, 8};
  out.gang.chips_per_pod = std::min(sizes[random() % 4], all.size());
  const int most_pods = std::max(8, 32 / out.gang.chips_per_pod);
  out.gang.pods = out.gang.min_member =
      2 + static_cast<int>(random() % static_cast<unsigned>(most_pods - 1));
  return out;
}

ChipPlan planned(const Case& one, const Network& network, const NodeMachines& machines,
                 domain::Objective objective) {
  Gang gang = one.gang;
  gang.objective = objective;
  solver::Fabric fabric = one.fabric;
  solver::limit_by_chips(fabric, machines, gang);
  auto made = solver::plan_with_communicators(
      fabric, network.levels, gang, machines, {},
      [&](const solver::Fabric& on, const Gang& what) -> Result<domain::Plan> {
        return solver::plan_on_best_nodes(on, network.levels, what, machines);
      });
  return std::move(made).value().chips;
}

// The same nodes and chips, as the adapters see them.
ChipPlan evaluated(const Case& one, const Network& network, const ChipPlan& plan,
                   const NodeTopology& topology) {
  NodeMachines machines = one.seen;
  for (auto& [id, machine] : machines) machine.free = {};
  for (std::size_t i = 0; i < plan.plan.pods.size(); ++i) {
    ChipSet& free = machines.at(plan.plan.pods[i].node).free;
    for (const int index : plan.chips[i]) free.insert(*topology.slot_of(domain::ChipIndex{index}));
  }
  return solver::assign_chips(one.fabric, network.levels, one.gang, machines, {}, plan.plan);
}

bool same_choice(const ChipPlan& a, const ChipPlan& b) {
  if (a.chips != b.chips) return false;
  for (std::size_t i = 0; i < a.plan.pods.size(); ++i)
    if (a.plan.pods[i].node != b.plan.pods[i].node) return false;
  return true;
}

struct Tally {
  int cases = 0;
  int changed = 0;
  int better = 0;
  int worse = 0;
  double without = 0;
  double with = 0;
  double most = 1;  // gain in one case

  void add(bool differs, double before, double after) {
    ++cases;
    changed += differs ? 1 : 0;
    better += after > before * 1.000001 ? 1 : 0;
    worse += after < before * 0.999999 ? 1 : 0;
    without += before;
    with += after;
    if (before > 0) most = std::max(most, after / before);
  }
  void print(const std::string& label) const {
    if (cases == 0) return;
    fmt::print("| {} | {} | {} | {:.1f} | {:.1f} | {:.2f} | {} | {} |\n", label, cases, changed,
               without / cases, with / cases, most, better, worse);
    std::fflush(stdout);
  }
};

struct Tallies {
  std::string label;
  Tally rails;
  Tally exchange;
};

Tallies graded(const std::string& label, const NodeTopology& topology, const Network& network) {
  Tallies out{label, {}, {}};
  auto whole = std::make_shared<const NodeTopology>(topology);
  domain::TopologyEdit edit;
  edit.nics.emplace();
  auto bare = std::make_shared<const NodeTopology>(domain::rebuilt(topology, edit).value());
  auto machine = std::make_shared<solver::Machine>(topology);
  std::mt19937_64 random(7);
  for (int round = 0; round < kRounds; ++round) {
    const Case one = random_case(network, machine, whole, bare, random);
    const ChipPlan with = planned(one, network, one.seen, domain::Objective::bandwidth);
    if (!with.plan.fits) continue;
    const ChipPlan without = planned(one, network, one.blind, domain::Objective::bandwidth);
    if (!without.plan.fits) continue;
    const ChipPlan before = evaluated(one, network, without, topology);
    if (with.bandwidth.gbps && before.bandwidth.gbps)
      out.rails.add(!same_choice(with, without), *before.bandwidth.gbps, *with.bandwidth.gbps);
    const ChipPlan exchange = planned(one, network, one.seen, domain::Objective::all_to_all);
    if (exchange.all_to_all.gbps && with.all_to_all.gbps)
      out.exchange.add(!same_choice(exchange, with), *with.all_to_all.gbps,
                       *exchange.all_to_all.gbps);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  Network network = racks();
  std::vector<Tallies> tallies;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--network" && i + 1 < argc) {
      const auto text = io::read_file(argv[++i], limits::kMaxNetworkFileBytes);
      const auto imported =
          text ? codec::import_network(*text, {}) : Result<codec::ImportedNetwork>(text.error());
      if (!imported) {
        fmt::print(stderr, "{}\n", imported.error().text());
        return 1;
      }
      network = {imported->table.levels, {}};
      for (const domain::NetworkNode& node : imported->table.nodes)
        if (network.paths.size() < kMaxNodes) network.paths.push_back(node.path);
      continue;
    }
    const auto machine = io::load_machine(argument);
    if (!machine) {
      fmt::print(stderr, "{}: {}\n", argument, machine.error().text());
      return 1;
    }
    if (machine->topology.nics().empty()) continue;
    tallies.push_back(graded(argument.substr(argument.rfind('/') + 1), machine->topology, network));
  }
  for (const bool exchange : {false, true}) {
    fmt::print(
        "\n| machine | cases | other choice | GB/s {} | GB/s {} | most | better | worse |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|\n",
        exchange ? "bandwidth" : "without adapters", exchange ? "all_to_all" : "with adapters");
    for (const Tallies& one : tallies) (exchange ? one.exchange : one.rails).print(one.label);
  }
  return 0;
}

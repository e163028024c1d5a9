// Prints what the solver answers to seeded requests, every number in full, so that the outputs of
// two processors can be compared byte by byte (scripts/check-arm64).
//
// usage: solver_results <MACHINES
// MACHINES: lines "machine NAME VENDOR", "rule KIND GROUP", "p2p 0|1", "chip INDEX NUMA",
// "link A B KIND LANES RATE", "switch KIND LANES RATE CHIP…" and "end" (machines.py); a RATE of 0
// is the default. Random machines, gangs and rank orders are added.
#include <cstdio>
#include <exception>
#include <iostream>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/topology_builder.hpp"
#include "common/solver/chips/machine.hpp"
#include "common/solver/gang/planner.hpp"
#include "common/solver/ranks/weighted_order.hpp"
#include "tests/unit/solver/machines.hpp"

namespace chipweave::test {
namespace {

using domain::ChipIndex;
using domain::ChipSet;

// Requests of each size, and the largest size: an emulator takes several times as long.
struct Effort {
  int requests;
  int largest;
};
Effort effort_for(int chips) {
  return chips > 16 ? Effort{3, 9} : chips > 8 ? Effort{8, 16} : Effort{20, 8};
}

std::optional<double> rate_of(double rate) {
  return rate > 0 ? std::optional<double>(rate) : std::nullopt;
}

domain::LinkKind kind_of(const std::string& text) {
  const auto kind = domain::parse_link_kind(text);
  if (!kind) throw std::runtime_error("no kind of links: " + text);
  return *kind;
}

// One line of a machine, other than its first and last.
void add(domain::TopologyBuilder& to, std::istringstream& line, const std::string& what) {
  if (what == "rule") {
    std::string kind;
    int group = 1;
    line >> kind >> group;
    const auto rule = domain::parse_rule_kind(kind);
    if (!rule) throw std::runtime_error("no rule: " + kind);
    to.rule = domain::PlacementRule{*rule, group};
  } else if (what == "p2p") {
    line >> to.p2p;
  } else if (what == "chip") {
    domain::Chip chip;
    int index = 0;
    line >> index >> chip.numa;
    chip.index = ChipIndex{index};
    to.add_chip(chip);
  } else if (what == "link") {
    int a = 0;
    int b = 0;
    int lanes = 1;
    double rate = 0;
    std::string kind;
    line >> a >> b >> kind >> lanes >> rate;
    to.add_link(ChipIndex{a}, ChipIndex{b}, kind_of(kind), lanes, rate_of(rate));
  } else if (what == "switch") {
    std::string kind;
    int lanes = 1;
    double rate = 0;
    line >> kind >> lanes >> rate;
    std::vector<domain::TopologyBuilder::Port> ports;
    for (int chip = 0; line >> chip;) ports.push_back({ChipIndex{chip}, lanes, 0});
    to.add_switch(kind, kind_of(kind), std::move(ports), rate_of(rate));
  } else {
    throw std::runtime_error("unknown line: " + what);
  }
}

std::vector<std::pair<std::string, domain::NodeTopology>> read_machines() {
  std::vector<std::pair<std::string, domain::NodeTopology>> out;
  std::string name;
  domain::TopologyBuilder builder;
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream line(text);
    std::string what;
    line >> what;
    if (what == "machine") {
      line >> name >> builder.vendor;
    } else if (what == "end") {
      auto made = std::exchange(builder, {}).build();
      if (!made) throw std::runtime_error(name + ": " + made.error().text());
      out.emplace_back(name, std::move(made).value());
    } else {
      add(builder, line, what);
    }
  }
  return out;
}

void print_choices(const std::string& name, domain::NodeTopology topology) {
  const int chips = topology.chip_count();
  solver::Machine machine(std::move(topology));
  std::mt19937_64 random(static_cast<std::uint64_t>(chips));
  const Effort effort = effort_for(chips);
  for (const int size : machine.legal_sizes(false)) {
    if (size > effort.largest) continue;
    std::printf("%s %d: best %a\n", name.c_str(), size, machine.best_gbps(size, false));
    for (int request = 0; request < effort.requests; ++request) {
      solver::Request wanted;
      wanted.usable = request == 0 ? ChipSet::first(chips)
                                   : ChipSet((random() | random()) & ChipSet::first(chips).bits());
      wanted.size = size;
      wanted.distributed = request % 4 == 3;
      if (request % 5 == 4) wanted.objective = domain::Objective::latency;
      if (request % 7 == 6) wanted.objective = domain::Objective::all_to_all;
      const solver::Choice choice = machine.choose(wanted);
      std::printf("  of %llx: %d %llx %a %a exact %d bound %a\n",
                  static_cast<unsigned long long>(wanted.usable.bits()), choice.fits ? 1 : 0,
                  static_cast<unsigned long long>(choice.chips.bits()), choice.gbps,
                  choice.best_gbps, choice.exact ? 1 : 0, choice.bound);
      for (const std::string& line : machine.explain(wanted).criteria)
        std::printf("    %s\n", line.c_str());
    }
  }
}

std::string numbered(char letter, unsigned number) { return letter + std::to_string(number); }

void print_gang(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&random](unsigned n) { return static_cast<int>(random() % n); };
  solver::Fabric fabric(3);
  for (unsigned node = 0; node < 60; ++node) {
    const auto id = fabric.add(numbered('n', node), {numbered('b', node / 20),
                                                     numbered('r', node / 5), numbered('n', node)});
    if (!id) throw std::runtime_error(id.error().text());
    fabric.set_free(*id, below(9));
    fabric.set_healthy(*id, below(8) != 0);
  }
  domain::Gang gang;
  gang.pods = 2 + below(30);
  gang.chips_per_pod = 1 + below(4);
  gang.min_member = gang.pods;
  gang.required_level = below(2) == 0 ? 0 : domain::kNoLevel;
  gang.preferred_level = 1;
  gang.policy = below(3) == 0 ? domain::GangPolicy::even : domain::GangPolicy::compact;
  const domain::Plan plan = solver::plan_gang(fabric, {"block", "rack", "host"}, gang);
  std::printf("gang %u: %d %d %s\n", seed, plan.fits ? 1 : 0, plan.optimal ? 1 : 0,
              plan.reason.c_str());
  for (const domain::PlannedPod& pod : plan.pods)
    std::printf("  %d on %u rank %d\n", pod.pod, pod.node, pod.rank);
}

// More pods than are ordered exactly, in communicators of two shapes.
void print_order(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&random](unsigned n) { return static_cast<unsigned>(random() % n); };
  const std::size_t pods = 16 + 8 * (seed % 3);
  std::vector<solver::RankPath> paths;
  for (std::size_t pod = 0; pod < pods; ++pod)
    paths.push_back({numbered('s', below(3)), numbered('l', below(6))});
  domain::Communicators wanted;
  wanted.list = {{"tensor", 4, 1, 8}, {"data", static_cast<std::int64_t>(pods) / 4, 4, 1}};
  const auto traffic = solver::pod_traffic(wanted, pods);
  if (!traffic) throw std::runtime_error(traffic.error().text());
  const solver::WeightedOrder order = solver::weighted_order(2, paths, *traffic);
  std::printf("order %u: %d", seed, order.optimal ? 1 : 0);
  for (const std::size_t position : order.order) std::printf(" %zu", position);
  std::printf("\n");
}

void print_all() {
  for (auto& [name, topology] : read_machines()) print_choices(name, std::move(topology));
  for (unsigned seed = 0; seed < 24; ++seed) {
    const int chips = seed % 12 == 5 ? 20 + static_cast<int>(seed) : 3 + static_cast<int>(seed % 7);
    print_choices("random-" + std::to_string(seed),
                  with_random_faults(random_machine(chips, seed), seed));
  }
  for (unsigned seed = 0; seed < 40; ++seed) print_gang(seed);
  for (unsigned seed = 0; seed < 12; ++seed) print_order(seed);
}

}  // namespace
}  // namespace chipweave::test

int main() {
  try {
    chipweave::test::print_all();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "solver_results: %s\n", error.what());
    return 1;
  }
  return 0;
}

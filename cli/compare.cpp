#include "cli/compare.hpp"

#include <fmt/format.h>

#include "common/base/limits.hpp"
#include "common/codec/topology/import.hpp"
#include "common/profiles/profiles.hpp"
#include "common/solver/chips/baselines.hpp"

namespace chipweave::cli {
namespace {

using domain::ChipSet;

OtherChoice describe(solver::Machine& machine, ChipSet chosen, ChipSet free, ChipSet already_held,
                     bool distributed) {
  OtherChoice out;
  out.chips = machine.topology().indices(chosen);
  out.gbps = machine.gbps(chosen | already_held);
  out.legal = machine.legal(chosen, free, distributed);
  return out;
}

std::optional<ChipSet> slots_of(const domain::NodeTopology& topology,
                                const std::vector<int>& indices) {
  ChipSet out;
  for (const int index : indices) {
    const auto slot = topology.slot_of({index});
    if (!slot) return std::nullopt;
    out.insert(*slot);
  }
  return out;
}

void take_down(domain::NodeTopology& topology, const std::vector<domain::DownLink>& links) {
  for (const domain::DownLink& link : links) {
    const auto a = topology.slot_of(link.a);
    const auto b = topology.slot_of(link.b);
    if (a && b) topology.take_down(*a, *b, link.lanes.value_or(limits::kMaxLanes));
  }
}

}  // namespace

solver::Machine* Comparer::machine(const codec::NodeView& node) {
  std::string key = node.machine;
  for (const domain::DownLink& link : node.down_links) {
    key += fmt::format("|{}-{}:{}", link.a.value, link.b.value,
                       link.lanes.value_or(limits::kMaxLanes));
  }
  const auto known = machines_.find(key);
  if (known != machines_.end()) return known->second.get();
  std::unique_ptr<solver::Machine> made;
  // Only built-in names: what a scheduler answers must never be taken for a path of this computer.
  if (const profiles::Profile* profile = profiles::find(node.machine)) {
    if (auto imported = codec::import_topology_json(profile->json, {})) {
      take_down(imported->topology, node.down_links);
      made = std::make_unique<solver::Machine>(domain::calibrated(imported->topology, overlays_));
    }
  }
  return machines_.emplace(key, std::move(made)).first->second.get();
}

std::optional<Comparison> Comparer::compare(const codec::NodeView& node, int size, bool distributed,
                                            const std::vector<int>& already_held) {
  solver::Machine* model = machine(node);
  if (model == nullptr || size < 1) return std::nullopt;
  const auto free = slots_of(model->topology(), node.free);
  const auto held = slots_of(model->topology(), already_held);
  // A chip that the profile does not have: the node is not wired like it after all.
  if (!free || !held || size > free->size()) return std::nullopt;
  Comparison out;
  if (const auto set = solver::choose_by_pair_sum(model->topology(), *free, size)) {
    out.pair_sum = describe(*model, *set, *free, *held, distributed);
  }
  if (const auto set = solver::choose_first_fit(*free, size)) {
    out.first_fit = describe(*model, *set, *free, *held, distributed);
  }
  return out;
}

}  // namespace chipweave::cli

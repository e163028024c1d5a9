#include "node-agent/app/machine/memory.hpp"

#include <algorithm>
#include <utility>

#include "common/domain/topology_edit.hpp"
#include "node-agent/app/health/conditions.hpp"
#include "node-agent/app/machine/continuity.hpp"

namespace chipweave::agent {
namespace {

using domain::Basis;
using domain::Fault;
using domain::Observation;
using domain::RememberedFault;
using domain::RememberedNode;

// Whether a chip that was gone has been forgotten by order. Its number stays free until the node
// boots; then the driver's numbers count.
bool has_gap(const domain::NodeTopology& topology) {
  return topology.chip_count() > 0 &&
         topology.chip(topology.chip_count() - 1).index.value + 1 != topology.chip_count();
}

}  // namespace

Result<std::optional<Observation>> remembered_machine(const RememberedNode& node) {
  if (!node.topology || (!node.same_boot && has_gap(*node.topology))) {
    return std::optional<Observation>();
  }
  domain::TopologyEdit healthy;
  healthy.chip = [](domain::Chip& chip) { chip.health = domain::Health::healthy; };
  healthy.link = [](domain::DirectLink& link) { link.lanes_down = 0; };
  healthy.port = [](const domain::Switch&, domain::SwitchPort& port) { port.lanes_down = 0; };
  auto topology = domain::rebuilt(*node.topology, healthy);
  if (!topology) return std::move(topology).error();
  Observation out{node.machine, std::move(topology).value(), {}};
  out.facts = node.facts;
  const bool bus =
      std::any_of(node.faults.begin(), node.faults.end(),
                  [](const RememberedFault& one) { return one.fault.code.starts_with("driver."); });
  out.basis = bus ? Basis::bus : Basis::driver;
  return std::optional(std::move(out));
}

std::vector<Fault> remembered_faults(const RememberedNode& node, const domain::NodeTopology& now) {
  if (!node.same_boot) return {};
  std::vector<Fault> out = in_terms_of(now, node.faults);
  std::erase_if(out, [](const Fault& fault) { return is_reported(fault) || is_of_probe(fault); });
  return out;
}

RememberedCordon remembered_cordon(const RememberedNode& node, const domain::NodeTopology& now) {
  RememberedCordon out;
  for (const Fault& fault : in_terms_of(now, node.faults)) {
    if (fault.code != kCordoned || !fault.chip) continue;
    out.cordon.chips.insert(*fault.chip);
    out.since = fault.since;
  }
  return out;
}

RememberedMaintenance remembered_maintenance(const RememberedNode& node) {
  for (const RememberedFault& one : node.faults) {
    if (one.fault.code == kMaintenance) return {one.fault.text, one.fault.since};
  }
  return {};
}

}  // namespace chipweave::agent

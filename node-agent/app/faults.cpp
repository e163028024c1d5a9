#include "node-agent/app/faults.hpp"

#include <string>
#include <utility>

#include "common/base/limits.hpp"
#include "node-agent/app/rebuild.hpp"

namespace chipweave::agent {
namespace {

Result<domain::ChipSet> slots(const domain::NodeTopology& t,
                              const std::vector<domain::ChipIndex>& chips, const std::string& key) {
  domain::ChipSet out;
  for (const domain::ChipIndex chip : chips) {
    const auto slot = t.slot_of(chip);
    if (!slot) {
      return make_error(Errc::invalid_argument, key + " names chip " + std::to_string(chip.value) +
                                                    ", which this machine does not have");
    }
    out.insert(*slot);
  }
  return out;
}

}  // namespace

Result<domain::NodeTopology> with_faults(const domain::NodeTopology& t,
                                         const domain::Faults& faults) {
  const auto unhealthy = slots(t, faults.unhealthy, "unhealthy");
  if (!unhealthy) return Error(unhealthy.error());
  const auto network = slots(t, faults.network_unhealthy, "network_unhealthy");
  if (!network) return Error(network.error());
  auto out = with_chips(t, [&](domain::Chip& chip) {
    const int slot = *t.slot_of(chip.index);
    if (unhealthy->contains(slot)) {
      chip.health = domain::Health::unhealthy;
    } else if (network->contains(slot) && chip.health == domain::Health::healthy) {
      chip.health = domain::Health::network_unhealthy;
    }
  });
  if (!out) return out;
  for (const domain::DownLink& down : faults.down_links) {
    const auto a = slots(t, {down.a}, "down_links");
    if (!a) return Error(a.error());
    const auto b = slots(t, {down.b}, "down_links");
    if (!b) return Error(b.error());
    if (!out->take_down(a->lowest(), b->lowest(), down.lanes.value_or(limits::kMaxLanes))) {
      return make_error(Errc::invalid_argument, "down_links names " + std::to_string(down.a.value) +
                                                    "-" + std::to_string(down.b.value) +
                                                    ", a pair without a direct link");
    }
  }
  return out;
}

}  // namespace chipweave::agent

#include "common/solver/gang/chips/topology_cache.hpp"

#include <cstring>

#include "common/solver/chips/machine_cache.hpp"

namespace chipweave::solver {
namespace {

// Each with its end, so that keys are unambiguous; none of them contains a line break.
std::string key_of(const domain::NodeTopology& topology) {
  std::string out = topology_class_key(topology);
  out += topology.vendor() + '\n' + topology.model() + '\n';
  for (const domain::Switch& one : topology.switches()) out += static_cast<char>(one.kind);
  for (const domain::Nic& nic : topology.nics()) {
    char rate[sizeof(nic.gbps)];
    std::memcpy(rate, &nic.gbps, sizeof(rate));
    out += nic.name + '\n' + nic.pci + '\n';
    out.append(rate, sizeof(rate));
  }
  return out;
}

}  // namespace

std::shared_ptr<const domain::NodeTopology> TopologyCache::get(
    const domain::NodeTopology& topology) {
  auto& held = known_[key_of(topology)];
  if (auto known = held.lock()) return known;
  std::erase_if(known_, [&held](const auto& entry) {
    return &entry.second != &held && entry.second.expired();
  });
  auto made = std::make_shared<const domain::NodeTopology>(topology);
  held = made;
  return made;
}

}  // namespace chipweave::solver

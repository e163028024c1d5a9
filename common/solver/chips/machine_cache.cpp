#include "common/solver/chips/machine_cache.hpp"

#include <cstring>

namespace chipweave::solver {
namespace {

template <class T>
void put(std::string& out, const T& value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

}  // namespace

std::string topology_class_key(const domain::NodeTopology& t) {
  std::string out;
  put(out, t.chip_count());
  put(out, t.p2p());
  put(out, static_cast<int>(t.rule().kind));
  put(out, t.rule().group_size);
  const domain::HostBandwidth& host = t.host_bandwidth();
  for (const double rate : {host.board, host.pix, host.pxb, host.phb, host.node, host.sys})
    put(out, rate);
  for (const domain::Chip& c : t.chips()) {
    put(out, c.index.value);
    put(out, c.numa);
  }
  // Lists carry their length, so that keys are unambiguous. Lanes that are down differ from lanes
  // that do not exist: the best of the healthy machine is another one.
  put(out, t.links().size());
  for (const domain::DirectLink& l : t.links()) {
    put(out, l.a);
    put(out, l.b);
    put(out, static_cast<int>(l.kind));
    put(out, l.lanes);
    put(out, l.lanes_down);
    put(out, l.gbps_per_lane);
  }
  put(out, t.switches().size());
  for (const domain::Switch& s : t.switches()) {
    put(out, s.gbps_per_lane);
    put(out, s.ports.size());
    for (const domain::SwitchPort& p : s.ports) {
      put(out, p.slot);
      put(out, p.lanes);
      put(out, p.lanes_down);
    }
  }
  for (int a = 0; a < t.chip_count(); ++a) {
    for (int b = a + 1; b < t.chip_count(); ++b) put(out, static_cast<char>(t.host_path(a, b)));
  }
  put(out, t.nics().size());
  for (const domain::Nic& n : t.nics()) {
    for (const domain::LinkKind k : n.paths) put(out, static_cast<char>(k));
  }
  for (const ChipSet p : t.partitions()) put(out, p.bits());
  return out;
}

std::shared_ptr<Machine> MachineCache::get(const domain::NodeTopology& topology) {
  std::weak_ptr<Machine>& held = machines_[topology_class_key(topology)];
  if (std::shared_ptr<Machine> machine = held.lock()) return machine;
  std::erase_if(machines_, [&held](const auto& entry) {
    return &entry.second != &held && entry.second.expired();
  });
  auto machine = std::make_shared<Machine>(topology);
  held = machine;
  return machine;
}

}  // namespace chipweave::solver

#include "node-agent/publish/compat/ack_content.hpp"

#include <algorithm>
#include <functional>

#include "common/base/json_writer.hpp"
#include "common/domain/vendor.hpp"
#include "node-agent/publish/compat/label_value.hpp"

namespace chipweave::agent {
namespace {

using domain::LinkKind;
using domain::NodeTopology;

struct Joined {
  std::string link;
  double gbps = 0;
};

// Lanes that both chips have to a common switch.
Joined by_switch(const NodeTopology& machine, int a, int b) {
  Joined best;
  for (const domain::Switch& each : machine.switches()) {
    const auto lanes = [&](int slot) {
      const auto port = std::find_if(each.ports.begin(), each.ports.end(),
                                     [&](const domain::SwitchPort& p) { return p.slot == slot; });
      return port == each.ports.end() ? 0 : port->lanes_up();
    };
    const int common = std::min(lanes(a), lanes(b));
    if (common * each.gbps_per_lane > best.gbps) {
      best = {"NV" + std::to_string(common), common * each.gbps_per_lane};
    }
  }
  return best;
}

Joined joined(const NodeTopology& machine, int a, int b) {
  if (a == b) return {"X", 0};
  if (const domain::DirectLink* link = machine.link(std::min(a, b), std::max(a, b));
      link != nullptr && link->lanes_up() > 0) {
    return {"NV" + std::to_string(link->lanes_up()), link->gbps()};
  }
  if (Joined out = by_switch(machine, a, b); !out.link.empty()) return out;
  const LinkKind path = machine.host_path(a, b);
  // nvidia-smi has no name for one board.
  return {std::string(path == LinkKind::board ? "PIX" : domain::to_string(path)),
          machine.host_bandwidth().of(path)};
}

std::string matrix(const NodeTopology& machine,
                   const std::function<void(JsonWriter&, const Joined&)>& cell) {
  JsonWriter w;
  w.begin_array();
  for (int a = 0; a < machine.chip_count(); ++a) {
    w.begin_array();
    for (int b = 0; b < machine.chip_count(); ++b) cell(w, joined(machine, a, b));
    w.end_array();
  }
  w.end_array();
  return w.take();
}

}  // namespace

std::optional<codec::StringMap> ack_labels(const std::string& node) {
  if (!is_label_value(node)) return std::nullopt;
  return codec::StringMap{{kAckModeLabel, kAckTopologyMode}, {"nodename", node}};
}

std::optional<codec::StringMap> ack_data(const NodeState& state) {
  const NodeTopology& machine = state.topology;
  if (domain::vendor_of(machine).id != domain::VendorId::nvidia) return std::nullopt;
  JsonWriter devices;
  devices.begin_object();
  for (const domain::Chip& chip : machine.chips()) {
    const bool healthy = chip.health != domain::Health::unhealthy;
    devices.field(std::to_string(chip.index.value), healthy ? "Healthy" : "Unhealthy");
  }
  devices.end_object();
  return codec::StringMap{
      {"devices", devices.take()},
      {"linkType", matrix(machine, [](JsonWriter& w, const Joined& j) { w.string(j.link); })},
      {"bandwidth", matrix(machine, [](JsonWriter& w, const Joined& j) { w.number(j.gbps); })}};
}

}  // namespace chipweave::agent

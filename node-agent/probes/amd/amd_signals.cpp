#include "node-agent/probes/amd/amd_signals.hpp"

#include <algorithm>
#include <utility>

#include "common/codec/topology/hardware/device_models.hpp"

namespace chipweave::agent {
namespace {

using domain::ChipIndex;
using domain::Signal;
using domain::SignalKind;
using Devices = std::map<std::string, AmdDevice>;

const AmdDevice* device_of(const AmdChip& chip, const Devices& devices) {
  const auto at = devices.find(chip.pci);
  return at == devices.end() ? nullptr : &at->second;
}

class ChipSignals {
 public:
  ChipSignals(ChipIndex chip, std::vector<Signal>& out) : chip_(chip), out_(out) {}

  void add(SignalKind kind, std::string code, double value, std::string text = "") {
    Signal signal;
    signal.kind = kind;
    signal.code = std::move(code);
    signal.chip = chip_;
    signal.value = value;
    signal.text = std::move(text);
    out_.push_back(std::move(signal));
  }

  void add_ras(const std::string& block, const RasCounts& counts) {
    add_counter("ras." + block + ".ue", counts.uncorrected);
    add_counter("ras." + block + ".ce", counts.corrected);
    add_counter("ras." + block + ".de", counts.deferred);
  }

  void add_device(const AmdDevice& device) {
    for (const auto& [block, counts] : device.ras) add_ras(block, counts);
    if (device.resetting) {
      add(SignalKind::state, "amd.hung", 0,
          "the driver refuses its error counters, as during a reset or start of the chip");
    }
    if (!device.overheated.empty()) {
      add(SignalKind::state, "amd.thermal", 0, "at the critical temperature: " + device.overheated);
    }
    if (device.celsius) add(SignalKind::reading, "amd.temperature", *device.celsius);
    if (device.xgmi_errors > 0) {
      add(SignalKind::event, "amd.xgmi-error", static_cast<double>(device.xgmi_errors),
          device.xgmi_errors == 1 ? "one error" : "several errors");
    }
  }

 private:
  void add_counter(std::string code, const std::optional<std::uint64_t>& count) {
    if (count) add(SignalKind::counter, std::move(code), static_cast<double>(*count));
  }

  ChipIndex chip_;
  std::vector<Signal>& out_;
};

void add_common(const char* name, const std::vector<std::string>& values,
                domain::Observation& out) {
  const std::string value = codec::common_text(values, "mixed");
  if (!value.empty()) out.facts[name] = value;
}

}  // namespace

void add_amd_signals(const AmdMachine& machine, const Devices& devices,
                     const std::vector<int>& gone, const std::vector<int>& reset,
                     domain::Observation& observation) {
  for (int slot = 0; slot < machine.topology.chip_count(); ++slot) {
    ChipSignals signals(machine.topology.chip(slot).index, observation.signals);
    if (std::find(gone.begin(), gone.end(), slot) != gone.end()) {
      signals.add(SignalKind::state, "amd.gone", 0,
                  "was present before; KFD or the PCI bus no longer lists it");
      continue;
    }
    const AmdDevice* device = device_of(machine.chips[static_cast<std::size_t>(slot)], devices);
    if (device != nullptr) signals.add_device(*device);
    if (std::find(reset.begin(), reset.end(), slot) != reset.end()) {
      signals.add(SignalKind::event, "amd.reset", 0,
                  "the driver reports its error counters again, after a reset or start");
    }
  }
}

void add_xgmi_ports(const AmdMachine& machine, const Devices& devices,
                    domain::Observation& observation) {
  const domain::NodeTopology& t = observation.topology;
  std::map<std::string, std::vector<int>> slots;  // by PCI address of the package
  for (int slot = 0; slot < t.chip_count(); ++slot) {
    slots[machine.chips[static_cast<std::size_t>(slot)].pci].push_back(slot);
  }
  for (const auto& [pci, at] : slots) {
    const auto device = devices.find(pci);
    if (device == devices.end() || at.size() != 1) continue;
    for (const XgmiLane& lane : device->second.lanes) {
      const auto peer = slots.find(lane.peer);
      if (peer == slots.end() || peer->second.size() != 1) continue;
      if (t.link(at.front(), peer->second.front()) == nullptr) continue;
      domain::Port port;
      port.chip = t.chip(at.front()).index;
      port.number = lane.port;
      port.peer = t.chip(peer->second.front()).index;
      observation.ports.push_back(port);
    }
  }
}

void add_amd_facts(const AmdMachine& machine, const Devices& devices,
                   domain::Observation& observation) {
  std::vector<std::string> gfx;
  std::vector<std::string> compute;
  std::vector<std::string> memory;
  for (std::size_t i = 0; i < machine.chips.size(); ++i) {
    const AmdChip& chip = machine.chips[i];
    gfx.push_back(chip.gfx);
    if (const AmdDevice* device = device_of(chip, devices)) {
      compute.push_back(device->compute_partition);
      memory.push_back(device->memory_partition);
    }
    const int index = machine.topology.chip(static_cast<int>(i)).index.value;
    observation.facts["render." + std::to_string(index)] =
        "renderD" + std::to_string(chip.render_minor);
  }
  add_common("gfx", gfx, observation);
  add_common("compute-partition", compute, observation);
  add_common("memory-partition", memory, observation);
}

}  // namespace chipweave::agent

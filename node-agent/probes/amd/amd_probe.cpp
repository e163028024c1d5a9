#include "node-agent/probes/amd/amd_probe.hpp"

#include <algorithm>
#include <utility>

#include "node-agent/probes/amd/amd_signals.hpp"
#include "node-agent/probes/amd/kfd_files.hpp"
#include "node-agent/probes/amd/metrics/amd_sampler.hpp"
#include "node-agent/probes/sysfs/sysfs_value.hpp"

namespace chipweave::agent {
namespace {

// Without the function: the partitions of a package share the rest of its address.
std::string card_of(const std::string& pci) { return pci.substr(0, pci.rfind('.')); }

}  // namespace

AmdProbe::AmdProbe(AmdOptions options)
    : options_(std::move(options)), tree_(options_.root), host_(tree_) {}

Result<domain::Observation> AmdProbe::discover() {
  generation_seen_ = generation();
  const HostView host = host_.look();
  Result<AmdMachine> now = read_amd_machine(tree_, host);
  if (now) {
    remember(std::move(now).value());
  } else if (now.error().code == Errc::not_found && machine_) {
    gone_.clear();
    for (int slot = 0; slot < machine_->topology.chip_count(); ++slot) gone_.push_back(slot);
  } else {
    return std::move(now).error();
  }
  find_gone(host);
  health_seen_ = health();
  return observe(host);
}

bool AmdProbe::changes() {
  if (generation() != generation_seen_ || host_.changed()) return true;
  if (++calls_ % std::max(1, options_.health_every) != 0) return false;
  return health() != health_seen_;
}

std::vector<domain::ChipMetrics> AmdProbe::sample() {
  std::vector<domain::ChipMetrics> out;
  std::set<std::string> measured;
  for (std::size_t i = 0; machine_ && i < machine_->chips.size(); ++i) {
    const int slot = static_cast<int>(i);
    const std::string& pci = machine_->chips[i].pci;
    if (is_gone(slot) || pci.empty() || !measured.insert(pci).second) continue;
    auto chip = measure_amd(tree_, pci, machine_->topology.chip(slot).index);
    if (chip) out.push_back(*std::move(chip));
  }
  return out;
}

// Keeps the machine with all chips that it had, and updates those that are present.
void AmdProbe::remember(AmdMachine now) {
  const auto lost = machine_ ? lost_chips(*machine_, now) : std::nullopt;
  if (!lost || lost->empty()) {
    if (!lost) on_bus_.clear();
    machine_ = std::move(now);
    gone_.clear();
    return;
  }
  gone_ = *lost;
  machine_->warnings = std::move(now.warnings);
  for (AmdChip& chip : machine_->chips) {
    const auto same = std::find_if(now.chips.begin(), now.chips.end(),
                                   [&chip](const AmdChip& c) { return c.key == chip.key; });
    if (same != now.chips.end()) chip = *same;
  }
}

bool AmdProbe::is_gone(int slot) const {
  return std::find(gone_.begin(), gone_.end(), slot) != gone_.end();
}

// KFD lists a chip that was removed from the bus a little longer.
void AmdProbe::find_gone(const HostView& host) {
  for (std::size_t i = 0; i < machine_->chips.size(); ++i) {
    const int slot = static_cast<int>(i);
    if (is_gone(slot)) continue;
    const std::string& listed = machine_->topology.chip(slot).pci;
    if (host.find(listed) != nullptr) {
      on_bus_.insert(card_of(listed));
    } else if (on_bus_.count(card_of(listed)) > 0) {
      gone_.push_back(slot);
    }
  }
}

std::map<std::string, AmdDevice> AmdProbe::read_devices() const {
  std::map<std::string, AmdDevice> out;
  for (std::size_t i = 0; i < machine_->chips.size(); ++i) {
    const AmdChip& chip = machine_->chips[i];
    if (is_gone(static_cast<int>(i)) || chip.pci.empty() || out.count(chip.pci) > 0) continue;
    AmdDevice device = read_amd_device(tree_, chip.pci);
    device.xgmi_errors = read_xgmi_errors(tree_, chip.pci);
    out.emplace(chip.pci, std::move(device));
  }
  return out;
}

// Slots of chips whose counters can be read again after they were refused.
std::vector<int> AmdProbe::come_through_reset(const std::map<std::string, AmdDevice>& devices) {
  std::vector<int> out;
  for (std::size_t i = 0; i < machine_->chips.size(); ++i) {
    const auto device = devices.find(machine_->chips[i].pci);
    if (device == devices.end() || device->second.resetting || device->second.ras.empty()) continue;
    if (resetting_.count(device->first) > 0) out.push_back(static_cast<int>(i));
  }
  for (const auto& [pci, device] : devices) {
    if (device.resetting) resetting_.insert(pci);
    if (!device.resetting && !device.ras.empty()) resetting_.erase(pci);
  }
  return out;
}

Result<domain::Observation> AmdProbe::observe(const HostView& host) {
  const domain::NodeTopology& known = machine_->topology;
  std::string name = known.model().empty() ? "amd machine" : known.model();
  domain::Observation out{std::move(name), known, machine_->warnings};
  const auto devices = read_devices();
  add_host(host, out);
  add_amd_signals(*machine_, devices, gone_, come_through_reset(devices), out);
  add_xgmi_ports(*machine_, devices, out);
  add_amd_facts(*machine_, devices, out);
  add_neighbours(tree_, host, options_.lldp, out);
  // Of AMD's own driver; the one in the kernel tree has no version.
  if (const auto version = tree_.text("/sys/module/amdgpu/version")) {
    out.facts["driver"] = plain(*version);
  }
  return out;
}

std::string AmdProbe::generation() const {
  return tree_.text(std::string(kKfdTopology) + "/generation_id").value_or("");
}

std::string AmdProbe::health() const {
  std::string out;
  std::set<std::string> asked;
  for (const AmdChip& chip : machine_ ? machine_->chips : std::vector<AmdChip>{}) {
    if (chip.pci.empty() || !asked.insert(chip.pci).second) continue;
    out += health_state(tree_, chip.pci);
  }
  return out;
}

}  // namespace chipweave::agent

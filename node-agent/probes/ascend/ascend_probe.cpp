#include "node-agent/probes/ascend/ascend_probe.hpp"

#include <algorithm>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/text/warnings.hpp"
#include "common/domain/ascend_family.hpp"
#include "common/domain/topology_builder.hpp"
#include "node-agent/probes/ascend/ascend_numa.hpp"
#include "node-agent/probes/ascend/ascend_signals.hpp"
#include "node-agent/probes/ascend/ascend_topology.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_reader.hpp"
#include "node-agent/probes/ascend/dcmi/dcmi_sampler.hpp"
#include "node-agent/probes/ascend/hccn/hccn_findings.hpp"
#include "node-agent/probes/host/pci/pci_bus.hpp"
#include "node-agent/probes/host/pci/pci_models.hpp"
#include "node-agent/probes/unknown_identity.hpp"

namespace chipweave::agent {
namespace {

using domain::Observation;

void put(std::map<std::string, std::string>& facts, const char* name, std::string_view value) {
  if (!value.empty()) facts[name] = value;
}

// For facts that all devices share: from the first device that has it.
std::map<std::string, std::string> facts_of(const DcmiSnapshot& snapshot,
                                            AscendGeneration generation) {
  std::map<std::string, std::string> out;
  put(out, "driver", snapshot.driver);
  put(out, "generation", to_string(generation));
  put(out, "card-type", card_type(generation));
  put(out, "server-type", server_type(generation));
  for (const DcmiDevice& device : snapshot.devices) {
    if (!device.chip_name.empty()) out.try_emplace("chip-name", device.chip_name);
    if (device.ai_cores) out.try_emplace("aicore", std::to_string(*device.ai_cores));
    if (!device.super_pod) continue;
    out.try_emplace("super-pod-id", std::to_string(device.super_pod->id));
    out.try_emplace("server-index", std::to_string(device.super_pod->server_index));
  }
  return out;
}

void warn_of_notes(const DcmiSnapshot& snapshot, const std::vector<int>& chips,
                   std::vector<std::string>& warnings) {
  codec::Warnings notes;
  for (const std::string& note : snapshot.notes) notes.add(note);
  for (std::size_t i = 0; i < chips.size(); ++i) {
    for (const std::string& note : snapshot.devices[i].notes) {
      notes.add("NPU " + std::to_string(chips[i]) + ": " + note);
    }
  }
  for (std::string& text : std::move(notes).list()) warnings.push_back(std::move(text));
}

// Of the machine if no chip has a physical id, else of those that have none.
void add_unknown_identities(const DcmiSnapshot& snapshot, const std::vector<int>& chips,
                            Observation& out) {
  const auto known = [](const DcmiDevice& device) { return device.physical_id.has_value(); };
  if (std::none_of(snapshot.devices.begin(), snapshot.devices.end(), known)) {
    add_unknown_identity(
        out, std::nullopt,
        "the driver reports no physical id of any NPU: set --probe profile:NAME or "
        "file:PATH if they are known");
    return;
  }
  for (std::size_t i = 0; i < chips.size(); ++i) {
    if (known(snapshot.devices[i])) continue;
    add_unknown_identity(
        out, domain::ChipIndex{chips[i]},
        "the driver does not report the physical id of this NPU, so its number here "
        "is arbitrary");
  }
}

}  // namespace

AscendProbe::AscendProbe(AscendOptions options)
    : options_(std::move(options)), tree_(options_.sysfs_root) {
  if (!options_.hccn_tool.empty()) watch_ = std::make_unique<HccnWatch>(options_.hccn_tool);
}

AscendProbe::AscendProbe(AscendOptions options, HccnWatch::RunTool run_tool)
    : options_(std::move(options)),
      tree_(options_.sysfs_root),
      watch_(std::make_unique<HccnWatch>(std::move(run_tool))) {}

// A driver that does not start now may start later.
void AscendProbe::open_library() {
  if (library_) return;
  library_problem_.reset();
  auto opened = DcmiLibrary::open(DcmiLibrary::places(options_.dcmi, options_.driver_root));
  if (opened) {
    library_.emplace(std::move(opened).value());
  } else {
    library_problem_ = std::move(opened).error();
  }
}

std::vector<int> AscendProbe::davinci_devices() const {
  constexpr std::string_view kPrefix = "davinci";
  std::vector<int> out;
  for (const std::string& name : tree_.names("/dev")) {
    if (!name.starts_with(kPrefix)) continue;
    const auto number = codec::parse_unsigned(std::string_view(name).substr(kPrefix.size()));
    if (number && *number <= static_cast<std::uint64_t>(codec::ascend::kMaxHccnDevice)) {
      out.push_back(static_cast<int>(*number));
    }
  }
  std::sort(out.begin(), out.end());
  if (out.size() > static_cast<std::size_t>(limits::kMaxChips)) out.resize(limits::kMaxChips);
  return out;
}

// The driver names /dev/davinci<N> by the physical id up to A3 and by the logic id on A5. A5 is not
// among the models of the bus, and may not be on the bus at all.
bool AscendProbe::davinci_numbers_are_physical() const {
  bool any = false;
  for (const PciDevice& device : list_pci(tree_)) {
    if (accelerator_vendor(device) != domain::VendorId::ascend) continue;
    if (pci_model(device.vendor, device.device).empty()) return false;
    any = true;
  }
  return any;
}

void AscendProbe::remember(const DcmiSnapshot& snapshot, const std::vector<int>& chips) {
  chip_of_logic_id_.clear();
  targets_.clear();
  bool all_respond = snapshot.unlisted.empty();
  bool facts = false;
  polls_ = 0;
  for (std::size_t i = 0; i < chips.size(); ++i) {
    const DcmiDevice& device = snapshot.devices[i];
    if (device.logic_id) chip_of_logic_id_.emplace(*device.logic_id, chips[i]);
    const bool responds = !device.sample.not_responding();
    if (responds && !device.sample.gone) {
      Target target{device.sample.place, domain::ChipIndex{chips[i]}, {}};
      for (const DcmiPcsCounters& pcs : device.counters) target.pcs.push_back(pcs.pcs);
      targets_.push_back(std::move(target));
    }
    all_respond = all_respond && responds;
    facts = facts || (responds && !device.unanswered.empty());
  }
  // That a device responds again is a change that is seen anyway.
  unanswered_ = facts || (all_respond && snapshot.pairs_unanswered);
}

AscendProbe::Seen AscendProbe::look() const {
  Seen out;
  if (library_) {
    auto samples = read_dcmi_samples(*library_);
    out.failed = !samples.ok();
    if (samples) out.samples = std::move(samples).value();
  } else {
    out.devices = davinci_devices();
    for (const std::string& path : DcmiLibrary::places(options_.dcmi, options_.driver_root)) {
      if (path.find('/') != std::string::npos) out.libraries.push_back(io::FileStamp::of(path));
    }
  }
  if (!options_.hccn_conf.empty()) out.conf = io::FileStamp::of(options_.hccn_conf);
  if (watch_) out.answers = watch_->version();
  return out;
}

bool AscendProbe::changes() {
  if (events_.take_change() || !seen_) return true;
  // Asks again for facts that the driver did not report in time.
  constexpr int kAskAgainEvery = 4;
  if (unanswered_ && ++polls_ % kAskAgainEvery == 0) return true;
  return !(look() == *seen_);
}

void AscendProbe::wait(std::chrono::milliseconds longest) { events_.wait(longest); }

std::vector<domain::Signal> AscendProbe::take_events() {
  return signals_of(events_.take(), chip_of_logic_id_);
}

std::vector<domain::ChipMetrics> AscendProbe::sample() {
  std::vector<domain::ChipMetrics> out;
  for (const auto& [place, chip, pcs] : targets_) {
    auto measured = measure_dcmi(*library_, place, chip, pcs);
    if (measured) out.push_back(*std::move(measured));
  }
  return out;
}

// The sample is taken before everything is read, so that a change in between counts as new.
Result<Observation> AscendProbe::discover() {
  open_library();
  if (library_) events_.subscribe(*library_);
  seen_ = look();
  return library_ ? with_library() : without_library();
}

std::map<int, HccnAnswers> AscendProbe::tool_answers() const {
  return watch_ ? watch_->answers() : std::map<int, HccnAnswers>();
}

void AscendProbe::watch(const DcmiSnapshot& snapshot, const std::vector<int>& chips,
                        AscendGeneration generation) {
  if (!watch_) return;
  const bool roce = has_roce(generation);
  const bool flat = generation == AscendGeneration::a5;
  std::vector<HccnTarget> targets;
  for (std::size_t i = 0; i < chips.size() && (roce || flat); ++i) {
    const DcmiDevice& device = snapshot.devices[i];
    // The tool takes the physical id up to A3, and answers are filed by it.
    if (device.sample.gone || !device.physical_id) continue;
    HccnTarget target;
    target.chip = chips[i];
    target.number = flat ? device.logic_id.value_or(chips[i]) : chips[i];
    target.flat = flat;
    target.link = !device.sample.network;
    target.address = device.addresses.empty();
    target.neighbour = true;
    targets.push_back(target);
  }
  watch_->set_targets(targets);
}

Result<Observation> AscendProbe::with_library() {
  Result<DcmiSnapshot> snapshot = read_dcmi(*library_);
  if (!snapshot) return std::move(snapshot).error();
  memory_.complete(*snapshot);
  if (snapshot->devices.empty()) {
    return make_error(Errc::not_found, "the Ascend driver lists no NPU");
  }
  const AscendGeneration generation = generation_of(*snapshot);
  const std::vector<int> chips = chip_indices(*snapshot);
  remember(*snapshot, chips);
  watch(*snapshot, chips, generation);
  const auto answers = tool_answers();
  std::vector<std::string> warnings;
  if (!events_.problem().empty()) warnings.push_back(events_.problem());
  const auto conf = has_roce(generation) ? read_hccn_conf(options_.hccn_conf, warnings)
                                         : std::optional<codec::ascend::HccnConf>();
  const NumaNodes nodes(tree_);
  AscendPlaces places;
  for (std::size_t i = 0; i < chips.size(); ++i) {
    const DcmiDevice& device = snapshot->devices[i];
    places.numa.push_back(nodes.of(device.cpus));
    places.addresses.push_back(device.addresses.empty() && device.physical_id
                                   ? port_addresses(answers, conf, chips[i])
                                   : device.addresses);
  }
  auto topology = topology_of(*snapshot, generation, places, warnings);
  if (!topology) return std::move(topology).error();
  warn_of_notes(*snapshot, chips, warnings);
  std::string machine = topology->model().empty() ? "ascend machine" : topology->model();
  Observation out{std::move(machine), std::move(topology).value(), std::move(warnings)};
  out.signals = signals_of(*snapshot, generation);
  out.facts = facts_of(*snapshot, generation);
  add_unknown_identities(*snapshot, chips, out);
  add_hccn_findings(answers, out);
  return out;
}

Result<Observation> AscendProbe::without_library() {
  const std::vector<int> devices = davinci_devices();
  if (devices.empty()) return *library_problem_;
  std::vector<HccnTarget> targets;
  targets.reserve(devices.size());
  for (const int device : devices) targets.push_back({device, device, false, true, true, true});
  if (watch_) watch_->set_targets(targets);
  const auto answers = tool_answers();
  std::vector<std::string> warnings = {
      library_problem_->text(),
      "without the driver's library, the model, links and health of "
      "these NPUs are unknown: set --probe profile:NAME or "
      "file:PATH"};
  const auto conf = read_hccn_conf(options_.hccn_conf, warnings);
  const bool physical = davinci_numbers_are_physical();
  domain::TopologyBuilder builder;
  builder.vendor = "ascend";
  for (const int device : devices) {
    domain::Chip chip;
    chip.index = domain::ChipIndex{device};
    if (physical) {
      chip.physical_id = device;
    } else {
      chip.id = domain::chip_id_by_place("davinci" + std::to_string(device));
    }
    chip.device_ips = port_addresses(answers, conf, device);
    builder.add_chip(std::move(chip));
  }
  auto topology = std::move(builder).build();
  if (!topology) return std::move(topology).error();
  Observation out{"ascend machine", std::move(topology).value(), std::move(warnings)};
  if (!physical) add_unknown_identity(out, std::nullopt, kNoDriverIdentity);
  add_hccn_findings(answers, out);
  return out;
}

}  // namespace chipweave::agent

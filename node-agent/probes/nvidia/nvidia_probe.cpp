#include "node-agent/probes/nvidia/nvidia_probe.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <thread>
#include <utility>

#include "common/codec/text/warnings.hpp"
#include "node-agent/probes/nvidia/nvml/nvml_events.hpp"
#include "node-agent/probes/nvidia/nvml/nvml_poller.hpp"
#include "node-agent/probes/nvidia/nvml/nvml_sampler.hpp"
#include "node-agent/probes/nvidia/nvml_facts.hpp"
#include "node-agent/probes/nvidia/nvml_signals.hpp"
#include "node-agent/probes/nvidia/nvml_topology.hpp"
#include "node-agent/probes/nvidia/snapshot/nvml_reader.hpp"

namespace chipweave::agent {
namespace {

constexpr int kIdleCalls = 10;
constexpr std::array kFolders = {"", "/usr/lib64", "/usr/lib/x86_64-linux-gnu",
                                 "/usr/lib/aarch64-linux-gnu"};

std::vector<std::string> candidates(const NvidiaProbeOptions& options) {
  std::vector<std::string> out = {options.library};
  const bool is_path = options.library.find('/') != std::string::npos;
  if (is_path || options.driver_root.empty()) return out;
  for (const std::string folder : kFolders) {
    out.push_back(options.driver_root + folder + "/" + options.library);
  }
  return out;
}

Error no_driver(const std::vector<std::string>& tried) {
  std::string paths;
  for (const std::string& path : tried) paths += (paths.empty() ? "" : ", ") + path;
  return make_error(Errc::not_found, "no NVIDIA driver here: there is no " + paths);
}

// False if the library failed as a whole: it cannot count devices, or none of them responds.
bool works(const Result<NvmlSnapshot>& snapshot) {
  if (!snapshot) return false;
  const auto& devices = snapshot->devices;
  return devices.empty() || std::any_of(devices.begin(), devices.end(), [](const NvmlDevice& d) {
           return !d.lost && d.failure.empty();
         });
}

domain::Signal reset_event(std::optional<domain::ChipIndex> chip, std::string text) {
  domain::Signal out;
  out.kind = domain::SignalKind::event;
  out.code = "nvml.reset";
  out.chip = chip;
  out.text = std::move(text);
  return out;
}

}  // namespace

struct NvidiaProbe::Session {
  explicit Session(NvmlLibrary opened) : library(std::move(opened)) { events.emplace(library); }

  NvmlLibrary library;  // declared first: the others call it until they are destroyed
  std::optional<NvmlEvents> events;
  std::optional<NvmlPoller> poller;
  std::optional<NvmlSampler> sampler;
};

NvidiaProbe::NvidiaProbe(NvidiaProbeOptions options) : options_(std::move(options)) {}

NvidiaProbe::~NvidiaProbe() = default;

Result<void> NvidiaProbe::open() {
  const std::vector<std::string> paths = candidates(options_);
  for (const std::string& path : paths) {
    const io::FileStamp stamp = io::FileStamp::of(path);
    auto library = NvmlLibrary::open(path);
    if (!library && library.error().code == Errc::not_found) continue;
    const bool mounted =
        !options_.driver_root.empty() && path.starts_with(options_.driver_root + "/");
    if (mounted && !loaded_) loaded_ = LoadedFile{path, stamp};
    if (!library) return std::move(library).error();
    session_ = std::make_unique<Session>(std::move(library).value());
    return {};
  }
  return no_driver(paths);
}

bool NvidiaProbe::outdated() const {
  return loaded_ && io::FileStamp::of(loaded_->path) != loaded_->stamp;
}

void NvidiaProbe::close() {
  keep_events();
  session_.reset();
}

// The poller takes its baseline first: a change while the rest is read shows at the next poll.
Result<NvmlSnapshot> NvidiaProbe::read() {
  session_->poller.emplace(session_->library);
  session_->sampler.emplace(session_->library);
  return read_nvml(session_->library);
}

Result<NvmlSnapshot> NvidiaProbe::read_or_reopen() {
  const bool was_open = session_ != nullptr;
  if (!was_open) {
    if (Result<void> opened = open(); !opened) return opened.error();
  }
  Result<NvmlSnapshot> snapshot = read();
  if (was_open && !works(snapshot)) {
    failed_ = failed_ || !snapshot;
    close();
    if (Result<void> opened = open(); !opened) {
      failed_ = true;
      return opened.error();
    }
    snapshot = read();
    failed_ = failed_ || works(snapshot);  // reopening helped
  }
  if (!snapshot) {
    close();
  } else if (failed_ && works(snapshot)) {
    failed_ = false;
    events_.push_back(
        reset_event(std::nullopt, "the driver responds again after its library was reopened"));
  }
  return snapshot;
}

Result<domain::Observation> NvidiaProbe::discover() {
  reread_ = false;
  Result<NvmlSnapshot> snapshot = read_or_reopen();
  if (!snapshot) return std::move(snapshot).error();
  note_resets(*snapshot, memory_.complete(*snapshot));
  Result<NvmlTopology> made = topology_of(*snapshot, options_.partitions);
  if (!made) return std::move(made).error();
  return observe(*snapshot, std::move(made).value());
}

// A reset device has lost its event registrations.
void NvidiaProbe::note_resets(const NvmlSnapshot& snapshot, const std::vector<int>& back) {
  for (const int index : back) {
    domain::Signal event = reset_event(domain::ChipIndex{index}, "responds again");
    for (const NvmlDevice& device : snapshot.devices) {
      if (device.index == index) event.pci = device.pci;
    }
    events_.push_back(std::move(event));
  }
  // An event set whose wait failed is recreated at each discover().
  if (back.empty() && !session_->events->failed()) return;
  keep_events();
  session_->events.emplace(session_->library);
}

void NvidiaProbe::keep_events() {
  for (domain::Signal& event : session_->events->take()) events_.push_back(std::move(event));
}

std::vector<domain::Signal> NvidiaProbe::take_events() {
  if (session_ != nullptr) {
    const std::size_t noticed_by_reading = events_.size();
    keep_events();
    reread_ = reread_ || events_.size() > noticed_by_reading;
  }
  return std::exchange(events_, {});
}

domain::Observation NvidiaProbe::observe(const NvmlSnapshot& snapshot, NvmlTopology made) {
  codec::Warnings warnings;
  for (std::string& text : made.warnings) warnings.add(std::move(text));
  for (std::string& text : session_->events->take_warnings()) warnings.add(std::move(text));
  for (const NvmlDevice& device : snapshot.devices) {
    if (device.lost) continue;  // there is a signal for it
    for (const std::string& note : device.notes) {
      warnings.add("GPU " + std::to_string(device.index) + ": " + note);
    }
  }
  for (const std::string& note : snapshot.notes) warnings.add(note);

  std::string machine = made.topology.model();
  if (machine.empty()) machine = "nvidia machine";
  domain::Observation out{std::move(machine), std::move(made.topology), std::move(warnings).list()};
  out.ports = std::move(made.ports);
  out.signals = signals_of(snapshot);
  out.facts = facts_of(snapshot);
  return out;
}

std::vector<domain::ChipMetrics> NvidiaProbe::sample() {
  if (session_ == nullptr || !session_->sampler) return {};
  return session_->sampler->sample();
}

bool NvidiaProbe::changes() {
  if (session_ == nullptr) {
    idle_ = (idle_ + 1) % kIdleCalls;
    return idle_ == 0;
  }
  return reread_ || session_->events->pending() || session_->poller->changed();
}

void NvidiaProbe::wait(std::chrono::milliseconds longest) {
  if (session_ == nullptr) {
    VendorProbe::wait(longest);
  } else {
    session_->events->wait(longest);
  }
}

}  // namespace chipweave::agent

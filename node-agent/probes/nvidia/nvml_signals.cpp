#include "node-agent/probes/nvidia/nvml_signals.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "common/base/text.hpp"
#include "node-agent/probes/nvidia/nvml/nvml_abi.hpp"

namespace chipweave::agent {
namespace {

using domain::SignalKind;

constexpr unsigned kFabricUnhealthy = 2;
constexpr unsigned kFabricLimited = 3;
constexpr std::size_t kMaxListedInstances = 8;  // a GPU has at most seven

std::string action_text(unsigned action) {
  constexpr std::array<std::string_view, 6> kNames = {
      "none", "reset", "reboot", "drain P2P", "drain and reset", "recover IMEX"};
  if (action < kNames.size()) return std::string(kNames[action]);
  return "action " + std::to_string(action);
}

// Problems in a fabric's health mask. "No partition assigned" is left out: a fabric that is not
// shared assigns none.
std::vector<std::string> degradations(std::uint32_t mask) {
  struct Part {
    unsigned shift;
    std::string_view name;
  };
  constexpr std::array<Part, 4> kParts = {{{0, "degraded bandwidth"},
                                           {2, "route recovery"},
                                           {4, "route unhealthy"},
                                           {6, "access timeout recovery"}}};
  constexpr std::uint32_t kTrue = 1;
  std::vector<std::string> out;
  for (const Part& part : kParts) {
    if (((mask >> part.shift) & 3U) == kTrue) out.emplace_back(part.name);
  }
  constexpr std::array<std::string_view, 9> kConfigurations = {"",
                                                               "",
                                                               "system GUID",
                                                               "chassis serial",
                                                               "no partition",
                                                               "insufficient NVLinks",
                                                               "firmware",
                                                               "location",
                                                               "GPU state"};
  const std::uint32_t configuration = (mask >> 8U) & 0xfU;
  if (configuration < 2) return out;  // not supported, none
  out.push_back("incorrect configuration: " + (configuration < kConfigurations.size()
                                                   ? std::string(kConfigurations.at(configuration))
                                                   : "number " + std::to_string(configuration)));
  return out;
}

std::string fabric_state_text(const NvmlFabric& fabric) {
  constexpr std::array<std::string_view, 4> kNames = {"not supported", "not started", "in progress",
                                                      "completed"};
  return "registration " +
         (fabric.state < kNames.size() ? std::string(kNames[fabric.state])
                                       : "state " + std::to_string(fabric.state)) +
         ", status " + std::to_string(fabric.status);
}

// The instances in a few words; all of them are facts (nvml_facts.hpp).
std::string mig_text(const NvmlMig& mig) {
  const std::size_t count = mig.instances.size();
  std::string text = "is in MIG mode: ";
  if (count != 0) {
    text += std::to_string(count) + (count == 1 ? " instance, " : " instances, ") +
            listed_instances(mig, profile_text);
  }
  if (!mig.all_read) {
    text += count == 0 ? "its instances cannot be read" : ", and others that cannot be read";
  } else if (count == 0) {
    text += "no instances";
  }
  return text + "; whole-GPU pods are not placed on it";
}

class DeviceSignals {
 public:
  DeviceSignals(const NvmlDevice& device, std::vector<domain::Signal>& out)
      : device_(device), out_(out) {}

  void run() {
    if (device_.lost) {
      state("nvml.lost", "has fallen off the bus");
    } else if (!device_.failure.empty()) {
      state("nvml.failed", device_.failure);
    }
    add_memory();
    if (const unsigned action = device_.recovery_action.value_or(0); action != 0) {
      state("nvml.recovery-action", action_text(action));
    }
    if (device_.fabric && device_.fabric->state != 0) add_fabric(*device_.fabric);
    if (device_.mig) add_mig(*device_.mig);
    if ((device_.clock_reasons.value_or(0) & nvml::kClocksHwThermalSlowdown) != 0) {
      state("nvml.thermal", "the hardware slows its clocks because of heat");
    }
    for (const NvmlLink& link : device_.links) {
      counter("nvlink.replay", link.replays, link.number);
      counter("nvlink.recovery", link.recoveries, link.number);
      counter("nvlink.crc", link.crc_errors, link.number);
    }
  }

 private:
  void state(const char* code, std::string text) {
    domain::Signal signal;
    signal.code = code;
    signal.chip = domain::ChipIndex{device_.index};
    signal.text = std::move(text);
    out_.push_back(std::move(signal));
  }

  void counter(const char* code, std::optional<std::uint64_t> value,
               std::optional<unsigned> link = std::nullopt) {
    if (!value) return;
    domain::Signal signal;
    signal.kind = SignalKind::counter;
    signal.code = code;
    signal.chip = domain::ChipIndex{device_.index};
    if (link) signal.port = static_cast<int>(*link);
    signal.value = static_cast<double>(*value);
    out_.push_back(std::move(signal));
  }

  void add_memory() {
    if (device_.remapped_rows && device_.remapped_rows->failure) {
      state("nvml.row-remap-failed", "could not remap a memory row");
    }
    if (device_.remapped_rows && device_.remapped_rows->pending) {
      state("nvml.row-remap-pending", "has memory rows to remap and should be reset");
    }
    if (device_.retired_pages_pending.value_or(false)) {
      state("nvml.pages-pending", "has memory pages to retire and should be reset");
    }
    counter("nvml.ecc-uncorrected", device_.uncorrected_errors);
    counter("nvml.ecc-corrected", device_.corrected_errors);
  }

  void add_mig(const NvmlMig& mig) {
    if (mig.current) state("nvml.mig", mig_text(mig));
    if (mig.current != mig.pending) {
      state("nvml.mig-pending", std::string("MIG mode is switched ") +
                                    (mig.pending ? "on" : "off") + " by its next reset");
    }
  }

  void add_fabric(const NvmlFabric& fabric) {
    if (fabric.state != kNvmlFabricCompleted || fabric.status != nvml::kSuccess) {
      state("nvml.fabric-incomplete", fabric_state_text(fabric));
    }
    const std::vector<std::string> parts = degradations(fabric.health_mask.value_or(0));
    if (fabric.health_summary == kFabricUnhealthy) {
      state("nvml.fabric-unhealthy",
            parts.empty() ? "reports that it is unhealthy" : joined(parts, ", "));
    } else if (fabric.health_summary == kFabricLimited) {
      state("nvml.fabric-limited", parts.empty() ? "has limited capacity" : joined(parts, ", "));
    }
    if (!parts.empty()) state("nvml.fabric-degraded", joined(parts, ", "));
  }

  const NvmlDevice& device_;
  std::vector<domain::Signal>& out_;
};

}  // namespace

std::vector<domain::Signal> signals_of(const NvmlSnapshot& snapshot) {
  std::vector<domain::Signal> out;
  for (const NvmlDevice& device : snapshot.devices) DeviceSignals(device, out).run();
  return out;
}

std::string profile_text(const NvmlMigInstance& instance) {
  return instance.profile.empty() ? "unknown profile" : instance.profile;
}

std::string listed_instances(const NvmlMig& mig,
                             const std::function<std::string(const NvmlMigInstance&)>& text) {
  std::vector<std::string> out;
  for (const NvmlMigInstance& instance : mig.instances) {
    if (out.size() == kMaxListedInstances) break;
    out.push_back(text(instance));
  }
  const std::size_t left = mig.instances.size() - out.size();
  if (left != 0) out.push_back("and " + std::to_string(left) + " more");
  return joined(out, ", ");
}

}  // namespace chipweave::agent

#include "node-agent/probe_process/hardware_probe.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/domain/vendor.hpp"
#include "common/io/hccn_program.hpp"
#include "node-agent/probe_process/probe_with_host.hpp"
#include "node-agent/probes/amd/amd_probe.hpp"
#include "node-agent/probes/ascend/ascend_probe.hpp"
#include "node-agent/probes/host/pci/pci_scan.hpp"
#include "node-agent/probes/metax/metax_probe.hpp"
#include "node-agent/probes/nvidia/nvidia_probe.hpp"

namespace chipweave::agent {
namespace {

using codec::HardwareOptions;
using domain::Basis;
using domain::Observation;
using domain::VendorId;

std::unique_ptr<VendorProbe> nvidia_probe(const HardwareOptions& options) {
  NvidiaProbeOptions nvidia;
  if (!options.nvml_library.empty()) nvidia.library = options.nvml_library;
  nvidia.driver_root = options.driver_root;
  if (options.fabric_partitions == "hgx-8") nvidia.partitions = FabricPartitions::hgx8;
  return std::make_unique<ProbeWithHost>(std::make_unique<NvidiaProbe>(std::move(nvidia)), options);
}

std::unique_ptr<VendorProbe> ascend_probe(const HardwareOptions& options) {
  AscendOptions ascend;
  ascend.dcmi = options.dcmi_library;
  ascend.driver_root = options.driver_root;
  ascend.hccn_conf = options.sysfs_root + "/etc/hccn.conf";
  // The chips of a recorded tree are not those that this machine's tool would report.
  if (options.sysfs_root.empty()) ascend.hccn_tool = io::installed_hccn_tool();
  ascend.sysfs_root = options.sysfs_root;
  return std::make_unique<ProbeWithHost>(std::make_unique<AscendProbe>(std::move(ascend)), options);
}

std::unique_ptr<VendorProbe> amd_probe(const HardwareOptions& options) {
  AmdOptions amd;
  amd.root = options.sysfs_root;
  amd.lldp.lldpctl = options.lldpctl;
  return std::make_unique<AmdProbe>(std::move(amd));
}

std::unique_ptr<VendorProbe> metax_probe(const HardwareOptions& options) {
  MetaxOptions metax;
  metax.root = options.sysfs_root;
  metax.lldp.lldpctl = options.lldpctl;
  return std::make_unique<MetaxProbe>(std::move(metax));
}

// The bus alone: chips and host paths, without a driver.
class BusProbe final : public VendorProbe {
 public:
  // unknown: the vendor with most chips.
  explicit BusProbe(const HardwareOptions& options, VendorId vendor = VendorId::unknown)
      : tree_(options.sysfs_root), host_(tree_), vendor_(vendor) {}
  Result<Observation> discover() override {
    return pci_observation(host_.look(), vendor_, tree_.path(kPciDevices));
  }
  bool changes() override { return host_.changed(); }

 private:
  const SysfsTree tree_;
  HostWatch host_;
  const VendorId vendor_;
};

struct VendorEntry {
  const char* name;  // as --vendor has it
  std::unique_ptr<VendorProbe> (*make)(const HardwareOptions& options);
};
// In the order in which `auto` tries them: first those with a library of their own; MetaX chips
// are read from the bus anyway.
constexpr std::array<VendorEntry, 4> kVendorProbes = {{
    {"nvidia", nvidia_probe},
    {"ascend", ascend_probe},
    {"amd", amd_probe},
    {"metax", metax_probe},
}};

// Tries vendors in turn until one has chips here, then stays with it. Until then, as where no
// driver is mounted or it does not work, reports what the PCI bus shows of them, with a signal that
// their driver is absent or fails.
class FirstDriver final : public VendorProbe {
 public:
  FirstDriver(HardwareOptions options, std::span<const VendorEntry> vendors)
      : options_(std::move(options)), vendors_(vendors), candidates_(vendors.size()) {}

  std::optional<Observation> before_driver() override {
    return on_bus(sole_vendor(), Basis::starting, "driver.starting",
                  "the driver has not responded yet");
  }

  Result<Observation> discover() override {
    if (chosen_ != nullptr) return chosen_->discover();
    std::string problems;
    std::optional<Error> absent;
    std::optional<Error> broken;
    VendorId of_broken = VendorId::unknown;
    for (std::size_t i = 0; i < vendors_.size(); ++i) {
      if (candidates_[i] == nullptr) candidates_[i] = vendors_[i].make(options_);
      auto seen = candidates_[i]->discover();
      if (seen) {
        chosen_ = std::move(candidates_[i]);
        candidates_.clear();
        return seen;
      }
      problems +=
          std::string(problems.empty() ? "" : "; ") + vendors_[i].name + ": " + seen.error().text();
      if (seen.error().code == Errc::not_found) {
        absent = seen.error();
      } else if (!broken) {
        broken = seen.error();
        of_broken = domain::vendor_of(vendors_[i].name).id;
      }
    }
    if (broken) {
      auto seen = on_bus(of_broken, Basis::bus, "driver.failing", broken->text());
      return seen ? Result<Observation>(*std::move(seen)) : *broken;
    }
    auto seen = on_bus(sole_vendor(), Basis::bus, "driver.absent",
                       "no driver found: only the PCI bus can be read");
    if (!seen && vendors_.size() == 1) return *absent;
    if (!seen) return make_error(Errc::not_found, "no accelerators here (" + problems + ")");
    seen->warnings.push_back("no driver found: " + problems);
    return *std::move(seen);
  }

  bool changes() override {
    if (chosen_ != nullptr) return chosen_->changes();
    // Nothing announces a driver that is installed later.
    return (bus_ != nullptr && bus_->changes()) || ++calls_ % kLookForDriverEvery == 0;
  }

  void wait(std::chrono::milliseconds longest) override {
    chosen_ != nullptr ? chosen_->wait(longest) : VendorProbe::wait(longest);
  }

  std::vector<domain::ChipMetrics> sample() override {
    return chosen_ != nullptr ? chosen_->sample() : std::vector<domain::ChipMetrics>();
  }

  std::vector<domain::Signal> take_events() override {
    return chosen_ != nullptr ? chosen_->take_events() : std::vector<domain::Signal>();
  }

  bool outdated() const override {
    if (chosen_ != nullptr) return chosen_->outdated();
    return std::any_of(candidates_.begin(), candidates_.end(),
                       [](const auto& one) { return one != nullptr && one->outdated(); });
  }

 private:
  static constexpr int kLookForDriverEvery = 20;  // calls of changes()

  VendorId sole_vendor() const {
    return vendors_.size() == 1 ? domain::vendor_of(vendors_.front().name).id : VendorId::unknown;
  }

  // nullopt: the bus shows no chips of that vendor.
  std::optional<Observation> on_bus(VendorId vendor, Basis basis, const char* code,
                                    std::string text) {
    bus_ = std::make_unique<BusProbe>(options_, vendor);
    auto seen = bus_->discover();
    if (!seen) return std::nullopt;
    seen->basis = basis;
    domain::Signal why;
    why.code = code;
    why.text = std::move(text);
    seen->signals.push_back(std::move(why));
    return *std::move(seen);
  }

  const HardwareOptions options_;
  const std::span<const VendorEntry> vendors_;
  std::vector<std::unique_ptr<VendorProbe>> candidates_;
  std::unique_ptr<BusProbe> bus_;  // as read last
  int calls_ = 0;
  std::unique_ptr<VendorProbe> chosen_;
};

}  // namespace

std::unique_ptr<VendorProbe> make_hardware_probe(const HardwareOptions& options) {
  const std::span<const VendorEntry> all(kVendorProbes);
  if (options.vendor == "auto") return std::make_unique<FirstDriver>(options, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (options.vendor == all[i].name) {
      return std::make_unique<FirstDriver>(options, all.subspan(i, 1));
    }
  }
  return std::make_unique<BusProbe>(options);
}

}  // namespace chipweave::agent

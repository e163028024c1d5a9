#include "node-agent/probe_process/hardware_probe.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>

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
using domain::Observation;

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
  explicit BusProbe(const HardwareOptions& options) : tree_(options.sysfs_root), host_(tree_) {}
  Result<Observation> discover() override {
    return pci_observation(host_.look(), domain::VendorId::unknown, tree_.path(kPciDevices));
  }
  bool changes() override { return host_.changed(); }

 private:
  const SysfsTree tree_;
  HostWatch host_;
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

// `auto`: tries the vendors in turn until one has chips here, then stays with it. Until then, as
// where no driver is mounted, reports what the PCI bus shows.
class AnyProbe final : public VendorProbe {
 public:
  explicit AnyProbe(HardwareOptions options) : options_(std::move(options)), bus_(options_) {}

  Result<Observation> discover() override {
    if (chosen_ != nullptr) return chosen_->discover();
    std::string problems;
    std::optional<Error> broken;
    for (std::size_t i = 0; i < kVendorProbes.size(); ++i) {
      if (candidates_[i] == nullptr) candidates_[i] = kVendorProbes[i].make(options_);
      auto seen = candidates_[i]->discover();
      if (seen) {
        chosen_ = std::move(candidates_[i]);
        candidates_ = {};
        return seen;
      }
      problems += std::string(problems.empty() ? "" : "; ") + kVendorProbes[i].name + ": " +
                  seen.error().text();
      if (!broken && seen.error().code != Errc::not_found) broken = seen.error();
    }
    // A driver that fails is more informative than the bus.
    if (broken) return *broken;
    auto seen = bus_.discover();
    if (!seen) return make_error(Errc::not_found, "no accelerators here (" + problems + ")");
    seen->warnings.push_back("no driver found: " + problems);
    domain::Signal absent;
    absent.code = "driver.absent";
    absent.text = "no driver found: only the PCI bus can be read";
    seen->signals.push_back(std::move(absent));
    return seen;
  }

  bool changes() override {
    if (chosen_ != nullptr) return chosen_->changes();
    // Nothing announces a driver that is installed later.
    return bus_.changes() || ++calls_ % kLookForDriverEvery == 0;
  }

  void wait(std::chrono::milliseconds longest) override {
    chosen_ != nullptr ? chosen_->wait(longest) : VendorProbe::wait(longest);
  }

  std::vector<domain::Signal> take_events() override {
    return chosen_ != nullptr ? chosen_->take_events() : std::vector<domain::Signal>();
  }

 private:
  static constexpr int kLookForDriverEvery = 20;  // calls of changes()
  const HardwareOptions options_;
  BusProbe bus_;
  std::array<std::unique_ptr<VendorProbe>, kVendorProbes.size()> candidates_;
  int calls_ = 0;
  std::unique_ptr<VendorProbe> chosen_;
};

}  // namespace

std::unique_ptr<VendorProbe> make_hardware_probe(const HardwareOptions& options) {
  if (options.vendor == "auto") return std::make_unique<AnyProbe>(options);
  for (const VendorEntry& each : kVendorProbes) {
    if (options.vendor == each.name) return each.make(options);
  }
  return std::make_unique<BusProbe>(options);
}

}  // namespace chipweave::agent

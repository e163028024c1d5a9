#include "node-agent/probes/sysfs_probe.hpp"

#include <utility>

#include "common/codec/topology/import.hpp"
#include "common/io/files.hpp"
#include "node-agent/probes/host/pci_scan.hpp"

namespace chipweave::agent {
namespace {

const std::string kKfd = "/sys/class/kfd/kfd/topology";

}  // namespace

Result<domain::Observation> SysfsProbe::discover() {
  seen_ = fingerprint();
  std::string kfd_problem;
  if (tree_.exists(kKfd + "/nodes")) {
    Result<codec::FileTree> files = io::read_tree(tree_.path(kKfd));
    if (files) {
      auto imported = codec::import_kfd_tree(*files, {});
      if (imported) {
        std::string machine = imported->topology.model();
        if (machine.empty()) machine = "amd machine";
        return domain::Observation{std::move(machine), std::move(imported->topology),
                                   std::move(imported->warnings)};
      }
      kfd_problem = imported.error().text();
    } else {
      kfd_problem = files.error().text();
    }
  }
  auto scanned = scan_pci(tree_);
  if (scanned && !kfd_problem.empty()) {
    scanned->warnings.push_back("the KFD topology was not usable: " + kfd_problem);
  }
  return scanned;
}

// Device names come and go with the devices; KFD counts its changes itself.
std::string SysfsProbe::fingerprint() const {
  std::string out = tree_.text(kKfd + "/generation_id").value_or("");
  for (const std::string& name : tree_.names("/sys/bus/pci/devices")) out += "\n" + name;
  return out;
}

}  // namespace chipweave::agent

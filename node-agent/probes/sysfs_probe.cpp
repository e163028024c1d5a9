#include "node-agent/probes/sysfs_probe.hpp"

#include <utility>

#include "node-agent/probes/amd/kfd_files.hpp"
#include "node-agent/probes/host/pci_scan.hpp"

namespace chipweave::agent {
namespace {

AmdOptions options_of(const std::string& root) {
  AmdOptions out;
  out.root = root;
  return out;
}

}  // namespace

SysfsProbe::SysfsProbe(const std::string& root) : amd_(options_of(root)), tree_(root) {}

Result<domain::Observation> SysfsProbe::discover() {
  Result<domain::Observation> amd = amd_.discover();
  if (amd) return amd;
  auto scanned = scan_pci(tree_);
  if (scanned && tree_.exists(std::string(kKfdTopology) + "/nodes")) {
    scanned->warnings.push_back("the KFD topology was not usable: " + amd.error().text());
  }
  return scanned;
}

// The AMD probe watches the whole host, also where it has no chip of its own.
bool SysfsProbe::changes() { return amd_.changes(); }

}  // namespace chipweave::agent

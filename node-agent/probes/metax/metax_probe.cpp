#include "node-agent/probes/metax/metax_probe.hpp"

#include <utility>

#include "node-agent/probes/host/pci/pci_scan.hpp"

namespace chipweave::agent {

MetaxProbe::MetaxProbe(MetaxOptions options)
    : options_(std::move(options)), tree_(options_.root), host_(tree_) {}

Result<domain::Observation> MetaxProbe::discover() {
  const HostView host = host_.look();
  auto out = pci_observation(host, domain::VendorId::metax, tree_.path(kPciDevices));
  if (!out) return out;
  out->warnings.emplace_back(
      "MetaXLink cannot be read here; if this is a server of eight C550, name it: "
      "--probe profile:metax-c550-8");
  add_neighbours(tree_, host, options_.lldp, *out);
  return out;
}

}  // namespace chipweave::agent

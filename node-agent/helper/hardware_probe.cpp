#include "node-agent/helper/hardware_probe.hpp"

#include "node-agent/probes/sysfs_probe.hpp"

namespace chipweave::agent {
namespace {

class BusProbe final : public VendorProbe {
 public:
  explicit BusProbe(const std::string& root) : probe_(root) {}
  Result<domain::Observation> discover() override { return probe_.discover(); }
  bool changes() override { return probe_.changes(); }

 private:
  SysfsProbe probe_;
};

}  // namespace

std::unique_ptr<VendorProbe> make_hardware_probe(const HardwareOptions& options) {
  return std::make_unique<BusProbe>(options.sysfs_root);
}

}  // namespace chipweave::agent

#include "node-agent/dra/slices/exclusion.hpp"

#include <set>
#include <string_view>

#include "common/base/text.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::agent::dra {
namespace {

// What drivers write about a device to say which hardware it is.
bool is_identity(std::string_view attribute, const std::string& driver) {
  return attribute == "uuid" || attribute == driver + "/uuid" || attribute == "pciBusID" ||
         attribute == driver + "/pciBusID" || attribute == "resource.kubernetes.io/pciBusID";
}

std::string chip_in(const codec::ResourceSlice& slice, const std::set<std::string>& chips) {
  for (const codec::DriverDevice& device : slice.devices) {
    for (const auto& [name, value] : device.attributes) {
      const auto* text = std::get_if<std::string>(&value);
      if (text != nullptr && is_identity(name, slice.driver) && chips.contains(lower_case(*text)))
        return device.name;
    }
  }
  return "";
}

}  // namespace

std::string conflict_on_node(const NodeState& state, const std::string& driver,
                             const std::vector<codec::ResourceSlice>& slices,
                             const codec::NodeFacts& node) {
  const std::string_view domain = domain::vendor_of(state.topology).resource_domain;
  std::set<std::string> chips;
  for (const domain::Chip& chip : state.topology.chips()) {
    if (!chip.id.empty()) chips.insert(lower_case(chip.id));
    if (!chip.pci.empty()) chips.insert(lower_case(chip.pci));
  }
  for (const codec::ResourceSlice& slice : slices) {
    if (slice.driver == driver) continue;
    const bool stock =
        !domain.empty() && domain::resource_of_driver(slice.driver).starts_with(domain);
    const std::string device = chip_in(slice, chips);
    if (!stock && device.empty()) continue;
    return "the DRA driver " + slice.driver + " offers the chips of this node" +
           (device.empty() ? "" : " (device " + device + ")") +
           ": remove it from this node, or switch agent.dra off for it";
  }
  std::set<std::string> resources(state.resources.begin(), state.resources.end());
  if (!domain.empty()) {
    for (const std::string& each : domain::whole_chip_resources())
      if (each.starts_with(domain)) resources.insert(each);
  }
  for (const std::string& resource : resources) {
    const auto count = node.allocatable.find(resource);
    if (count == node.allocatable.end() || count->second == 0) continue;
    return "a device plugin gives away the chips of this node as " + resource +
           " (allocatable: " + std::to_string(count->second) +
           "): remove it from this node, or switch agent.dra off for it";
  }
  return "";
}

}  // namespace chipweave::agent::dra

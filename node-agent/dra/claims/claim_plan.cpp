#include "node-agent/dra/claims/claim_plan.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "node-agent/dra/offered_devices.hpp"

namespace chipweave::agent::dra {
namespace {

using codec::AllocatedResult;
using codec::PreparedDevice;

constexpr const char* kNoChips = "void";  // of the vendors' variables

Error refused(Errc code, const AllocatedResult& result, const std::string& why) {
  return make_error(code, "device " + in_quotes(result.device) + " " + why);
}

Result<const OfferedDevice*> find(const std::vector<OfferedDevice>& offered,
                                  const AllocatedResult& result, const PlanContext& context) {
  if (result.pool != context.pool) {
    return refused(Errc::invalid_argument, result,
                   "is of pool " + in_quotes(result.pool) + ", and this node's pool is " +
                       in_quotes(context.pool));
  }
  if (result.admin)
    return refused(Errc::unsupported, result,
                   "is allocated with admin access, which is not supported");
  if (result.shared)
    return refused(Errc::unsupported, result, "is shared, and chips are allocated whole only");
  const auto found = std::find_if(offered.begin(), offered.end(), [&](const OfferedDevice& each) {
    return each.name == result.device;
  });
  if (found == offered.end()) return refused(Errc::not_found, result, "is not a chip of this node");
  if (!found->problem.empty())
    return refused(Errc::conflict, result, "cannot be used: " + found->problem);
  return &*found;
}

// As the vendor's runtimes name chips.
std::string visible_name(const domain::Chip& chip, const NodeState& state) {
  if (state.topology.vendor() == "ascend")
    return std::to_string(chip.physical_id.value_or(chip.index.value));
  return chip.id.empty() ? std::to_string(chip.index.value) : chip.id;
}

// Of a claim whose devices all go to one container.
std::string visible_list(const std::vector<const domain::Chip*>& chips, const NodeState& state) {
  std::vector<std::string> names;
  names.reserve(chips.size());
  for (const domain::Chip* chip : chips) names.push_back(visible_name(*chip, state));
  return joined(names, ",");
}

}  // namespace

Result<codec::PreparedClaim> plan_claim(const codec::DraClaim& claim, const PlanContext& context) {
  if (claim.results.empty())
    return make_error(Errc::conflict, "no devices are allocated for the claim");
  const std::vector<OfferedDevice> offered = offered_devices(context.state);
  codec::PreparedClaim out{claim.ns, claim.name, claim.uid, {}};
  std::vector<const domain::Chip*> chips;
  std::set<std::string> devices;
  std::set<std::string> requests;
  for (const AllocatedResult& result : claim.results) {
    requests.insert(result.request);
    if (result.driver != context.driver) continue;
    const auto found = find(offered, result, context);
    if (!found) return found.error();
    const OfferedDevice& device = **found;
    if (!devices.insert(device.name).second)
      return refused(Errc::invalid_argument, result, "is allocated twice for the claim");
    const domain::Chip& chip = context.state.topology.chip(device.slot);
    auto nodes = nodes_of(context.exposure, chip, context.host);
    if (!nodes)
      return refused(nodes.error().code, result, "cannot be used: " + nodes.error().text());
    PreparedDevice prepared{result.request, result.pool, device.name, device.chip, {}, {}, {}};
    prepared.nodes = std::move(*nodes);
    prepared.env.push_back("CHIPWEAVE_CHIP_" + std::to_string(chip.index.value) + "=" +
                           (device.chip.empty() ? device.name : device.chip));
    if (!context.exposure.toolkit_kind.empty())
      prepared.also.push_back(context.exposure.toolkit_kind + "=" +
                              visible_name(chip, context.state));
    chips.push_back(&chip);
    out.devices.push_back(std::move(prepared));
  }
  if (out.devices.empty()) {
    return make_error(Errc::invalid_argument,
                      "no device of driver " + context.driver + " is allocated for the claim");
  }
  if (context.exposure.variable.empty()) return out;
  const bool one = claim.one_container || requests.size() == 1;
  const std::string value =
      one && context.exposure.toolkit_kind.empty() ? visible_list(chips, context.state) : kNoChips;
  for (PreparedDevice& device : out.devices)
    device.env.push_back(context.exposure.variable + "=" + value);
  return out;
}

}  // namespace chipweave::agent::dra

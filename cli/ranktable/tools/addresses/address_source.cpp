#include "cli/ranktable/tools/addresses/address_source.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/ranktable/tools/addresses/hccn_tool_path.hpp"
#include "common/base/limits.hpp"
#include "common/codec/kube/inventory/inventory_file.hpp"
#include "common/domain/vendor.hpp"
#include "common/io/files.hpp"

namespace chipweave::cli {
namespace {

using codec::ascend::HccnConf;

constexpr const char* kConf = "/etc/hccn.conf";

// nullopt where the usual file is not there.
Result<std::optional<HccnConf>> read_conf(const std::string& named, const Warn& warn) {
  const std::string file = named.empty() ? kConf : named;
  const Result<std::string> text = io::read_file(file, codec::ascend::kMaxHccnConfBytes);
  if (!text) {
    if (named.empty() && text.error().code == Errc::not_found) return std::optional<HccnConf>();
    Error error = text.error();
    return named.empty() ? std::move(error) : std::move(error).in("argument --hccn-conf");
  }
  Result<HccnConf> conf = codec::ascend::parse_hccn_conf(*text);
  if (!conf) return std::move(conf).error().in("file " + file);
  for (const std::string& warning : conf->warnings) warn("file " + file + ": " + warning);
  return std::optional(*std::move(conf));
}

Result<std::unique_ptr<DeviceAddresses>> open_live(const AddressFlags& flags, Warn warn) {
  const Result<std::string> tool = find_hccn_tool(flags.hccn_tool);
  if (!tool) return tool.error();
  auto conf = read_conf(flags.hccn_conf, warn);
  if (!conf) return std::move(conf).error();
  if (tool->empty() && !*conf) {
    return make_error(
        Errc::not_found,
        std::string("this machine has no hccn_tool, neither the driver's own nor one on "
                    "PATH, and no ") +
            kConf +
            ": is the driver installed? --hccn-tool or --hccn-conf name one; "
            "--from-topology plans for another machine");
  }
  LiveAddresses::Sources sources;
  if (!tool->empty()) sources.tool.emplace(*tool);
  sources.conf = *std::move(conf);
  sources.conf_name = flags.hccn_conf.empty() ? kConf : flags.hccn_conf;
  return std::unique_ptr<DeviceAddresses>(
      std::make_unique<LiveAddresses>(std::move(sources), std::move(warn)));
}

Result<domain::NodeTopology> load_described(const AddressFlags& flags, const Warn& warn) {
  if (!flags.from_inventory.empty()) {
    const auto text = io::read_file(flags.from_inventory, limits::kMaxKubeObjectBytes);
    if (!text) return text.error();
    auto machine = codec::read_inventory_file(*text);
    if (!machine) return std::move(machine).error().in("file " + flags.from_inventory);
    return machine;
  }
  auto imported = io::load_machine(flags.from_topology);
  if (!imported) return std::move(imported).error();
  for (const std::string& warning : imported->warnings) warn(warning);
  return std::move(imported->topology);
}

}  // namespace

Result<std::unique_ptr<DeviceAddresses>> open_addresses(const AddressFlags& flags, Warn warn) {
  if (flags.from_inventory.empty() && flags.from_topology.empty()) {
    return open_live(flags, std::move(warn));
  }
  std::optional<AddressPlan> plan;
  if (!flags.address_plan.empty()) {
    const auto parsed = parse_address_plan(flags.address_plan);
    if (!parsed) return parsed.error();
    plan = *parsed;
  }
  auto machine = load_described(flags, warn);
  if (!machine) return std::move(machine).error();
  const std::string name = flags.from_topology.empty() ? flags.from_inventory : flags.from_topology;
  if (!machine->vendor().empty() && domain::vendor_of(*machine).id != domain::VendorId::ascend) {
    return make_error(Errc::invalid_argument, name + " is a machine of " + machine->vendor() +
                                                  ": these rank tables are for Ascend devices");
  }
  return std::unique_ptr<DeviceAddresses>(
      std::make_unique<DescribedAddresses>(*std::move(machine), name, plan));
}

}  // namespace chipweave::cli

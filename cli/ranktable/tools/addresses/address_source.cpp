#include "cli/ranktable/tools/addresses/address_source.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/input_file.hpp"
#include "cli/machine_input.hpp"
#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/kube/inventory/inventory_file.hpp"
#include "common/codec/ranktable/tools/pd_instances.hpp"
#include "common/domain/vendor.hpp"

namespace chipweave::cli {
namespace {

using codec::ascend::HccnConf;

constexpr const char* kConf = "/etc/hccn.conf";

// nullopt: no file was named and the usual one does not exist.
Result<std::optional<HccnConf>> read_conf(const std::string& named, const Warn& warn) {
  const std::string file = named.empty() ? kConf : named;
  const Result<std::string> text = read_input(file, codec::ascend::kMaxHccnConfBytes);
  if (!text) {
    if (named.empty() && text.error().code == Errc::not_found) return std::optional<HccnConf>();
    Error error = text.error();
    return named.empty() ? std::move(error) : std::move(error).in("argument --hccn-conf");
  }
  Result<HccnConf> conf = codec::ascend::parse_hccn_conf(*text);
  if (!conf) return std::move(conf).error().in(input_name(file));
  for (const std::string& warning : conf->warnings) warn(input_name(file) + ": " + warning);
  return std::optional(*std::move(conf));
}

Result<DeviceAddresses> open_live(const AddressFlags& flags, Warn warn) {
  const Result<std::string> tool = find_hccn_tool(flags.hccn_tool);
  if (!tool) return tool.error();
  auto conf = read_conf(flags.hccn_conf, warn);
  if (!conf) return std::move(conf).error();
  if (tool->empty() && !*conf) {
    return make_error(Errc::not_found,
                      concat("this machine has neither hccn_tool nor ", kConf,
                             ": install the driver, or use --hccn-tool, --hccn-conf, or "
                             "--from-topology to plan for another machine"));
  }
  LiveAddresses::Sources sources;
  if (!tool->empty()) sources.tool.emplace(*tool);
  sources.conf = *std::move(conf);
  sources.conf_name = flags.hccn_conf.empty() ? kConf : flags.hccn_conf;
  return DeviceAddresses(LiveAddresses(std::move(sources), std::move(warn)));
}

Result<domain::NodeTopology> load_described(const AddressFlags& flags, const Warn& warn) {
  if (!flags.from_inventory.empty()) {
    const auto text = read_input(flags.from_inventory, limits::kMaxKubeObjectBytes);
    if (!text) return text.error();
    auto machine = codec::read_inventory_file(*text);
    if (!machine) return std::move(machine).error().in(input_name(flags.from_inventory));
    return machine;
  }
  auto imported = load_machine_input(flags.from_topology);
  if (!imported) return std::move(imported).error();
  for (const std::string& warning : imported->warnings) warn(warning);
  return std::move(imported->topology);
}

// Resolves `name`; IPv4 first, as Python's gethostbyname does. "" if that fails.
std::string resolved(const std::string& name) {
  for (const int family : {AF_INET, AF_INET6}) {
    addrinfo hints{};
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    if (::getaddrinfo(name.c_str(), nullptr, &hints, &list) != 0) continue;
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, ::freeaddrinfo);
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(list->ai_addr, list->ai_addrlen, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0) {
      return text.data();
    }
  }
  return "";
}

Result<std::string> address_of_this_host(const std::string& option) {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) name[0] = '\0';
  std::string address = resolved(name.data());
  if (parse_ip(address)) return address;
  return make_error(Errc::not_found, concat("the host name ", in_quotes(name.data()),
                                            " does not resolve: add ", option, " ADDRESS"));
}

}  // namespace

Result<std::string> find_hccn_tool(const std::string& named) {
  if (named.empty()) return io::installed_hccn_tool();
  if (::access(named.c_str(), X_OK) == 0) return named;
  return make_error(Errc::not_found,
                    "argument --hccn-tool: " + in_quotes(named) + " is not an executable program");
}

Result<std::string> host_address(const std::string& given, const std::string& option,
                                 const Warn& warn) {
  Result<std::string> address =
      given.empty() ? address_of_this_host(option) : Result<std::string>(given);
  if (!address) return address;
  const auto ip = parse_ip(*address);
  if (!ip) {
    return codec::ranktable::argument_error(option, "expected an IP address, got ",
                                            in_quotes(*address));
  }
  if (ip->is_loopback()) {
    warn(concat("the address of this machine is ", *address,
                ", which other machines cannot reach: add ", option, " ADDRESS"));
  }
  return address;
}

Result<DeviceAddresses> open_addresses(const AddressFlags& flags, Warn warn) {
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
    return make_error(Errc::invalid_argument,
                      concat(name, " is a machine of vendor ", machine->vendor(),
                             "; these rank tables are for Ascend devices"));
  }
  return DeviceAddresses([machine = *std::move(machine), name, plan](int device) {
    return described_ports(machine, name, plan, device);
  });
}

}  // namespace chipweave::cli

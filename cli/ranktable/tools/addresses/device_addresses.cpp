#include "cli/ranktable/tools/addresses/device_addresses.hpp"

#include <algorithm>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/codec/ranktable/tools/pd_instances.hpp"

namespace chipweave::cli {
namespace {

using codec::ascend::HccnConfDevice;
using codec::ranktable::argument_error;

std::string device_name(int device) { return concat("device ", device); }

}  // namespace

LiveAddresses::LiveAddresses(Sources sources, Warn warn)
    : sources_(std::move(sources)), warn_(std::move(warn)) {}

Result<Ports> LiveAddresses::operator()(int device) {
  const auto configured_ports = configured(device);
  if (!sources_.tool) {
    if (configured_ports) return *configured_ports;
    return missing(device, nullptr);
  }
  Result<Ports> ports = fetch(device);
  if (!ports) {
    if (!configured_ports) return missing(device, &ports.error());
    warn_(concat(device_name(device), ": ", ports.error().message, "; using ",
                 configured_ports->front().address, " from ", sources_.conf_name,
                 ", which may not be active"));
    return *configured_ports;
  }
  if (configured_ports && configured_ports->front().address != ports->front().address) {
    warn_(concat(device_name(device), " has address ", ports->front().address, ", but ",
                 sources_.conf_name, " configures ", configured_ports->front().address,
                 ": using the former; the latter takes effect after a reboot"));
  }
  return ports;
}

Result<Ports> LiveAddresses::fetch(int device) {
  const std::string id = std::to_string(device);
  const Result<std::string> output = sources_.tool->answer({"-i", id, "-ip", "-g"});
  if (!output) return output.error();
  Result<Ports> ports = codec::ascend::parse_hccn_ip(*output);
  if (ports || ports.error().code != Errc::not_found) return ports;
  const Result<std::string> second = sources_.tool->answer({"-i", id, "-ip", "-inet6", "-g"});
  if (!second) return ports;  // older tools do not have this query
  Result<Ports> six = codec::ascend::parse_hccn_ip6(*second);
  return six ? six : ports;
}

std::optional<Ports> LiveAddresses::configured(int device) const {
  if (!sources_.conf) return std::nullopt;
  const auto found = sources_.conf->devices.find(device);
  if (found == sources_.conf->devices.end()) return std::nullopt;
  const HccnConfDevice& values = found->second;
  if (!values.address.empty()) return Ports{{values.address, values.netmask}};
  if (!values.ipv6_address.empty()) return Ports{{values.ipv6_address, values.ipv6_netmask}};
  return std::nullopt;
}

Error LiveAddresses::missing(int device, const Error* why) const {
  const std::string tool = why == nullptr ? "hccn_tool is not installed" : why->message;
  return make_error(
      Errc::not_found,
      concat(device_name(device), " has no address: ", tool, ", and ", sources_.conf_name,
             sources_.conf ? " has no entry for it" : " does not exist",
             "; check that the machine has this device, or set its address with `hccn_tool -i ",
             device, " -ip -s address A netmask M`"));
}

Result<Ports> AddressPlan::of(int device) const {
  const auto address = base.plus(static_cast<std::uint32_t>(device));
  const bool inside =
      address && address->with_host_bits(prefix, false) == base.with_host_bits(prefix, false);
  if (!inside) {
    return make_error(Errc::limit_exceeded, concat("argument --address-plan: ", device_name(device),
                                                   " is outside of ", base.text(), "/", prefix));
  }
  // A network of two addresses has no network and no broadcast address.
  const bool has_reserved = prefix < base.bits() - 1;
  const bool reserved = *address == address->with_host_bits(prefix, false) ||
                        (!base.v6 && *address == address->with_host_bits(prefix, true));
  if (has_reserved && reserved) {
    return argument_error("--address-plan", device_name(device), " would get ", address->text(),
                          ", which is not a host address in a /", prefix,
                          " network: start from another address");
  }
  IpAddress mask;
  mask.v6 = base.v6;
  mask = mask.with_host_bits(0, true).with_host_bits(prefix, false);
  return Ports{{address->text(), base.v6 ? std::to_string(prefix) : mask.text()}};
}

Result<AddressPlan> parse_address_plan(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto base = parse_ip(text.substr(0, slash));
  const auto prefix = whole_number(text.substr(std::min(slash + 1, text.size())), 128);
  if (!base || !prefix || *prefix > base->bits()) {
    return argument_error("--address-plan", "expected BASE/PREFIX such as 10.0.1.18/24, got ",
                          in_quotes(text));
  }
  return AddressPlan{*base, static_cast<int>(*prefix)};
}

Result<Ports> described_ports(const domain::NodeTopology& machine, const std::string& name,
                              const std::optional<AddressPlan>& plan, int device) {
  const auto& chips = machine.chips();
  const auto chip = std::find_if(chips.begin(), chips.end(), [device](const domain::Chip& each) {
    return each.physical_id.value_or(each.index.value) == device;
  });
  if (chip == chips.end()) {
    return make_error(Errc::not_found, concat(name, " has no ", device_name(device), ": it has ",
                                              chips.size(), " devices"));
  }
  Ports out;
  for (const std::string& address : chip->device_ips) {
    if (!parse_ip(address)) {
      return make_error(Errc::invalid_argument,
                        concat(name, ": ", device_name(device), ": expected an IP address, got ",
                               in_quotes(address)));
    }
    out.push_back({address, ""});
  }
  if (!out.empty()) return out;
  if (plan) return plan->of(device);
  return make_error(Errc::not_found, concat(name, " has no address for ", device_name(device),
                                            ": add --address-plan BASE/PREFIX"));
}

}  // namespace chipweave::cli

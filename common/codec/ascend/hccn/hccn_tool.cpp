#include "common/codec/ascend/hccn/hccn_tool.hpp"

#include <algorithm>
#include <utility>

#include "common/base/ip_address.hpp"
#include "common/codec/ascend/hccn/hccn_output.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/text/words.hpp"

namespace chipweave::codec::ascend {
namespace {

constexpr std::size_t kMaxPorts = 64;
constexpr std::size_t kMaxDevices = 1024;

Error no_address(std::string_view value, const LineReader& lines) {
  return make_error(Errc::invalid_argument, "hccn_tool printed " + quoted_excerpt(value) +
                                                ", not an address of the queried family")
      .in(lines.where());
}

struct PairKeys {
  std::string_view address;
  std::string_view netmask;
  bool v6;
};

Result<std::vector<PortAddress>> read_pairs(std::string_view output, const PairKeys& keys) {
  if (Result<void> fine = small_enough(output); !fine) return fine.error();
  std::vector<PortAddress> out;
  LineReader lines(output);
  for (std::string_view line; lines.next_trimmed(line);) {
    if (const auto address = value_of(line, keys.address)) {
      const auto ip = parse_ip(*address);
      if (!ip || ip->v6 != keys.v6) return no_address(*address, lines);
      if (out.size() == kMaxPorts) {
        return make_error(Errc::limit_exceeded, "hccn_tool printed more than 64 addresses");
      }
      out.push_back({std::string(*address), ""});
    } else if (const auto mask = value_of(line, keys.netmask); mask && !out.empty()) {
      const bool good =
          keys.v6 ? plain_number(*mask, 128).has_value() : parse_ip(*mask).has_value();
      if (!good) {
        return make_error(Errc::invalid_argument,
                          "hccn_tool printed " + quoted_excerpt(*mask) + ", not a netmask")
            .in(lines.where());
      }
      out.back().netmask = *mask;
    }
  }
  if (out.empty()) return no_answer(output, "address");
  return out;
}

// "UP" or "DOWN".
std::optional<bool> up_or_down(std::string_view text) {
  if (text == "UP") return true;
  if (text == "DOWN") return false;
  return std::nullopt;
}

// The number before `unit` in "3 packets transmitted, 3 received".
std::optional<int> count_before(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  const std::string_view before = trim(line.substr(0, at));
  return plain_number(before.substr(before.find_last_of(" ,") + 1), 1'000'000);
}

}  // namespace

Result<std::vector<PortAddress>> parse_hccn_ip(std::string_view output) {
  return read_pairs(output, {"ipaddr", "netmask", false});
}

Result<std::vector<PortAddress>> parse_hccn_ip6(std::string_view output) {
  return read_pairs(output, {"ipv6_address", "prefix_length", true});
}

Result<HccnVnic> parse_hccn_vnic(std::string_view output) {
  auto ports = read_pairs(output, {"vnic ipaddr", "vnic netmask", false});
  if (!ports) return std::move(ports).error();
  HccnVnic out;
  out.address = ports->front().address;
  out.netmask = ports->front().netmask;
  const auto status = first_value(output, "vnic link status", "state of a vNIC");
  if (!status) return status.error();
  out.up = *status == "UP";
  return out;
}

Result<bool> parse_hccn_link(std::string_view output) {
  const auto status = first_value(output, "link status", "state of a link");
  if (!status) return status.error();
  if (const auto up = up_or_down(*status)) return *up;
  return make_error(Errc::invalid_argument,
                    "the link is " + quoted_excerpt(*status) + ", neither UP nor DOWN");
}

Result<std::string> parse_hccn_net_health(std::string_view output) {
  auto status = first_value(output, "net health status", "state of the network");
  if (!status) return status;
  const std::string shown = quoted_excerpt(*status);
  return shown.substr(1, shown.size() - 2);
}

Result<std::string> parse_hccn_netdetect(std::string_view output) {
  auto address = first_value(output, "netdetect addr", "address to detect");
  if (!address || parse_ip(*address)) return address;
  return make_error(Errc::invalid_argument,
                    "hccn_tool printed " + quoted_excerpt(*address) + ", not an address");
}

Result<HccnGateway> parse_hccn_gateway(std::string_view output) {
  const auto value = first_value(output, "default gateway", "gateway");
  if (!value) return value.error();
  const std::size_t comma = std::min(value->find(','), value->size());
  HccnGateway out;
  out.address = trim(std::string_view(*value).substr(0, comma));
  if (!parse_ip(out.address)) {
    return make_error(Errc::invalid_argument,
                      "hccn_tool printed " + quoted_excerpt(out.address) + ", not an address");
  }
  const std::string_view rest =
      trim(std::string_view(*value).substr(std::min(comma + 1, value->size())));
  out.interface = value_of(rest, "Iface").value_or("");
  return out;
}

Result<HccnLldp> parse_hccn_lldp(std::string_view output) {
  if (Result<void> fine = small_enough(output); !fine) return fine.error();
  HccnLldp out;
  std::string_view block;
  LineReader lines(output);
  for (std::string_view line; lines.next_trimmed(line);) {
    if (line.ends_with(" TLV")) {
      block = line;
      continue;
    }
    if (block == "Port ID TLV" && out.port.empty()) {
      out.port = value_of(line, "Ifname").value_or("");
    } else if (block == "System Name TLV" && out.system_name.empty()) {
      out.system_name = line;
    } else if (block == "Management Address TLV" && out.management_address.empty()) {
      const auto v4 = value_of(line, "IPv4");
      out.management_address = v4 ? *v4 : value_of(line, "IPv6").value_or("");
    }
  }
  if (block.empty()) return no_answer(output, "answer of a switch");
  return out;
}

Result<std::vector<HccnTls>> parse_hccn_tls(std::string_view output) {
  constexpr std::string_view kSwitch = "tls switch[";
  if (Result<void> fine = small_enough(output); !fine) return fine.error();
  std::vector<HccnTls> out;
  LineReader lines(output);
  for (std::string_view line; lines.next_trimmed(line);) {
    const auto value = value_of(line, "dev_id");
    const std::size_t at = line.find(kSwitch);
    if (!value || at == std::string_view::npos) continue;
    const auto device = plain_number(trim(value->substr(0, value->find(','))), 1023);
    const std::string_view state = line.substr(at + kSwitch.size(), 2);
    if (!device || (state != "0]" && state != "1]") || out.size() == kMaxDevices) {
      return make_error(Errc::invalid_argument,
                        quoted_excerpt(line) + " does not name a device and its switch")
          .in(lines.where());
    }
    out.push_back({*device, state == "1]"});
  }
  if (out.empty()) return no_answer(output, "TLS switch");
  return out;
}

Result<HccnPing> parse_hccn_ping(std::string_view output) {
  if (Result<void> fine = small_enough(output); !fine) return fine.error();
  LineReader lines(output);
  for (std::string_view line; lines.next_trimmed(line);) {
    const auto sent = count_before(line, " packets transmitted");
    const auto received = count_before(line, " received");
    if (sent && received) return HccnPing{*sent, *received};
  }
  return no_answer(output, "summary of a ping");
}

}  // namespace chipweave::codec::ascend

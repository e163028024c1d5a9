#include "common/codec/ascend/hccn/hccn_tool.hpp"

#include <optional>
#include <utility>

#include "common/base/ip_address.hpp"
#include "common/base/text.hpp"
#include "common/codec/ascend/hccn/hccn_output.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec::ascend {
namespace {

constexpr std::size_t kMaxPorts = 64;

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
          keys.v6 ? whole_number(*mask, 128).has_value() : parse_ip(*mask).has_value();
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

}  // namespace

Result<std::vector<PortAddress>> parse_hccn_ip(std::string_view output) {
  return read_pairs(output, {"ipaddr", "netmask", false});
}

Result<std::vector<PortAddress>> parse_hccn_ip6(std::string_view output) {
  return read_pairs(output, {"ipv6_address", "prefix_length", true});
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

}  // namespace chipweave::codec::ascend

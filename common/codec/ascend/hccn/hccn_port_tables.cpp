// The answers of hccn_tool that are tables or blocks about one port: routes, neighbours, speed,
// optical module.
#include <algorithm>
#include <utility>

#include "common/base/ip_address.hpp"
#include "common/codec/ascend/hccn/hccn_output.hpp"
#include "common/codec/ascend/hccn/hccn_tool.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/numbers.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/text/words.hpp"

namespace chipweave::codec::ascend {
namespace {

constexpr std::size_t kMaxLanes = 16;
constexpr std::size_t kMaxWordBytes = 64;

Error too_many_rows() {
  return make_error(Errc::limit_exceeded,
                    "hccn_tool printed more than " + std::to_string(kMaxTableRows) + " rows");
}

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= kMaxWordBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

// "Destination Gateway Genmask Flags Metric Ref Use Iface"
std::optional<HccnRoute> route_of(std::string_view line) {
  constexpr std::size_t kColumns = 8;
  const auto words = split_words(line);
  if (words.size() != kColumns || !is_word(words[7])) return std::nullopt;
  const bool destination = words[0] == "default" || parse_ip(words[0]);
  const bool gateway = words[1] == "*" || parse_ip(words[1]);
  if (!destination || !gateway || !parse_ip(words[2])) return std::nullopt;
  return HccnRoute{std::string(words[0]), std::string(words[1]), std::string(words[2]),
                   std::string(words[7])};
}

// "(192.0.2.1) at 10:1b:54:92:ed:06 [ether]  on eth0" or "… at <incomplete>  on eth0"
std::optional<HccnArp> arp_of(std::string_view line) {
  const auto words = split_words(line);
  if (words.size() < 5 || words[1] != "at" || words[words.size() - 2] != "on") return std::nullopt;
  std::string_view address = words[0];
  if (!address.starts_with('(') || !address.ends_with(')')) return std::nullopt;
  address = address.substr(1, address.size() - 2);
  const std::string_view mac = words[2] == "<incomplete>" ? "" : words[2];
  if (!parse_ip(address) || (!mac.empty() && !is_word(mac)) || !is_word(words.back())) {
    return std::nullopt;
  }
  return HccnArp{std::string(address), std::string(mac), std::string(words.back())};
}

// "Tx Power0 : 1.39 mW" after its prefix: the lane of it.
std::optional<std::size_t> lane_of(std::string_view line, std::string_view prefix) {
  if (!line.starts_with(prefix)) return std::nullopt;
  const std::string_view rest = line.substr(prefix.size());
  return plain_number<std::size_t>(trim(rest.substr(0, rest.find(':'))), kMaxLanes - 1);
}

void put_lane(std::vector<std::string>& lanes, std::size_t lane, std::string_view value) {
  if (lanes.size() <= lane) lanes.resize(lane + 1);
  lanes[lane] = value.substr(0, kMaxWordBytes);
}

// "0xff"
std::optional<unsigned> flags_of(std::string_view text) {
  return text.starts_with("0x") ? exact_number<unsigned>(text.substr(2), 16) : std::nullopt;
}

void read_optical(std::string_view line, HccnOptical& out) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view value = trim(line.substr(colon + 1));
  if (value_of(line, "temperature")) {
    out.temperature = value.substr(0, kMaxWordBytes);
  } else if (const auto tx = lane_of(line, "Tx Power")) {
    put_lane(out.tx_power, *tx, value);
  } else if (const auto rx = lane_of(line, "Rx Power")) {
    put_lane(out.rx_power, *rx, value);
  } else if (value_of(line, "Tx Los Flag")) {
    out.tx_los = flags_of(value).value_or(0);
  } else if (value_of(line, "Rx Los Flag")) {
    out.rx_los = flags_of(value).value_or(0);
  }
}

}  // namespace

Result<std::vector<HccnRoute>> parse_hccn_routes(std::string_view output) {
  if (Result<void> fine = small_enough(output); !fine) return fine.error();
  std::vector<HccnRoute> out;
  LineReader lines(output);
  for (std::string_view line; lines.next_trimmed(line);) {
    auto route = route_of(line);
    if (!route) continue;
    if (out.size() == kMaxTableRows) return too_many_rows();
    out.push_back(*std::move(route));
  }
  if (out.empty()) return no_answer(output, "route");
  return out;
}

Result<std::vector<HccnArp>> parse_hccn_arp(std::string_view output) {
  if (Result<void> fine = small_enough(output); !fine) return fine.error();
  std::vector<HccnArp> out;
  bool headed = false;
  LineReader lines(output);
  for (std::string_view line; lines.next_trimmed(line);) {
    headed = headed || line == "arp table:";
    auto entry = arp_of(line);
    if (!entry) continue;
    if (out.size() == kMaxTableRows) return too_many_rows();
    out.push_back(*std::move(entry));
  }
  if (out.empty() && !headed) return no_answer(output, "table of neighbours");
  return out;
}

Result<std::optional<int>> parse_hccn_speed(std::string_view output) {
  constexpr std::string_view kUnit = "Mb/s";
  const auto value = first_value(output, "Speed", "speed");
  if (!value) return value.error();
  if (value->starts_with("Unknown")) return std::optional<int>();
  const std::string_view text = *value;
  if (text.ends_with(kUnit)) {
    const auto speed = plain_number(trim(text.substr(0, text.size() - kUnit.size())), 100'000'000);
    if (speed) return speed;
  }
  return make_error(Errc::invalid_argument,
                    "hccn_tool printed " + quoted_excerpt(*value) + ", not a speed in Mb/s");
}

Result<HccnOptical> parse_hccn_optical(std::string_view output) {
  const auto present = first_value(output, "present", "optical module");
  if (!present) return present.error();
  if (*present != "present" && *present != "not present") {
    return make_error(Errc::invalid_argument,
                      "the optical module must be \"present\" or \"not present\", got " +
                          quoted_excerpt(*present));
  }
  HccnOptical out;
  out.present = *present == "present";
  LineReader lines(output);
  for (std::string_view line; lines.next_trimmed(line);) read_optical(line, out);
  return out;
}

}  // namespace chipweave::codec::ascend

#include "cli/ranktable/tools/hccl_arguments.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/ranktable/tools/words.hpp"
#include "common/base/foreign_text.hpp"

namespace chipweave::cli {
namespace {

constexpr int kClassicDevices = 8;
constexpr int kClassicGroup = 4;  // devices of a 910A server are linked in two groups

Error bad(const std::string& option, std::string what) {
  return make_error(Errc::invalid_argument, "argument " + option + ": " + std::move(what));
}

struct Interval {
  int first = 0;
  int last = 0;
};

// "[0,8)"
std::optional<Interval> interval_of(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(')')) return std::nullopt;
  const std::vector<std::string_view> words = split_commas(text.substr(1, text.size() - 2));
  if (words.size() != 2) return std::nullopt;
  const auto first = whole_number(words[0], kMaxDevicesOfServer);
  const auto last = whole_number(words[1], kMaxDevicesOfServer);
  if (!first || !last) return std::nullopt;
  return Interval{*first, *last};
}

Result<Interval> checked_interval(const std::string& text, int per_node) {
  const auto interval = interval_of(text);
  if (!interval) {
    return bad("--device_num",
               in_quotes(text) + " is no interval: write [FIRST,LAST), such as [0,8)");
  }
  const auto [first, last] = *interval;
  if (last > per_node) {
    return bad("--device_num", in_quotes(text) + " must be in range [0," +
                                   std::to_string(per_node) +
                                   "]; --device_num_per_node says how many devices there are");
  }
  if (first >= last) {
    return bad("--device_num", in_quotes(text) +
                                   " holds no device: the first must be less than the "
                                   "last");
  }
  const bool whole = first == 0 && last == kClassicDevices;
  if (per_node == kClassicDevices && !whole && first < kClassicGroup && last > kClassicGroup) {
    return bad("--device_num",
               in_quotes(text) + " must be in the same group of [0,4] or [4,8], or be [0,8)");
  }
  return *interval;
}

Result<std::vector<std::string>> visible_of(const std::string& text) {
  std::vector<std::string> out;
  for (const std::string_view word : split_commas(text)) {
    if (!whole_number(word, kMaxDevicesOfServer - 1)) {
      return bad("--visible_devices",
                 in_quotes(word) + " in " + in_quotes(text) + " is no device id");
    }
    if (std::find(out.begin(), out.end(), word) != out.end()) {
      return bad("--visible_devices",
                 "device " + std::string(word) + " stands twice in " + in_quotes(text));
    }
    out.emplace_back(word);
  }
  return out;
}

}  // namespace

ArgSpec hccl_spec(const std::string& program) {
  ArgSpec out;
  out.program = program;
  out.about =
      "Writes the HCCL rank table of this server into the current folder:\n"
      "hccl_<devices>p_<their numbers>_<address>.json.";
  out.options = {
      {"--device_num", Takes::one, "[FIRST,LAST)", "which devices ([0,8))", {}, false},
      {"--visible_devices",
       Takes::one,
       "IDS",
       "physical id of device 0, 1, ... as the job numbers them (0,1,2,...)",
       {},
       false},
      {"--server_ip",
       Takes::one,
       "ADDRESS",
       "of this server (what its host name resolves to)",
       {},
       false},
      {"--device_num_per_node", Takes::one, "N", "devices of this server (8)", {}, true},
  };
  for (ArgOption& option : address_options()) out.options.push_back(std::move(option));
  out.examples = "  " + program + " --device_num \"[0,8)\" --server_ip 10.0.0.18\n  " + program +
                 " --device_num \"[0,2)\" --visible_devices 4,5\n";
  return out;
}

Result<HcclRequest> hccl_request(const ArgWords& words) {
  const std::string per_node_text =
      words.one("--device_num_per_node", std::to_string(kClassicDevices));
  const auto per_node = whole_number(per_node_text, kMaxDevicesOfServer);
  if (!per_node || *per_node == 0) {
    return bad("--device_num_per_node", in_quotes(per_node_text) + " is no number from 1 to " +
                                            std::to_string(kMaxDevicesOfServer));
  }
  HcclRequest out;
  std::string all = "[0,";
  all += std::to_string(*per_node) + ")";
  const auto interval = checked_interval(words.one("--device_num", all), *per_node);
  if (!interval) return interval.error();
  out.first = interval->first;
  out.last = interval->last;
  std::string visible;
  for (int id = 0; id < *per_node; ++id) visible += (id == 0 ? "" : ",") + std::to_string(id);
  auto ids = visible_of(words.one("--visible_devices", visible));
  if (!ids) return std::move(ids).error();
  out.visible = *std::move(ids);
  if (out.visible.size() < static_cast<std::size_t>(out.last)) {
    return bad("--visible_devices", "names " + std::to_string(out.visible.size()) +
                                        " devices, and --device_num asks for number " +
                                        std::to_string(out.last - 1) + " of them");
  }
  out.server_ip = words.one("--server_ip", "");
  auto addresses = address_flags(words);
  if (!addresses) return std::move(addresses).error();
  out.addresses = *std::move(addresses);
  return out;
}

ArgSpec merge_hccl_spec(const std::string& program) {
  ArgSpec out;
  out.program = program;
  out.about =
      "Makes one HCCL rank table of those of several servers, ranks in the order of the files:\n"
      "hccl_<servers>s_<ranks>p.json in the current folder.";
  out.files = "FILE";
  out.examples =
      "  " + program + " hccl_8p_01234567_10.0.0.18.json hccl_8p_01234567_10.0.0.19.json\n";
  return out;
}

}  // namespace chipweave::cli

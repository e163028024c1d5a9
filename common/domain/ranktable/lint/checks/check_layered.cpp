// HCCL 2.0 (Ascend 950): ranks with addresses in layers of the network.
#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "common/base/foreign_text.hpp"
#include "common/base/ip_address.hpp"
#include "common/base/text.hpp"
#include "common/domain/ranktable/lint/checks/check.hpp"

namespace chipweave::domain::ranktable {
namespace {

constexpr std::int64_t kMaxRanks = 65536;
constexpr std::int64_t kBackupLocalId = 64;
constexpr std::int64_t kMaxDeviceId = 64;
constexpr std::int64_t kMaxLayer = 7;
constexpr std::size_t kMaxLayers = 8;
constexpr std::size_t kMaxAddresses = 24;
constexpr std::size_t kMaxPorts = 16;
constexpr std::size_t kMaxPortBytes = 32;
constexpr std::size_t kMaxInstanceBytes = 1024;
constexpr std::size_t kMaxAddressBytes = 256;
constexpr std::size_t kEidDigits = 32;
constexpr std::int64_t kLastPort = 65535;

void check_count(Check& check) {
  const RankTable& table = check.table;
  const auto there = static_cast<std::int64_t>(table.ranks.size());
  const Place place{table.source, "rank_count"};
  if (table.count && *table.count != there) {
    check.error("RT101", place, concat("rank_count is ", *table.count, ", rank_list has ", there));
  }
  if (there == 0 || there > kMaxRanks) {
    check.error("RT101", {table.source, "rank_list"},
                concat("rank_list has ", there, " entries; it must have 1 to 65536"));
  }
}

// Only the ranks that changed when a backup NPU took over.
bool is_change_info(const RankTable& table) {
  const bool has_zero = std::any_of(table.ranks.begin(), table.ranks.end(),
                                    [](const LayeredRank& rank) { return rank.rank_id == 0; });
  return !has_zero && std::any_of(table.ranks.begin(), table.ranks.end(),
                                  [](const LayeredRank& r) { return r.replaced_local_id; });
}

void check_rank_ids(Check& check) {
  const RankTable& table = check.table;
  if (is_change_info(table)) {
    check.error("RT020", {table.source, "rank_list"},
                "this is a change-info table: it lists only the ranks that changed, not 0..N-1");
    return;
  }
  std::vector<std::pair<Source, Number>> ids;
  for (const LayeredRank& rank : table.ranks) ids.emplace_back(rank.source, rank.rank_id);
  check.expect_each_once("rank_id", ids, 0, Severity::error);
  const bool sorted = std::is_sorted(
      table.ranks.begin(), table.ranks.end(),
      [](const LayeredRank& a, const LayeredRank& b) { return a.rank_id < b.rank_id; });
  if (!sorted) {
    check.warn("RT022", {table.source, "rank_list"},
               "ranks are not listed in the order of their ids");
  }
}

// The instance of layer 0 that the rank is in.
std::string_view host_of(const LayeredRank& rank) {
  for (const NetLayer& layer : rank.layers) {
    if (layer.layer == 0 && layer.instance_id) return *layer.instance_id;
  }
  return {};
}

void check_local_ids(Check& check) {
  std::map<std::pair<std::string_view, std::int64_t>, const LayeredRank*> seen;
  const LayeredRank* backup = nullptr;
  for (const LayeredRank& rank : check.table.ranks) {
    const Place place{rank.source, "local_id"};
    check.expect_range("RT102", rank.local_id, 0, kBackupLocalId, place);
    check.expect_range("RT102", rank.replaced_local_id, 0, kBackupLocalId - 1,
                       {rank.source, "replaced_local_id"});
    if (!rank.local_id) continue;
    if (*rank.local_id == kBackupLocalId) {
      if (!rank.replaced_local_id) {
        check.error(
            "RT102", place,
            "local_id 64 is the backup NPU: replaced_local_id must name the NPU that it replaces");
      }
      if (backup != nullptr) {
        check.error("RT102", place, "there is more than one backup NPU (local_id 64)",
                    Place{backup->source, "local_id"});
      }
      backup = &rank;
    }
    const auto [at, is_new] = seen.emplace(std::pair(host_of(rank), *rank.local_id), &rank);
    if (is_new) continue;
    check.error("RT102", place,
                concat("local_id ", *rank.local_id, " is repeated in instance ",
                       in_quotes(host_of(rank)), " of layer 0"),
                Place{at->second->source, "local_id"});
  }
}

void check_type(Check& check, const NetLayer& layer) {
  constexpr std::array<std::string_view, 6> kTypes = {
      "TOPO_FILE_DESC", "CLOS", "1DMESH", "2DMESH", "A3_SERVER", "A2_AX_SERVER"};
  if (!layer.type) return;
  const Place place{layer.source, "net_type"};
  if (std::find(kTypes.begin(), kTypes.end(), *layer.type) == kTypes.end()) {
    check.error("RT104", place,
                "net_type " + in_quotes(*layer.type) +
                    " is unknown to HCCL; known: TOPO_FILE_DESC, CLOS, 1DMESH, 2DMESH, A3_SERVER, "
                    "A2_AX_SERVER");
  } else if (layer.layer == 0 && *layer.type != kTypes[0]) {
    check.add("RT103", check.for_profile(Profile::hccl_950) ? Severity::error : Severity::warning,
              place, "layer 0 must be of type TOPO_FILE_DESC, got " + in_quotes(*layer.type));
  }
}

void check_layers(Check& check, const LayeredRank& rank) {
  if (rank.layers.empty() || rank.layers.size() > kMaxLayers) {
    check.error("RT103", {rank.source, "level_list"},
                concat("level_list has ", rank.layers.size(), " layers; it must have 1 to 8"));
  }
  std::int64_t before = -1;
  for (const NetLayer& layer : rank.layers) {
    const Place place{layer.source, "net_layer"};
    check.expect_range("RT103", layer.layer, 0, kMaxLayer, place);
    if (layer.layer && *layer.layer <= before) {
      check.error("RT103", place,
                  concat("net_layer ", *layer.layer, " follows ", before, "; layers must ascend"));
    }
    before = layer.layer.value_or(before);
    if (layer.instance_id &&
        (layer.instance_id->empty() || layer.instance_id->size() > kMaxInstanceBytes)) {
      check.error("RT104", {layer.source, "net_instance_id"},
                  concat("net_instance_id has ", layer.instance_id->size(),
                         " characters; it must have 1 to 1024"));
    }
    check_type(check, layer);
    if (layer.addresses.size() > kMaxAddresses) {
      check.error(
          "RT105", {layer.source, "rank_addr_list"},
          concat("rank_addr_list has ", layer.addresses.size(), " addresses; the maximum is 24"));
    }
  }
}

// What is wrong with an address of that type; "" if nothing.
std::string address_fault(std::string_view type, std::string_view text) {
  if (text.empty() || text.size() > kMaxAddressBytes) return "must have 1 to 256 characters";
  if (type == "EID") {
    const bool hex = text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
    return text.size() == kEidDigits && hex ? "" : "must be an EID of 32 hex digits";
  }
  const auto ip = parse_ip(text.substr(0, text.find('%')));
  if (!ip) return "must be an IP address";
  if (ip->v6 == (type == "IPV6")) return "";
  return ip->v6 ? "must be an IPv4 address" : "must be an IPv6 address";
}

void check_address(Check& check, const RankAddress& address) {
  if (!address.type) return;
  const std::string& type = *address.type;
  if (type != "EID" && type != "IPV4" && type != "IPV6") {
    check.error("RT106", {address.source, "addr_type"},
                "addr_type " + in_quotes(type) + " is unknown; known: EID, IPV4, IPV6");
    return;
  }
  const std::string fault = address.address ? address_fault(type, *address.address) : "";
  if (!fault.empty()) {
    check.error("RT106", {address.source, "addr"},
                "addr " + in_quotes(*address.address) + " of type " + type + " " + fault);
  }
}

// "die/port" or "d2h".
bool is_port_name(std::string_view text) {
  if (text.empty() || text.size() > kMaxPortBytes) return false;
  if (text == "d2h") return true;
  const std::size_t slash = text.find('/');
  const auto digits = [](std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), is_digit);
  };
  return slash != text.npos && digits(text.substr(0, slash)) && digits(text.substr(slash + 1));
}

void check_address_ports(Check& check, const RankAddress& address) {
  if (!address.ports) return;
  const Place place{address.source, "ports"};
  if (address.ports->empty() || address.ports->size() > kMaxPorts) {
    check.error("RT107", place,
                concat("ports has ", address.ports->size(), " entries; it must have 1 to 16"));
  }
  for (const std::string& port : *address.ports) {
    if (is_port_name(port)) continue;
    check.error("RT107", place, "port " + in_quotes(port) + " must be \"die/port\" or \"d2h\"");
  }
}

// Lengths of the ranks' address lists by network instance, and addresses that are there twice.
class AcrossRanks {
 public:
  explicit AcrossRanks(Check& check) : check_(check) {}

  void add(const NetLayer& layer) {
    if (layer.layer && layer.instance_id) {
      const auto [at, is_new] =
          first_.emplace(std::pair(*layer.layer, std::string_view(*layer.instance_id)), &layer);
      if (!is_new && at->second->addresses.size() != layer.addresses.size()) {
        check_.error(
            "RT105", {layer.source, "rank_addr_list"},
            concat("this rank has ", layer.addresses.size(), " addresses in instance ",
                   in_quotes(*layer.instance_id), ", others have ", at->second->addresses.size()),
            Place{at->second->source, "rank_addr_list"});
      }
    }
    for (const RankAddress& address : layer.addresses) add_address(layer, address);
  }

 private:
  // One rank may use an address in several layers.
  void add_address(const NetLayer& layer, const RankAddress& address) {
    if (!address.address || address.address->empty()) return;
    const auto [at, is_new] = seen_.emplace(
        std::pair(layer.layer.value_or(-1), std::string_view(*address.address)), &address);
    if (is_new) return;
    check_.error("RT108", {address.source, "addr"},
                 concat("addr ", in_quotes(*address.address), " is repeated in layer ",
                        layer.layer.value_or(-1)),
                 Place{at->second->source, "addr"});
  }

  Check& check_;
  std::map<std::pair<std::int64_t, std::string_view>, const NetLayer*> first_;
  std::map<std::pair<std::int64_t, std::string_view>, const RankAddress*> seen_;
};

}  // namespace

void check_layered(Check& check) {
  check_count(check);
  check_rank_ids(check);
  check_local_ids(check);
  AcrossRanks across(check);
  for (const LayeredRank& rank : check.table.ranks) {
    check.expect_range("RT030", rank.device_id, 0, kMaxDeviceId, {rank.source, "device_id"});
    check.expect_range("RT050", rank.device_port, 1, kLastPort, {rank.source, "device_port"});
    check.expect_range("RT050", rank.host_port, 1, kLastPort, {rank.source, "host_port"});
    check_layers(check, rank);
    for (const NetLayer& layer : rank.layers) {
      across.add(layer);
      for (const RankAddress& address : layer.addresses) {
        check_address(check, address);
        check_address_ports(check, address);
      }
    }
  }
}

}  // namespace chipweave::domain::ranktable

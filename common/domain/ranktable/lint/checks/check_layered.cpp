// HCCL 2.0 (Ascend 950): ranks with addresses in layers of the network.
#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "common/base/foreign_text.hpp"
#include "common/base/ip_address.hpp"
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

void out_of(Check& check, std::string_view code, const Number& value, std::int64_t most,
            Place place) {
  if (!value || (*value >= 0 && *value <= most)) return;
  check.error(code, place,
              std::string(place.member) + " " + std::to_string(*value) + " is outside 0.." +
                  std::to_string(most));
}

void check_count(Check& check) {
  const RankTable& table = check.table;
  const auto there = static_cast<std::int64_t>(table.ranks.size());
  const Place place{table.source, "rank_count"};
  if (table.count && *table.count != there) {
    check.error("RT101", place,
                "rank_count is " + std::to_string(*table.count) + ", rank_list has " +
                    std::to_string(there));
  }
  if (there == 0 || there > kMaxRanks) {
    check.error("RT101", {table.source, "rank_list"},
                "rank_list has " + std::to_string(there) + " entries, 1 to 65536 are allowed");
  }
}

// Entries of a part only: what changed when a backup NPU took over.
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
                "this is a change-info table: it has only the ranks that changed, not 0..N-1");
    return;
  }
  std::vector<const LayeredRank*> first(table.ranks.size(), nullptr);
  for (const LayeredRank& rank : table.ranks) {
    if (!rank.rank_id) continue;
    const Place place{rank.source, "rank_id"};
    if (*rank.rank_id < 0 || static_cast<std::size_t>(*rank.rank_id) >= first.size()) {
      check.error("RT020", place,
                  "rank_id " + std::to_string(*rank.rank_id) + " is outside 0.." +
                      std::to_string(first.size() - 1));
      continue;
    }
    const LayeredRank*& slot = first[static_cast<std::size_t>(*rank.rank_id)];
    if (slot != nullptr) {
      check.error("RT020", place, "rank_id " + std::to_string(*rank.rank_id) + " is there twice",
                  Place{slot->source, "rank_id"});
    }
    slot = &rank;
  }
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
    out_of(check, "RT102", rank.local_id, kBackupLocalId, place);
    out_of(check, "RT102", rank.replaced_local_id, kBackupLocalId - 1,
           {rank.source, "replaced_local_id"});
    if (!rank.local_id) continue;
    if (*rank.local_id == kBackupLocalId) {
      if (!rank.replaced_local_id) {
        check.error(
            "RT102", place,
            "local_id 64 is the backup NPU: replaced_local_id must say whose place it takes");
      }
      if (backup != nullptr) {
        check.error("RT102", place, "there are two backup NPUs (local_id 64)",
                    Place{backup->source, "local_id"});
      }
      backup = &rank;
    }
    const auto [at, is_new] = seen.emplace(std::pair(host_of(rank), *rank.local_id), &rank);
    if (is_new) continue;
    check.error("RT102", place,
                "local_id " + std::to_string(*rank.local_id) + " is there twice in instance " +
                    in_quotes(host_of(rank)) + " of layer 0",
                Place{at->second->source, "local_id"});
  }
}

void check_layer_port(Check& check, const Number& port, Place place) {
  if (!port || (*port >= 1 && *port <= kLastPort)) return;
  check.error("RT050", place,
              std::string(place.member) + " " + std::to_string(*port) + " is outside 1..65535");
}

void check_type(Check& check, const NetLayer& layer) {
  constexpr std::array<std::string_view, 6> kTypes = {
      "TOPO_FILE_DESC", "CLOS", "1DMESH", "2DMESH", "A3_SERVER", "A2_AX_SERVER"};
  if (!layer.type) return;
  const Place place{layer.source, "net_type"};
  if (std::find(kTypes.begin(), kTypes.end(), *layer.type) == kTypes.end()) {
    check.error("RT104", place, "net_type " + in_quotes(*layer.type) + " is none that HCCL knows");
  } else if (layer.layer == 0 && *layer.type != kTypes[0]) {
    check.add("RT103", check.for_profile(Profile::hccl_950) ? Severity::error : Severity::warning,
              place,
              "layer 0 is of type " + in_quotes(*layer.type) + " and must be TOPO_FILE_DESC");
  }
}

void check_layers(Check& check, const LayeredRank& rank) {
  if (rank.layers.empty() || rank.layers.size() > kMaxLayers) {
    check.error(
        "RT103", {rank.source, "level_list"},
        "level_list has " + std::to_string(rank.layers.size()) + " layers, 1 to 8 are allowed");
  }
  std::int64_t before = -1;
  for (const NetLayer& layer : rank.layers) {
    const Place place{layer.source, "net_layer"};
    out_of(check, "RT103", layer.layer, kMaxLayer, place);
    if (layer.layer && *layer.layer <= before) {
      check.error("RT103", place,
                  "net_layer " + std::to_string(*layer.layer) + " follows " +
                      std::to_string(before) + "; layers must ascend");
    }
    before = layer.layer.value_or(before);
    if (layer.instance_id &&
        (layer.instance_id->empty() || layer.instance_id->size() > kMaxInstanceBytes)) {
      check.error("RT104", {layer.source, "net_instance_id"},
                  "net_instance_id has " + std::to_string(layer.instance_id->size()) +
                      " characters, 1 to 1024 are allowed");
    }
    check_type(check, layer);
    if (layer.addresses.size() > kMaxAddresses) {
      check.error("RT105", {layer.source, "rank_addr_list"},
                  "rank_addr_list has " + std::to_string(layer.addresses.size()) +
                      " addresses, 24 at most");
    }
  }
}

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

// What is wrong with the text of an address of that type; "" if nothing.
std::string address_fault(std::string_view type, std::string_view text) {
  if (text.empty() || text.size() > kMaxAddressBytes) return "has no 1 to 256 characters";
  if (type == "EID") {
    return text.size() == kEidDigits && is_hex(text) ? "" : "is no EID of 32 hex digits";
  }
  const auto ip = parse_ip(text.substr(0, text.find('%')));
  if (!ip) return "is no IP address";
  return ip->v6 == (type == "IPV6") ? "" : "is of the other family";
}

void check_address(Check& check, const RankAddress& address) {
  if (!address.type) return;
  const std::string& type = *address.type;
  if (type != "EID" && type != "IPV4" && type != "IPV6") {
    check.error("RT106", {address.source, "addr_type"},
                "addr_type " + in_quotes(type) + " is none of EID, IPV4, IPV6");
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
    return !word.empty() &&
           std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  return slash != text.npos && digits(text.substr(0, slash)) && digits(text.substr(slash + 1));
}

void check_address_ports(Check& check, const RankAddress& address) {
  if (!address.ports) return;
  const Place place{address.source, "ports"};
  if (address.ports->empty() || address.ports->size() > kMaxPorts) {
    check.error(
        "RT107", place,
        "ports has " + std::to_string(address.ports->size()) + " entries, 1 to 16 are allowed");
  }
  for (const std::string& port : *address.ports) {
    if (is_port_name(port)) continue;
    check.error("RT107", place, "port " + in_quotes(port) + " is neither \"die/port\" nor \"d2h\"");
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
        check_.error("RT105", {layer.source, "rank_addr_list"},
                     "this rank has " + std::to_string(layer.addresses.size()) +
                         " addresses in instance " + in_quotes(*layer.instance_id) +
                         ", others have " + std::to_string(at->second->addresses.size()),
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
                 "addr " + in_quotes(*address.address) + " is there twice in layer " +
                     std::to_string(layer.layer.value_or(-1)),
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
    out_of(check, "RT030", rank.device_id, kMaxDeviceId, {rank.source, "device_id"});
    check_layer_port(check, rank.device_port, {rank.source, "device_port"});
    check_layer_port(check, rank.host_port, {rank.source, "host_port"});
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

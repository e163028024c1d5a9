#include "common/codec/gang/vendor_keys.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/near_names.hpp"

namespace chipweave::codec {
namespace {

using domain::AscendServer;
using domain::TorNetwork;
using domain::TorSchema;
using domain::TorState;
using domain::TorUse;

std::optional<int> count(const JsonObject& object, std::string_view key, int min, int max) {
  const auto read = object.integer(key, min, max);
  if (!read) return std::nullopt;
  return static_cast<int>(*read);
}

// `level` stays what it is where the key is absent or wrong.
void read_level_into(const JsonObject& object, std::string_view key,
                     const std::vector<std::string>& levels, int& level) {
  const auto name = object.text(key);
  if (!name) return;
  const auto at = std::find(levels.begin(), levels.end(), *name);
  if (at != levels.end()) {
    level = static_cast<int>(at - levels.begin());
    return;
  }
  object.problems().add(object.path(key), "is no level of the network" +
                                              did_you_mean(*name, {levels.begin(), levels.end()}));
}

template <class Value, std::size_t N>
using Words = std::array<std::pair<std::string_view, Value>, N>;

// One of the words; absent or, after a problem was added, none of them: nullopt.
template <class Value, std::size_t N>
std::optional<Value> read_word(const JsonObject& object, std::string_view key,
                               const Words<Value, N>& words) {
  const auto text = object.text(key);
  if (!text) return std::nullopt;
  std::string known;
  std::vector<std::string_view> names;
  for (const auto& [word, value] : words) {
    if (word == *text) return value;
    known += (known.empty() ? "" : ", ") + std::string(word);
    names.push_back(word);
  }
  object.problems().add(object.path(key), "must be one of " + known + did_you_mean(*text, names));
  return std::nullopt;
}

domain::AscendRequest read_ascend(const JsonObject& object, const std::vector<std::string>& levels,
                                  domain::VendorLevels& roles) {
  static constexpr Words<AscendServer, 3> kServers = {{
      {"a3", AscendServer::a3},
      {"850", AscendServer::a5_850},
      {"950", AscendServer::a5_950},
  }};
  static constexpr Words<bool, 2> kAffinities = {{{"hard", false}, {"soft", true}}};
  domain::AscendRequest out;
  out.server = read_word(object, "server", kServers);
  out.node_chips = count(object, "node_chips", 1, limits::kMaxChips);
  out.sp_block = count(object, "sp_block", 1, limits::kMaxChipIndex);
  out.ra_block = count(object, "ra_block", 1, limits::kMaxChipIndex);
  out.super_pod_size = count(object, "super_pod_size", 1, limits::kMaxGangPods);
  out.reserve_nodes = count(object, "reserve_nodes", 0, limits::kMaxGangPods);
  out.soft = read_word(object, "affinity", kAffinities).value_or(false);
  out.ub_memory = object.flag("ub_memory").value_or(false);
  read_level_into(object, "super_pod_level", levels, roles.super_pod);
  read_level_into(object, "rack_level", levels, roles.rack);
  read_level_into(object, "ub_level", levels, roles.ub_domain);
  return out;
}

void read_states(const JsonObject& tor, std::map<std::string, TorState>& out) {
  static constexpr Words<TorState, 5> kStates = {{
      {"free", TorState{}},
      {"exclusive", TorState{TorUse::exclusive}},
      {"shared", TorState{TorUse::shared}},
      {"shared-normal", TorState{TorUse::shared, true, false}},
      {"shared-unhealthy", TorState{TorUse::shared, false}},
  }};
  const Json* map = tor.find("states");
  if (map == nullptr) return;
  if (!map->is_object())
    return tor.problems().add(tor.path("states"), "must be an object: leaf to state");
  for (const auto& [leaf, value] : map->items()) {
    const auto* text = value.get_ptr<const std::string*>();
    const auto word = std::find_if(kStates.begin(), kStates.end(), [&](const auto& state) {
      return text != nullptr && state.first == *text;
    });
    if (word != kStates.end()) {
      out[leaf] = word->second;
      continue;
    }
    tor.problems().add(tor.path("states") + "[\"" + leaf.substr(0, 100) + "\"]",
                       "must be free, exclusive, shared, shared-normal or shared-unhealthy");
  }
}

domain::TorRequest read_tor(const JsonObject& object, const std::vector<std::string>& levels,
                            VendorKeys& keys) {
  static constexpr Words<TorSchema, 3> kSchemas = {{
      {"large-model-schema", TorSchema::large_model},
      {"normal-schema", TorSchema::normal},
      {"null", TorSchema::none},
  }};
  static constexpr Words<TorNetwork, 2> kVersions = {{
      {"1.0", TorNetwork::nslb_1},
      {"2.0", TorNetwork::nslb_2},
  }};
  static constexpr Words<bool, 2> kLevels = {{{"single_layer", true}, {"", false}}};
  domain::TorRequest out;
  if (!object.has("schema"))
    object.problems().add(object.path("schema"),
                          "is missing: large-model-schema, normal-schema or null");
  out.schema = read_word(object, "schema", kSchemas).value_or(TorSchema::none);
  out.network = read_word(object, "nslb_version", kVersions).value_or(TorNetwork::nslb_1);
  if (read_word(object, "tor_level", kLevels).value_or(false))
    out.network = TorNetwork::single_layer;
  out.shared_tors = count(object, "shared_tor_num", 1, 2).value_or(out.shared_tors);
  out.leaf_nodes = count(object, "tor_count", 1, limits::kMaxGangPods).value_or(0);
  read_level_into(object, "level", levels, keys.levels.leaf);
  read_states(object, keys.leaf_states);
  return out;
}

}  // namespace

VendorKeys read_vendor_keys(const Json& value, const std::string& path,
                            const std::vector<std::string>& levels, JsonProblems& problems) {
  VendorKeys out;
  out.levels = domain::default_vendor_levels(levels);
  const JsonObject object(value, path, {"ascend", "tor", "nvl_domain_level", "nvl_segment"},
                          problems);
  if (!value.is_object()) return out;
  if (const Json* ascend = object.find("ascend")) {
    const JsonObject keys(
        *ascend, object.path("ascend"),
        {"server", "node_chips", "sp_block", "ra_block", "super_pod_size", "reserve_nodes",
         "affinity", "ub_memory", "super_pod_level", "rack_level", "ub_level"},
        problems);
    if (ascend->is_object()) out.ascend = read_ascend(keys, levels, out.levels);
  }
  if (const Json* tor = object.find("tor")) {
    const JsonObject keys(
        *tor, object.path("tor"),
        {"schema", "nslb_version", "tor_level", "shared_tor_num", "tor_count", "level", "states"},
        problems);
    if (tor->is_object()) out.tor = read_tor(keys, levels, out);
  }
  read_level_into(object, "nvl_domain_level", levels, out.levels.nvlink);
  const auto segment = count(object, "nvl_segment", 1, limits::kMaxGangPods);
  if (object.has("nvl_domain_level") || object.has("nvl_segment"))
    out.nvlink = domain::NvlinkRequest{segment};
  return out;
}

}  // namespace chipweave::codec

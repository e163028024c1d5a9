#include "common/codec/gang/vendor_keys.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "common/base/limits.hpp"

namespace chipweave::codec {
namespace {

using domain::AscendServer;
using domain::TorNetwork;
using domain::TorSchema;
using domain::TorState;
using domain::TorUse;

// `level` is unchanged if the key is absent or wrong.
void read_level_into(const JsonObject& object, std::string_view key,
                     const std::vector<std::string>& levels, int& level) {
  level = read_level(object, key, levels).value_or(level);
}

template <class Value, std::size_t N>
using Choices = std::array<std::pair<std::string_view, Value>, N>;

// nullopt if the key is absent or invalid; adds a problem for the latter.
template <class Value, std::size_t N>
std::optional<Value> read_choice(const JsonObject& object, std::string_view key,
                                 const Choices<Value, N>& choices) {
  const auto text = object.text(key);
  if (!text) return std::nullopt;
  std::vector<std::string_view> names;
  for (const auto& [name, value] : choices) {
    if (name == *text) return value;
    names.push_back(name);
  }
  object.problem(key, unknown_name("value", *text, names));
  return std::nullopt;
}

domain::AscendRequest read_ascend(const JsonObject& object, const std::vector<std::string>& levels,
                                  domain::VendorLevels& roles) {
  static constexpr Choices<AscendServer, 3> kServers = {{
      {"a3", AscendServer::a3},
      {"850", AscendServer::a5_850},
      {"950", AscendServer::a5_950},
  }};
  static constexpr Choices<bool, 2> kAffinities = {{{"hard", false}, {"soft", true}}};
  domain::AscendRequest out;
  out.server = read_choice(object, "server", kServers);
  out.node_chips = object.integer("node_chips", 1, limits::kMaxChips);
  out.sp_block = object.integer("sp_block", 1, limits::kMaxChipIndex);
  out.ra_block = object.integer("ra_block", 1, limits::kMaxChipIndex);
  out.super_pod_size = object.integer("super_pod_size", 1, limits::kMaxGangPods);
  out.reserve_nodes = object.integer("reserve_nodes", 0, limits::kMaxGangPods);
  out.soft = read_choice(object, "affinity", kAffinities).value_or(false);
  out.ub_memory = object.flag("ub_memory").value_or(false);
  read_level_into(object, "super_pod_level", levels, roles.super_pod);
  read_level_into(object, "rack_level", levels, roles.rack);
  read_level_into(object, "ub_level", levels, roles.ub_domain);
  return out;
}

void read_states(const JsonObject& tor, std::map<std::string, TorState>& out) {
  static constexpr Choices<TorState, 5> kStates = {{
      {"free", TorState{}},
      {"exclusive", TorState{TorUse::exclusive}},
      {"shared", TorState{TorUse::shared}},
      {"shared-normal", TorState{TorUse::shared, true, false}},
      {"shared-unhealthy", TorState{TorUse::shared, false}},
  }};
  for (const JsonValue value : tor.map("states", limits::kMaxPlanNodes)) {
    const auto* const state = std::find_if(kStates.begin(), kStates.end(), [&](const auto& known) {
      return value.is_string() && known.first == value.text();
    });
    if (state != kStates.end()) {
      out[std::string(value.name())] = state->second;
      continue;
    }
    tor.problems().add(value, "must be free, exclusive, shared, shared-normal or shared-unhealthy");
  }
}

domain::TorRequest read_tor(const JsonObject& object, const std::vector<std::string>& levels,
                            domain::VendorLevels& roles) {
  static constexpr Choices<TorSchema, 3> kSchemas = {{
      {"large-model-schema", TorSchema::large_model},
      {"normal-schema", TorSchema::normal},
      {"null", TorSchema::none},
  }};
  static constexpr Choices<TorNetwork, 2> kVersions = {{
      {"1.0", TorNetwork::nslb_1},
      {"2.0", TorNetwork::nslb_2},
  }};
  static constexpr Choices<bool, 2> kLevels = {{{"single_layer", true}, {"", false}}};
  domain::TorRequest out;
  if (!object.has("schema"))
    object.problem("schema", "is missing: large-model-schema, normal-schema or null");
  out.schema = read_choice(object, "schema", kSchemas).value_or(TorSchema::none);
  out.network = read_choice(object, "nslb_version", kVersions).value_or(TorNetwork::nslb_1);
  if (read_choice(object, "tor_level", kLevels).value_or(false))
    out.network = TorNetwork::single_layer;
  out.shared_tors = object.integer("shared_tor_num", 1, 2).value_or(out.shared_tors);
  out.leaf_nodes = object.integer("tor_count", 1, limits::kMaxGangPods).value_or(0);
  read_level_into(object, "level", levels, roles.leaf);
  read_states(object, out.states);
  return out;
}

}  // namespace

std::optional<int> read_level(const JsonObject& object, std::string_view key,
                              const std::vector<std::string>& levels) {
  const auto name = object.text(key);
  if (!name) return std::nullopt;
  const auto at = std::find(levels.begin(), levels.end(), *name);
  if (at != levels.end()) return static_cast<int>(at - levels.begin());
  object.problem(key, unknown_name("level", *name, {levels.begin(), levels.end()}));
  return std::nullopt;
}

domain::VendorJob read_vendor_keys(JsonValue value, const std::vector<std::string>& levels,
                                   JsonProblems& problems) {
  domain::VendorJob out;
  out.levels = domain::default_vendor_levels(levels);
  const JsonObject object(value, {"ascend", "tor", "nvl_domain_level", "nvl_segment"}, problems);
  if (!object) return out;
  if (const JsonValue ascend = object.find("ascend")) {
    const JsonObject keys(
        ascend,
        {"server", "node_chips", "sp_block", "ra_block", "super_pod_size", "reserve_nodes",
         "affinity", "ub_memory", "super_pod_level", "rack_level", "ub_level"},
        problems);
    if (keys) out.ascend = read_ascend(keys, levels, out.levels);
  }
  if (const JsonValue tor = object.find("tor")) {
    const JsonObject keys(
        tor,
        {"schema", "nslb_version", "tor_level", "shared_tor_num", "tor_count", "level", "states"},
        problems);
    if (keys) out.tor = read_tor(keys, levels, out.levels);
  }
  read_level_into(object, "nvl_domain_level", levels, out.levels.nvlink);
  const auto segment = object.integer("nvl_segment", 1, limits::kMaxGangPods);
  if (object.has("nvl_domain_level") || object.has("nvl_segment"))
    out.nvlink = domain::NvlinkRequest{segment};
  return out;
}

}  // namespace chipweave::codec

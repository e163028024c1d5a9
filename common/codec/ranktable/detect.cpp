#include "common/codec/ranktable/detect.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <variant>

#include "common/base/text.hpp"

namespace chipweave::codec::ranktable {
namespace {

using domain::ranktable::Dialect;
using Kind = JsonTree::Kind;

bool has(JsonValue object, std::string_view name) { return bool{object[name]}; }
bool has_any(JsonValue object, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view n) { return has(object, n); });
}

// Whether f holds for an element of the list, for its first, or for each of at least one.
template <class F>
bool any(JsonValue list, const F& f) {
  return list.is_array() && std::any_of(list.begin(), list.end(), f);
}
template <class F>
bool first_fits(JsonValue list, const F& f) {
  return list.is_array() && !list.empty() && f(*list.begin());
}
template <class F>
bool all(JsonValue list, const F& f) {
  return list.is_array() && !list.empty() && std::all_of(list.begin(), list.end(), f);
}

bool is_mindie_device(JsonValue device) { return has(device, "device_logical_id"); }

bool is_mindie_server(JsonValue server) {
  const std::string_view id = server["server_id"].text();
  return id == "coordinator" || id == "controller" || has(server, "hardware_type") ||
         any(server["device"], is_mindie_device);
}

bool is_mindie_group(JsonValue group) {
  return has_any(group, {"deploy_server", "super_pod_list"}) ||
         any(group["server_list"], is_mindie_server);
}

// Devices in the group of that id.
bool group_has_devices(JsonValue table, std::string_view id) {
  return any(table["server_group_list"], [&](JsonValue group) {
    return group["group_id"].text() == id &&
           any(group["server_list"], [](JsonValue server) { return has(server, "device"); });
  });
}

bool is_late_group(JsonValue group) {
  const std::string_view id = group["group_id"].text();
  const bool digits = !id.empty() && std::all_of(id.begin(), id.end(), is_digit);
  return digits && (id.size() > 1 || id >= "3");
}

Detected of_server_groups(JsonValue table) {
  if (any(table["server_group_list"], is_mindie_group)) return {Dialect::mindie_global};
  // Group 0 with devices is what merge-all writes: a group an instance.
  if (group_has_devices(table, "0") || group_has_devices(table, "1")) {
    return {Dialect::modelarts_global};
  }
  if (any(table["server_group_list"], is_late_group)) return {Dialect::mindie_global};
  // MindIE's tables always have a coordinator; this is one machine's part of a ModelArts table.
  if (group_has_devices(table, "2") && !any(table["server_group_list"], [](JsonValue group) {
        return group["group_id"].text() == "0";
      })) {
    return {Dialect::modelarts_global};
  }
  return {std::nullopt,
          "a server_group_list that may be ModelArts' (group 2: decode instances) or MindIE's "
          "(group 2: the first server group): choose with --dialect modelarts-global or "
          "--dialect mindie-global"};
}

bool has_leaf(JsonValue device) { return has_any(device, {"tor_ip", "tor_port"}); }

// configmap1980 adds tor_ip, data_version and pod_name next to `device`. The first device of a
// server represents all, because tables are large.
bool is_1980(JsonValue table) {
  return has(table, "data_version") || any(table["server_list"], [](JsonValue server) {
           return (has(server, "pod_name") && has(server, "device")) ||
                  first_fits(server["device"], has_leaf);
         });
}

bool is_1980_group(JsonValue group) {
  return any(group["instance_list"],
             [](JsonValue instance) { return any(instance["devices"], has_leaf); });
}

Detected of_server_list(JsonValue table) {
  if (has(table, "tor_count")) {
    return {std::nullopt,
            "the leaf switches (ToR) of MindCluster's Volcano plugin, not a rank table; it orders "
            "ranks: chipweave ranktable order TABLE --network THIS_FILE"};
  }
  if (has(table, "group_id")) return {Dialect::modelarts_local};
  if (has(table, "cluster_list")) return {Dialect::mindspore_cluster};
  const std::string_view version = table["version"].text();
  const bool known_version = version == "1.0" || version == "1.2";
  if (known_version && is_1980(table)) return {Dialect::modelarts_1980};
  const auto without_rank = [](JsonValue d) { return !has(d, "rank_id"); };
  if (known_version && !has(table, "server_count") && table["server_list"].size() == 1 &&
      all(table["server_list"],
          [&](JsonValue s) { return s["device"].size() == 1 && all(s["device"], without_rank); })) {
    return {Dialect::llm_datadist};
  }
  if (version == "1.2") return {Dialect::hccl_1_2};
  if (version == "1.0") {
    const bool llm =
        all(table["server_list"], [](JsonValue server) { return has(server, "container_ip"); });
    return {llm ? Dialect::mindie_llm : Dialect::hccl_1_0};
  }
  if (version.empty()) {
    return {std::nullopt,
            "a server_list without version, which HCCL would read as a group_list template; add "
            "\"version\": \"1.0\", or \"1.2\" with super pods"};
  }
  return {std::nullopt, concat("version \"", version.substr(0, 20),
                               "\" is unknown for a server_list; known: \"1.0\", \"1.2\"")};
}

Detected of_rank_list(JsonValue table) {
  const bool old_names = any(table["rank_list"], [](JsonValue rank) {
    return any(rank["level_list"],
               [](JsonValue level) {
                 return has_any(level, {"level", "fabric_type", "rank_addrs"}) &&
                        !has(level, "net_layer");
               }) ||
           has_any(rank, {"level", "fabric_type", "rank_addrs"});
  });
  if (old_names) return {Dialect::hccl_2_0_prerelease};
  if (table["version"].text() == "2.0") return {Dialect::hccl_2_0};
  return {std::nullopt, "a table with rank_list (dialect 2.0) must have version \"2.0\""};
}

struct Neighbour {
  std::string_view member;
  std::string_view other;  // must also be present; "": nothing else
  std::string_view what;
};
constexpr std::array<Neighbour, 3> kNeighbours = {{
    {"edge_list", "peer_list",
     "the topology file of a 2.0 rank table, not a rank table; use it with --topo-file"},
    {"endpoint_list", "", "a local communication resource of HIXL (1.3), not a rank table"},
    {"elastic_scaling_list", "", "MindIE's scaling file, not a rank table"},
}};

}  // namespace

Detected detect(const JsonTree& tree, JsonTree::Id object) {
  if (!tree.is(object, Kind::object)) {
    return {std::nullopt, "a rank table must be a JSON object"};
  }
  const JsonValue table(&tree, object);
  for (const Neighbour& each : kNeighbours) {
    if (has(table, each.member) && (each.other.empty() || has(table, each.other))) {
      return {std::nullopt, concat("this is ", each.what)};
    }
  }
  if (has(table, "rank_list")) return of_rank_list(table);
  if (has(table, "server_group_list")) return of_server_groups(table);
  if (has_any(table, {"prefill_device_list", "decode_device_list"})) {
    return {Dialect::vllm_ascend};
  }
  if (has(table, "node_list") && has(table, "collective_id")) return {Dialect::hccl_1_1};
  if (any(table["group_list"], [](JsonValue group) { return has(group, "instance_list"); })) {
    const bool of_1980 = has(table, "data_version") || any(table["group_list"], is_1980_group);
    return {of_1980 ? Dialect::modelarts_1980 : Dialect::group_list};
  }
  if (has(table, "server_list")) return of_server_list(table);
  const std::string_view version = table["version"].text();
  if (version == "1.2" && tree.child_count(object) == 1) return {Dialect::llm_datadist};
  if (table["status"].text() == "initializing") return {std::nullopt, {}, true};
  return {};
}

namespace {

constexpr int kMaxDepth = 3;

bool is_table(const JsonTree& tree, JsonTree::Id id) {
  const Detected detected = detect(tree, id);
  return detected.dialect || detected.placeholder;
}

// A string that may contain JSON; only those that start like an object are parsed.
bool holds_table(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos || text[begin] != '{') return false;
  const auto parsed = JsonTree::parse(std::string(text));
  const auto* tree = std::get_if<JsonTree>(&parsed);
  return tree != nullptr && is_table(*tree, tree->root());
}

JsonTree::Id find_table(const JsonTree& tree, JsonTree::Id object, int depth) {
  for (JsonTree::Id c = tree.first(object); c != JsonTree::kNone; c = tree.next(object, c)) {
    if (tree.is(c, JsonTree::Kind::string) && holds_table(tree.text(c))) return c;
    if (!tree.is(c, JsonTree::Kind::object)) continue;
    if (is_table(tree, c)) return c;
    const JsonTree::Id inner = depth < kMaxDepth ? find_table(tree, c, depth + 1) : JsonTree::kNone;
    if (inner != JsonTree::kNone) return inner;
  }
  return JsonTree::kNone;
}

}  // namespace

std::string find_wrapped(const JsonTree& tree, JsonTree::Id object) {
  if (!tree.is(object, JsonTree::Kind::object)) return {};
  const JsonTree::Id found = find_table(tree, object, 1);
  return found == JsonTree::kNone ? std::string() : tree.pointer(found);
}

}  // namespace chipweave::codec::ranktable

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
using Id = JsonTree::Id;
using Kind = JsonTree::Kind;

// The members of one object.
class ObjectView {
 public:
  ObjectView(const JsonTree& tree, Id object) : tree_(tree), object_(object) {}

  bool has(std::string_view name) const { return tree_.member(object_, name) != JsonTree::kNone; }
  bool has_any(std::initializer_list<std::string_view> names) const {
    return std::any_of(names.begin(), names.end(), [&](std::string_view n) { return has(n); });
  }
  std::string_view text(std::string_view name) const {
    const Id member = tree_.member(object_, name);
    return member == JsonTree::kNone ? std::string_view{} : tree_.text(member);
  }
  std::size_t size(std::string_view list) const {
    const Id array = tree_.member(object_, list);
    return array == JsonTree::kNone ? 0 : tree_.child_count(array);
  }
  // Whether f holds for an element of the list, for its first, or for each.
  template <class F>
  bool any(std::string_view list, F&& f) const {
    const Id array = tree_.member(object_, list);
    if (array == JsonTree::kNone || !tree_.is(array, Kind::array)) return false;
    for (Id e = tree_.first(array); e != JsonTree::kNone; e = tree_.next(array, e)) {
      if (f(ObjectView(tree_, e))) return true;
    }
    return false;
  }
  template <class F>
  bool first(std::string_view list, F&& f) const {
    bool out = false;
    any(list, [&](const ObjectView& e) {
      out = f(e);
      return true;
    });
    return out;
  }
  template <class F>
  bool each(std::string_view list, F&& f) const {
    return any(list, [](const ObjectView&) { return true; }) &&
           !any(list, [&](const ObjectView& e) { return !f(e); });
  }
  // Nested lists: whether f holds for an element of an element's list.
  template <class F>
  bool any_in(std::string_view outer, std::string_view inner, F&& f) const {
    return any(outer, [&](const ObjectView& e) { return e.any(inner, f); });
  }

 private:
  const JsonTree& tree_;
  Id object_;
};

bool is_mindie_device(const ObjectView& device) { return device.has("device_logical_id"); }

bool is_mindie_server(const ObjectView& server) {
  const std::string_view id = server.text("server_id");
  return id == "coordinator" || id == "controller" || server.has("hardware_type") ||
         server.any("device", is_mindie_device);
}

bool is_mindie_group(const ObjectView& group) {
  return group.has_any({"deploy_server", "super_pod_list"}) ||
         group.any("server_list", is_mindie_server);
}

// Devices in the group of that id.
bool group_has_devices(const ObjectView& table, std::string_view id) {
  return table.any("server_group_list", [&](const ObjectView& group) {
    return group.text("group_id") == id &&
           group.any("server_list", [](const ObjectView& server) { return server.has("device"); });
  });
}

bool is_late_group(const ObjectView& group) {
  const std::string_view id = group.text("group_id");
  const bool digits = !id.empty() && std::all_of(id.begin(), id.end(), is_digit);
  return digits && (id.size() > 1 || id >= "3");
}

Detected of_server_groups(const ObjectView& table) {
  if (table.any("server_group_list", is_mindie_group)) return {Dialect::mindie_global, {}, false};
  // Group 0 with devices is what merge-all writes: a group an instance.
  if (group_has_devices(table, "0") || group_has_devices(table, "1")) {
    return {Dialect::modelarts_global, {}, false};
  }
  if (table.any("server_group_list", is_late_group)) return {Dialect::mindie_global, {}, false};
  // MindIE's tables always have a coordinator; this is one machine's part of a ModelArts table.
  if (group_has_devices(table, "2") && !table.any("server_group_list", [](const ObjectView& group) {
        return group.text("group_id") == "0";
      })) {
    return {Dialect::modelarts_global, {}, false};
  }
  return {std::nullopt,
          "a server_group_list that may be ModelArts' (group 2: decode instances) or MindIE's "
          "(group 2: the first server group): choose with --dialect modelarts-global or "
          "--dialect mindie-global",
          false};
}

// configmap1980 adds tor_ip, data_version and pod_name next to `device`. The first device of a
// server represents all, because tables are large.
bool is_1980(const ObjectView& table) {
  const auto has_leaf = [](const ObjectView& device) {
    return device.has_any({"tor_ip", "tor_port"});
  };
  return table.has("data_version") || table.any("server_list", [&](const ObjectView& server) {
    return (server.has("pod_name") && server.has("device")) || server.first("device", has_leaf);
  });
}

bool is_1980_group(const ObjectView& group) {
  return group.any_in("instance_list", "devices", [](const ObjectView& device) {
    return device.has_any({"tor_ip", "tor_port"});
  });
}

Detected of_server_list(const ObjectView& table) {
  if (table.has("tor_count")) {
    return {std::nullopt,
            "the leaf switches (ToR) of MindCluster's Volcano plugin, not a rank table; it orders "
            "ranks: chipweave ranktable order TABLE --network THIS_FILE",
            false};
  }
  if (table.has("group_id")) return {Dialect::modelarts_local, {}, false};
  if (table.has("cluster_list")) return {Dialect::mindspore_cluster, {}, false};
  const std::string_view version = table.text("version");
  const bool known_version = version == "1.0" || version == "1.2";
  if (known_version && is_1980(table)) return {Dialect::modelarts_1980, {}, false};
  const auto without_rank = [](const ObjectView& d) { return !d.has("rank_id"); };
  if (known_version && !table.has("server_count") && table.size("server_list") == 1 &&
      table.each("server_list", [&](const ObjectView& s) {
        return s.size("device") == 1 && s.each("device", without_rank);
      })) {
    return {Dialect::llm_datadist, {}, false};
  }
  if (version == "1.2") return {Dialect::hccl_1_2, {}, false};
  if (version == "1.0") {
    const bool llm = table.each(
        "server_list", [](const ObjectView& server) { return server.has("container_ip"); });
    return {llm ? Dialect::mindie_llm : Dialect::hccl_1_0, {}, false};
  }
  if (version.empty()) {
    return {std::nullopt,
            "a server_list without version, which HCCL would read as a group_list template; add "
            "\"version\": \"1.0\", or \"1.2\" with super pods",
            false};
  }
  return {std::nullopt,
          concat("version \"", version.substr(0, 20),
                 "\" is unknown for a server_list; known: \"1.0\", \"1.2\""),
          false};
}

Detected of_rank_list(const ObjectView& table) {
  const bool old_names = table.any("rank_list", [](const ObjectView& rank) {
    return rank.any("level_list", [](const ObjectView& level) {
      return level.has_any({"level", "fabric_type", "rank_addrs"}) && !level.has("net_layer");
    }) || rank.has_any({"level", "fabric_type", "rank_addrs"});
  });
  if (old_names) return {Dialect::hccl_2_0_prerelease, {}, false};
  if (table.text("version") == "2.0") return {Dialect::hccl_2_0, {}, false};
  return {std::nullopt, "a table with rank_list (dialect 2.0) must have version \"2.0\"", false};
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
    return {std::nullopt, "a rank table must be a JSON object", false};
  }
  const ObjectView table(tree, object);
  for (const Neighbour& each : kNeighbours) {
    if (table.has(each.member) && (each.other.empty() || table.has(each.other))) {
      return {std::nullopt, concat("this is ", each.what), false};
    }
  }
  if (table.has("rank_list")) return of_rank_list(table);
  if (table.has("server_group_list")) return of_server_groups(table);
  if (table.has_any({"prefill_device_list", "decode_device_list"})) {
    return {Dialect::vllm_ascend, {}, false};
  }
  if (table.has("node_list") && table.has("collective_id")) return {Dialect::hccl_1_1, {}, false};
  if (table.any("group_list", [](const ObjectView& group) { return group.has("instance_list"); })) {
    const bool of_1980 = table.has("data_version") || table.any("group_list", is_1980_group);
    return {of_1980 ? Dialect::modelarts_1980 : Dialect::group_list, {}, false};
  }
  if (table.has("server_list")) return of_server_list(table);
  const std::string_view version = table.text("version");
  if (version == "1.2" && tree.child_count(object) == 1) return {Dialect::llm_datadist, {}, false};
  if (table.text("status") == "initializing") return {std::nullopt, {}, true};
  return {std::nullopt, {}, false};
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

#include "common/codec/ranktable/lint/topology_file.hpp"

#include <map>
#include <set>
#include <utility>
#include <variant>

#include "common/base/text.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/json/json_value.hpp"
#include "common/codec/ranktable/rank_table.hpp"
#include "common/codec/ranktable/schema/table_reader.hpp"

namespace chipweave::codec::ranktable {

using domain::ranktable::NetLayer;

namespace {

// The content of the file.
struct Topology {
  std::set<std::int64_t> peers;
  // Ports of a peer that edges name.
  std::map<std::int64_t, std::set<std::string, std::less<>>> ports;
};

Number number_at(JsonValue object, std::string_view name) {
  bool zeros = false;
  return strict_number(object[name].text(), zeros);
}

Error wrong(const std::string& what) {
  return make_error(Errc::invalid_argument, "the topology file " + what);
}

// The list and the number that counts it.
Result<JsonValue> counted_list(JsonValue file, const char* list, const char* count) {
  const JsonValue out = file[list];
  if (!out.is_array()) return wrong(std::string("has no list ") + list);
  const auto stated = number_at(file, count);
  if (stated && *stated != static_cast<std::int64_t>(out.size())) {
    return wrong(concat("says ", count, " ", *stated, ", ", list, " has ", out.size()));
  }
  return out;
}

void add_ports(JsonValue edge, const char* peer, const char* ports, Topology& out) {
  const auto id = number_at(edge, peer);
  if (!id || !edge[ports].is_array()) return;
  for (const JsonValue port : edge[ports]) out.ports[*id].emplace(port.text());
}

Result<Topology> read_topology(JsonValue file) {
  const auto peers = counted_list(file, "peer_list", "peer_count");
  if (!peers) return peers.error();
  const auto edges = counted_list(file, "edge_list", "edge_count");
  if (!edges) return edges.error();
  Topology out;
  std::size_t index = 0;
  for (const JsonValue peer : *peers) {
    const auto id = number_at(peer, "local_id");
    if (!id) return wrong(concat("has a peer without local_id: /peer_list/", index));
    out.peers.insert(*id);
    ++index;
  }
  for (const JsonValue edge : *edges) {
    add_ports(edge, "local_a", "local_a_ports", out);
    add_ports(edge, "local_b", "local_b_ports", out);
  }
  return out;
}

void check_ports(const Topology& topology, const LayeredRank& rank, const NetLayer& layer,
                 Findings& out) {
  const auto known = topology.ports.find(*rank.local_id);
  for (const auto& address : layer.addresses) {
    if (!address.ports) continue;
    for (const std::string& port : *address.ports) {
      if (port == "d2h") continue;  // over the host
      if (known != topology.ports.end() && known->second.count(port) > 0) continue;
      out.push_back({"RT109", Severity::error, Place{address.source, "ports"}, std::nullopt,
                     concat("port \"", port, "\" of local_id ", *rank.local_id,
                            " is not in any edge of the topology file")});
    }
  }
}

}  // namespace

Result<Findings> check_topology_file(const RankTable& table, std::string text) {
  const auto parsed = JsonTree::parse(std::move(text));
  if (const auto* mistake = std::get_if<JsonSyntaxError>(&parsed)) {
    return to_error(*mistake);
  }
  const auto topology = read_topology(JsonValue(std::get<JsonTree>(parsed)));
  if (!topology) return topology.error();
  Findings out;
  for (const LayeredRank& rank : table.ranks) {
    if (!rank.local_id) continue;
    if (topology->peers.count(*rank.local_id) == 0) {
      out.push_back({"RT109", Severity::error, Place{rank.source, "local_id"}, std::nullopt,
                     concat("local_id ", *rank.local_id, " is not a peer in the topology file")});
      continue;
    }
    for (const NetLayer& layer : rank.layers) {
      // The file describes layer 0; further ones leave the host.
      if (layer.layer == 0) check_ports(*topology, rank, layer, out);
    }
  }
  return out;
}

}  // namespace chipweave::codec::ranktable

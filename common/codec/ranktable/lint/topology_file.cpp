#include "common/codec/ranktable/lint/topology_file.hpp"

#include <map>
#include <set>
#include <utility>
#include <variant>

#include "common/base/text.hpp"
#include "common/codec/json/json_tree.hpp"
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

Number number_at(const JsonTree& tree, JsonTree::Id object, std::string_view name) {
  const JsonTree::Id member = tree.member(object, name);
  bool zeros = false;
  if (member == JsonTree::kNone) return std::nullopt;
  return strict_number(tree.text(member), zeros);
}

Error wrong(const std::string& what) {
  return make_error(Errc::invalid_argument, "the topology file " + what);
}

// The list and the number that counts it.
Result<JsonTree::Id> counted_list(const JsonTree& tree, const char* list, const char* count) {
  const JsonTree::Id id = tree.member(tree.root(), list);
  if (id == JsonTree::kNone || !tree.is(id, JsonTree::Kind::array)) {
    return wrong(std::string("has no list ") + list);
  }
  const auto said = number_at(tree, tree.root(), count);
  const std::size_t there = tree.child_count(id);
  if (said && *said != static_cast<std::int64_t>(there)) {
    return wrong(concat("says ", count, " ", *said, ", ", list, " has ", there));
  }
  return id;
}

void add_ports(const JsonTree& tree, JsonTree::Id edge, const char* peer, const char* ports,
               Topology& out) {
  const auto id = number_at(tree, edge, peer);
  const JsonTree::Id list = tree.member(edge, ports);
  if (!id || list == JsonTree::kNone || !tree.is(list, JsonTree::Kind::array)) return;
  for (JsonTree::Id p = tree.first(list); p != JsonTree::kNone; p = tree.next(list, p)) {
    out.ports[*id].insert(std::string(tree.text(p)));
  }
}

Result<Topology> read_topology(const JsonTree& tree) {
  const auto peers = counted_list(tree, "peer_list", "peer_count");
  if (!peers) return peers.error();
  const auto edges = counted_list(tree, "edge_list", "edge_count");
  if (!edges) return edges.error();
  Topology out;
  for (JsonTree::Id p = tree.first(*peers); p != JsonTree::kNone; p = tree.next(*peers, p)) {
    const auto id = number_at(tree, p, "local_id");
    if (!id) return wrong("has a peer without local_id: " + tree.pointer(p));
    out.peers.insert(*id);
  }
  for (JsonTree::Id e = tree.first(*edges); e != JsonTree::kNone; e = tree.next(*edges, e)) {
    add_ports(tree, e, "local_a", "local_a_ports", out);
    add_ports(tree, e, "local_b", "local_b_ports", out);
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
    return make_error(Errc::invalid_argument, mistake->message);
  }
  const auto topology = read_topology(std::get<JsonTree>(parsed));
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

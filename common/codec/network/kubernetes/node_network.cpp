#include "common/codec/network/kubernetes/node_network.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "common/base/limits.hpp"
#include "common/codec/json/json_object.hpp"
#include "common/codec/network/objects.hpp"

namespace chipweave::codec {
namespace {

// The index of each NIC on its node, which is its rail.
std::map<std::string, std::size_t> nic_places(JsonValue topology) {
  std::map<std::string, std::size_t> out;
  std::size_t i = 0;
  for (const JsonValue nic : list_at(topology, "nics")) {
    if (i == limits::kMaxNetworkRails) break;
    out.emplace(text_or_empty(nic["name"]), i++);
  }
  return out;
}

// Ports whose neighbour announces a name or at least an address.
Result<void> read_neighbours(JsonValue list, const std::map<std::string, std::size_t>& nics,
                             domain::NodeNetwork& to) {
  for (const JsonValue neighbour : list) {
    std::string leaf = text_or_empty(neighbour["system"]);
    if (leaf.empty()) leaf = text_or_empty(neighbour["address"]);
    if (leaf.empty()) continue;
    const auto place = nics.find(text_or_empty(neighbour["nic"]));
    const std::size_t rail = place == nics.end() ? to.rails.size() : place->second;
    if (rail >= limits::kMaxNetworkRails)
      return too_many(limits::kMaxNetworkRails, "ports with a neighbour");
    if (rail >= to.rails.size()) to.rails.resize(rail + 1);
    to.leaves.push_back(leaf);
    to.rails[rail] = std::move(leaf);
  }
  std::sort(to.leaves.begin(), to.leaves.end());
  to.leaves.erase(std::unique(to.leaves.begin(), to.leaves.end()), to.leaves.end());
  return {};
}

}  // namespace

Result<domain::NodeNetwork> read_node_network(JsonValue status) {
  domain::NodeNetwork out;
  const JsonValue neighbours = status["neighbours"];
  if (neighbours && !neighbours.is_array())
    return network_error("status.neighbours must be a list");
  const JsonValue topology = status["topology"];
  if (auto read = read_neighbours(neighbours, nic_places(topology), out); !read)
    return std::move(read).error();
  const JsonValue clique = status["facts"]["fabric.clique"];
  out.interconnect = text_or_empty(clique ? clique : topology["super_pod"]["id"]);
  return out;
}

Result<domain::NodeNetwork> read_node_network(std::string_view status) {
  constexpr std::array<std::string_view, 3> kKeys = {"\"neighbours\"", "\"fabric.clique\"",
                                                     "\"super_pod\""};
  const bool any = std::any_of(kKeys.begin(), kKeys.end(), [&](std::string_view key) {
    return status.find(key) != std::string_view::npos;
  });
  if (!any) return domain::NodeNetwork();
  if (status.size() > limits::kMaxKubeObjectBytes)
    return make_error(Errc::limit_exceeded, "the status is too large");
  const auto document = parse_json(status);
  if (!document) return document.error();
  return read_node_network(JsonValue(*document));
}

}  // namespace chipweave::codec

// ibnetdiscover: a graph of ports. A unit is the set of hosts on the same set of leaves; walking
// the ports up would make a wrong tree of a rail fabric, where every leaf sees every spine.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/limits.hpp"
#include "common/base/natural_order.hpp"
#include "common/codec/network/formats.hpp"
#include "common/codec/network/formats/ibnet_text.hpp"
#include "common/codec/network/table/table_builder.hpp"
#include "common/codec/text/lines.hpp"
#include "common/codec/text/quoting.hpp"
#include "common/codec/text/warnings.hpp"
#include "common/domain/network/leaf_units.hpp"

namespace chipweave::codec {
namespace {

// mlx5_10 port 1 → ("mlx5_", 10, 1): the order of rails.
using Rail = std::tuple<std::string, unsigned, unsigned>;

Rail rail_of(const IbFabric::Port& port) {
  const std::size_t digits = port.hca.find_last_not_of("0123456789") + 1;
  unsigned number = 0;
  std::from_chars(port.hca.data() + digits, port.hca.data() + port.hca.size(), number);
  return {port.hca.substr(0, digits), number, port.port};
}

struct Host {
  std::map<Rail, std::size_t> leaf_by_rail;
  bool ambiguous = false;  // two machines have this name
  domain::LeafSet leaves() const {
    std::set<std::size_t> out;
    for (const auto& [unused, leaf] : leaf_by_rail) out.insert(leaf);
    return {out.begin(), out.end()};
  }
};

struct NaturalLess {
  bool operator()(const std::string& a, const std::string& b) const { return natural_less(a, b); }
};
using Hosts = std::map<std::string, Host, NaturalLess>;

Hosts hosts_of(const IbFabric& fabric, Warnings& warnings) {
  Hosts out;
  std::size_t unnamed = 0;
  for (const IbFabric::Port& port : fabric.ports) {
    if (port.host.empty()) {
      ++unnamed;
      continue;
    }
    Host& host = out[port.host];
    const auto [known, fresh] = host.leaf_by_rail.emplace(rail_of(port), port.leaf);
    if (!fresh) host.ambiguous = true;
  }
  if (unnamed > 0) {
    warnings.add(std::to_string(unnamed) +
                 " ports do not name their host (\"HOST mlx5_0\") and are left out");
  }
  for (auto host = out.begin(); host != out.end();) {
    if (!host->second.ambiguous) {
      ++host;
      continue;
    }
    warnings.add("several hosts are named " + quoted_excerpt(host->first) +
                 " and are left out; give each its own name");
    host = out.erase(host);
  }
  return out;
}

// Rails have the same index on every host, also where some of a host's are missing.
std::map<Rail, std::size_t> rail_indices(const Hosts& hosts) {
  std::map<Rail, std::size_t> out;
  for (const auto& [unused, host] : hosts) {
    for (const auto& [rail, leaf] : host.leaf_by_rail) out.emplace(rail, 0);
  }
  std::string prefix;
  std::size_t next = 0;
  for (auto& [rail, index] : out) {
    if (std::get<0>(rail) != prefix) next = 0;
    prefix = std::get<0>(rail);
    index = next++;
  }
  return out;
}

std::vector<std::string> rails_of(const Host& host, const IbFabric& fabric,
                                  const std::map<Rail, std::size_t>& indices) {
  std::vector<std::string> out;
  std::string prefix = std::get<0>(host.leaf_by_rail.begin()->first);
  std::size_t offset = 0;
  for (const auto& [rail, leaf] : host.leaf_by_rail) {
    // Interfaces of another driver follow.
    if (std::get<0>(rail) != prefix) offset = out.size();
    prefix = std::get<0>(rail);
    const std::size_t index = offset + indices.at(rail);
    if (index >= limits::kMaxNetworkRails) break;
    if (out.size() <= index) out.resize(index + 1);
    out[index] = fabric.switches[leaf];
  }
  return out;
}

void warn_of_unassigned(const std::vector<std::string>& outside, Warnings& warnings) {
  if (outside.empty()) return;
  warnings.add(std::to_string(outside.size()) +
               " hosts are connected to few of the leaves of a unit and belong to none: " +
               quoted_list(outside));
}

bool looks_like_ibnetdiscover(std::string_view text) {
  constexpr std::size_t kBeginning = 65536;
  LineReader lines(text.substr(0, kBeginning));
  for (std::string_view line; lines.next(line);) {
    if ((line.starts_with("Switch\t") || line.starts_with("Ca\t")) &&
        (line.find("\"S-") != std::string_view::npos ||
         line.find("\"H-") != std::string_view::npos)) {
      return true;
    }
  }
  return false;
}

Result<domain::NetworkTable> import_ibnetdiscover(std::string_view text, Warnings& warnings) {
  const Result<IbFabric> fabric = read_ib_fabric(text);
  if (!fabric) return fabric.error();
  const Hosts hosts = hosts_of(*fabric, warnings);
  if (hosts.empty()) {
    return not_this_format(kIbnetdiscoverFormat.name,
                           "port of a host with its name ([1] \"H-…\" # \"HOST mlx5_0\")");
  }
  if (hosts.size() > limits::kMaxNetworkNodes) {
    return too_many(limits::kMaxNetworkNodes, "hosts; split the file");
  }
  for (const auto& [name, host] : hosts) {
    if (host.leaf_by_rail.size() <= limits::kMaxNetworkRails) continue;
    return too_many(limits::kMaxNetworkRails, "ports").in("host " + quoted_excerpt(name));
  }
  std::vector<domain::LeafSet> sets;
  for (const auto& [unused, host] : hosts) sets.push_back(host.leaves());
  const domain::LeafUnits units(sets);
  const std::map<Rail, std::size_t> indices = rail_indices(hosts);
  NetworkTableBuilder builder({"unit"});
  std::vector<std::string> outside;
  for (const auto& [name, host] : hosts) {
    const std::optional<domain::LeafSet> unit = units.of(host.leaves());
    if (!unit) outside.push_back(name);
    domain::NetworkNode node{
        name, {unit ? domain::unit_name(*unit, fabric->switches) : ""}, {}, {}};
    node.rails = rails_of(host, *fabric, indices);
    builder.add(std::move(node), "");
  }
  warn_of_unassigned(outside, warnings);
  return std::move(builder).take();
}

}  // namespace

const TextFormat kIbnetdiscoverFormat{"ibnetdiscover", looks_like_ibnetdiscover,
                                      import_ibnetdiscover};

}  // namespace chipweave::codec

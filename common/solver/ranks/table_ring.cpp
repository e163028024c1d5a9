#include "common/solver/ranks/table_ring.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "common/domain/network/host_names.hpp"
#include "common/solver/ranks/rank_order.hpp"

namespace chipweave::solver {

using domain::NetworkNode;
using domain::NetworkTable;
using domain::ranktable::Device;
using domain::ranktable::RankTable;
using domain::ranktable::Server;
using domain::ranktable::Text;

namespace {

// The nodes of a network, by the names of servers.
class NodeNames {
 public:
  explicit NodeNames(const NetworkTable* network) : network_(network) {
    if (network == nullptr) return;
    std::vector<std::string_view> names;
    names.reserve(network->nodes.size());
    for (const NetworkNode& node : network->nodes) names.push_back(node.name);
    names_ = domain::HostNames(names);
  }
  // ambiguous: what the server's name could be.
  const NetworkNode* find(const Server& server, std::vector<std::string>& ambiguous) const {
    for (const Text* name :
         {&server.server_id, &server.host_ip, &server.server_ip, &server.pod_name}) {
      const auto at = *name ? names_.exact(**name) : std::nullopt;
      if (at) return &network_->nodes[*at];
    }
    for (const Text* name : {&server.server_id, &server.host_ip, &server.server_ip}) {
      if (!*name) continue;
      const domain::HostNames::Match match = names_.find(**name);
      if (match.index) return &network_->nodes[*match.index];
      if (!match.candidates.empty()) ambiguous.push_back(match.ambiguity(**name));
    }
    return nullptr;
  }

 private:
  const NetworkTable* network_;
  domain::HostNames names_;
};

void add_hosts(const RankTable& table, const NetworkTable* network, std::vector<Server> servers,
               TableRing& out) {
  const NodeNames names(network);
  const auto pods = domain::ranktable::super_pods_by_server(table);
  if (!pods.empty()) out.levels.push_back({"super-pod", 0, 0});
  if (network != nullptr) {
    for (const std::string& level : network->levels) out.levels.push_back({level, 0, 0});
  }
  for (Server& server : servers) {
    RingHost& host = out.hosts.emplace_back();
    host.name = server.server_id.value_or("");
    if (!pods.empty()) {
      const auto pod = pods.find(host.name);
      host.path.emplace_back(pod == pods.end() ? std::string_view() : pod->second);
    }
    const NetworkNode* node = names.find(server, out.ambiguous);
    if (node != nullptr) {
      host.path.insert(host.path.end(), node->path.begin(), node->path.end());
    } else if (network != nullptr) {
      out.unknown.push_back(host.name);
    }
    host.path.resize(out.levels.size());
    host.devices = std::move(server.devices);
  }
  out.levels.push_back({"server", 0, 0});
}

// The host of each rank, by rank.
std::vector<std::pair<std::int64_t, std::size_t>> ranks_of(const std::vector<RingHost>& hosts) {
  std::vector<std::pair<std::int64_t, std::size_t>> out;
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    for (const Device& device : hosts[h].devices) out.emplace_back(*device.rank_id, h);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<RankPath> paths_of(const std::vector<RingHost>& hosts) {
  std::vector<RankPath> out;
  out.reserve(hosts.size());
  for (const RingHost& host : hosts) out.push_back(host.path);
  return out;
}

// The coarsest level at which two hosts are in different domains; unknown elements are one domain.
std::size_t level_between(const RingHost& a, const RingHost& b) {
  for (std::size_t level = 0; level < a.path.size(); ++level) {
    if (a.path[level] != b.path[level]) return level;
    if (a.path[level].empty()) break;
  }
  return a.path.size();
}

void count_crossings(TableRing& ring) {
  const auto ranks = ranks_of(ring.hosts);
  std::vector<RankPath> by_rank;
  by_rank.reserve(ranks.size());
  for (const auto& rank : ranks) by_rank.push_back(ring.hosts[rank.second].path);
  const std::size_t network_levels = ring.levels.size() - 1;
  const auto now = ring_crossings(network_levels, by_rank, as_given(ranks.size()));
  const auto paths = paths_of(ring.hosts);
  ring.order = depth_first(network_levels, paths);
  const auto least = ring_crossings(network_levels, paths, ring.order);
  for (std::size_t level = 0; level < network_levels; ++level) {
    ring.levels[level].crossings = now[level];
    ring.levels[level].least = least[level];
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto& [rank, host] = ranks[i];
    const auto& [next_rank, next_host] = ranks[(i + 1) % ranks.size()];
    if (host == next_host) continue;
    ring.steps.push_back(
        {level_between(ring.hosts[host], ring.hosts[next_host]), rank, next_rank, host, next_host});
  }
  ring.levels.back().crossings = ring.steps.size();
  ring.levels.back().least = ring.hosts.size() > 1 ? ring.hosts.size() : 0;
}

}  // namespace

std::size_t TableRing::leaf_surplus() const {
  if (levels.size() < 2) return 0;
  const RingLevel& leaf = levels[levels.size() - 2];
  return leaf.crossings - leaf.least;
}

Result<TableRing> table_ring(const RankTable& table, const NetworkTable* network,
                             const domain::ranktable::JobChoice& choice) {
  auto job = domain::ranktable::flatten(table, choice);
  if (!job) return std::move(job).error();
  TableRing out;
  add_hosts(table, network, std::move(job->servers), out);
  count_crossings(out);
  return out;
}

std::vector<std::pair<domain::ranktable::Source, std::int64_t>> best_ranks(const TableRing& ring) {
  std::vector<std::pair<domain::ranktable::Source, std::int64_t>> out;
  std::int64_t next = 0;
  for (const std::size_t host : ring.order) {
    std::vector<const Device*> devices;
    for (const Device& device : ring.hosts[host].devices) devices.push_back(&device);
    std::stable_sort(devices.begin(), devices.end(),
                     [](const Device* a, const Device* b) { return a->device_id < b->device_id; });
    for (const Device* device : devices) out.emplace_back(device->source, next++);
  }
  return out;
}

}  // namespace chipweave::solver

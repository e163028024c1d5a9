// Ranks: 0..N-1, each once, servers together, lists in order.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/domain/ranktable/lint/checks/check.hpp"

namespace chipweave::domain::ranktable {
namespace {

// Servers whose devices are numbered together.
struct Scope {
  Source source;
  std::vector<const Server*> servers;
  bool restarts = false;  // MindIE: each server entry may begin at 0
};

std::vector<Scope> scopes_of(const RankTable& table) {
  std::vector<Scope> out;
  for (const Group& group : table.groups) {
    if (table.dialect == Dialect::modelarts_global) {
      for (const Server& server : group.servers) out.push_back({server.source, {&server}, false});
      continue;
    }
    Scope scope{group.source, {}, table.dialect == Dialect::mindie_global};
    for (const Server& server : group.servers) scope.servers.push_back(&server);
    out.push_back(std::move(scope));
  }
  return out;
}

// A rank of a device, or in the lab's template that of its instance.
struct Ranked {
  std::int64_t rank;
  Source source;
  const Server* server;
};

bool is_lower(const Ranked& a, const Ranked& b) { return a.rank < b.rank; }

std::vector<Ranked> ranks_of(const Server& server) {
  std::vector<Ranked> out;
  if (server.rank_id) return {{*server.rank_id, server.source, &server}};
  for (const Device& device : server.devices) {
    if (device.rank_id) out.push_back({*device.rank_id, device.source, &server});
  }
  return out;
}

void check_numbers(Check& check, const Scope& scope, const std::vector<Ranked>& ranks,
                   Severity severity) {
  std::vector<const Ranked*> first(ranks.size(), nullptr);
  for (const Ranked& each : ranks) {
    const Place place{each.source, "rank_id"};
    if (each.rank < 0 || static_cast<std::size_t>(each.rank) >= ranks.size()) {
      check.add("RT020", severity, place,
                concat("rank_id must be 0 to ", ranks.size() - 1, ", got ", each.rank));
      continue;
    }
    const Ranked*& slot = first[static_cast<std::size_t>(each.rank)];
    if (slot == nullptr) {
      slot = &each;
      continue;
    }
    check.add("RT020", severity, place, concat("rank_id ", each.rank, " is repeated"),
              Place{slot->source, "rank_id"});
    if (scope.restarts) return;  // one finding for each group
  }
}

// 0, 1, 2, … in the order of the text: nothing can be wrong.
bool is_plain(const Scope& scope) {
  std::int64_t next = 0;
  for (const Server* server : scope.servers) {
    if (server->rank_id) return false;
    for (const Device& device : server->devices) {
      if (device.rank_id != next++) return false;
    }
  }
  return true;
}

// Inside one entry even MindIE's ranks are unique, wherever they begin.
void check_own_numbers(Check& check, std::vector<Ranked> own) {
  std::stable_sort(own.begin(), own.end(), is_lower);
  for (std::size_t i = 1; i < own.size(); ++i) {
    if (own[i].rank != own[i - 1].rank) continue;
    check.error("RT020", {own[i].source, "rank_id"},
                concat("rank_id ", own[i].rank, " is repeated in one server"),
                Place{own[i - 1].source, "rank_id"});
  }
}

// A server whose ranks have those of others between them.
void check_together(Check& check, const Scope& scope, std::vector<Ranked> by_rank) {
  std::stable_sort(by_rank.begin(), by_rank.end(), is_lower);
  std::unordered_map<const Server*, int> runs;
  for (std::size_t i = 0; i < by_rank.size(); ++i) {
    if (i == 0 || by_rank[i].server != by_rank[i - 1].server) ++runs[by_rank[i].server];
  }
  for (const Server* server : scope.servers) {
    const auto at = runs.find(server);
    if (at == runs.end() || at->second < 2) continue;
    check.warn("RT021", {server->source},
               concat("server ", in_quotes(server->server_id.value_or("")), " has its ranks in ",
                      at->second, " runs, interleaved with ranks of other servers"));
  }
}

void check_list_order(Check& check, const Scope& scope) {
  std::int64_t before = -1;
  bool servers_in_order = true;
  for (const Server* server : scope.servers) {
    const std::vector<Ranked> ranks = ranks_of(*server);
    if (!std::is_sorted(ranks.begin(), ranks.end(), is_lower)) {
      check.warn("RT022", {server->source, "device"},
                 "devices of server " + in_quotes(server->server_id.value_or("")) +
                     " are not listed in the order of their ranks");
    }
    if (ranks.empty() || scope.restarts) continue;
    servers_in_order = servers_in_order && ranks.front().rank > before;
    before = ranks.front().rank;
  }
  if (!servers_in_order) {
    check.warn("RT022", {scope.source, "server_list"},
               "servers are not listed in the order of their ranks");
  }
}

void check_text_order(Check& check, const Scope& scope) {
  std::vector<Ranked> by_rank;  // the lowest of each server
  for (const Server* server : scope.servers) {
    const std::vector<Ranked> ranks = ranks_of(*server);
    const auto least = std::min_element(ranks.begin(), ranks.end(), is_lower);
    if (server->server_id && least != ranks.end()) by_rank.push_back(*least);
  }
  std::stable_sort(by_rank.begin(), by_rank.end(), is_lower);
  for (std::size_t i = 1; i < by_rank.size(); ++i) {
    const Server& above = *by_rank[i - 1].server;
    const Server& server = *by_rank[i].server;
    if (*server.server_id >= *above.server_id) continue;
    check.warn("RT023", {server.source, "server_id"},
               "server " + in_quotes(*server.server_id) + " has higher ranks than " +
                   in_quotes(*above.server_id) + ", which comes later in text order",
               Place{above.source, "server_id"});
    return;
  }
}

void check_limits(Check& check) {
  constexpr std::int64_t kLlm = 511;
  constexpr std::int64_t kMotor = 2048;
  const bool llm = check.for_profile(Profile::mindie_llm);
  if (!llm && !check.for_profile(Profile::mindie_motor)) return;
  const std::int64_t max = llm ? kLlm : kMotor;
  for (const DeviceEntry& entry : check.entries) {
    if (!entry.device->rank_id || *entry.device->rank_id <= max) continue;
    check.error("RT020", {entry.device->source, "rank_id"},
                concat("rank_id must be at max ", max, " for ", to_string(check.profile), ", got ",
                       *entry.device->rank_id));
  }
}

// vLLM numbers clusters from 1 over prefill, then decode.
void check_clusters(Check& check) {
  std::vector<std::pair<Source, Number>> ids;
  for (const DeviceEntry& entry : check.entries) {
    ids.emplace_back(entry.device->source, entry.device->cluster_id);
  }
  check.expect_each_once("cluster_id", ids, 1, Severity::warning);
}

}  // namespace

void check_ranks(Check& check) {
  if (check.is(Dialect::vllm_ascend)) {
    check_clusters(check);
    return;
  }
  for (const Scope& scope : scopes_of(check.table)) {
    if (check.for_profile(Profile::mindspore)) check_text_order(check, scope);
    if (is_plain(scope)) continue;
    std::vector<Ranked> all;
    for (const Server* server : scope.servers) {
      const std::vector<Ranked> own = ranks_of(*server);
      all.insert(all.end(), own.begin(), own.end());
      if (scope.restarts && scope.servers.size() > 1) check_own_numbers(check, own);
    }
    check_numbers(check, scope, all,
                  scope.restarts && scope.servers.size() > 1 ? Severity::warning : Severity::error);
    if (!scope.restarts) check_together(check, scope, std::move(all));
    check_list_order(check, scope);
  }
  check_limits(check);
}

}  // namespace chipweave::domain::ranktable

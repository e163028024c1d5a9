#include "common/domain/ranktable/table.hpp"

#include <algorithm>

namespace chipweave::domain::ranktable {

std::string_view text_of(const Extras& extras, std::string_view name) {
  const auto at = std::find_if(extras.begin(), extras.end(),
                               [&](const Extra& extra) { return extra.name == name; });
  if (at == extras.end()) return {};
  const std::string_view json = at->json;
  const bool plain = json.size() >= 2 && json.front() == '"' && json.find('\\') == json.npos;
  return plain ? json.substr(1, json.size() - 2) : std::string_view{};
}

RankTable completed_table(Dialect dialect) {
  RankTable out;
  out.dialect = dialect;
  out.version = "1.0";
  out.status = "completed";
  return out;
}

std::unordered_map<std::string_view, std::string_view> super_pods_by_server(
    const RankTable& table) {
  std::unordered_map<std::string_view, std::string_view> out;
  const auto add = [&](const std::optional<std::vector<ServerSet>>& sets) {
    if (!sets) return;
    for (const ServerSet& set : *sets) {
      for (const ServerName& name : set.servers) {
        if (set.id && name.server_id) out.emplace(*name.server_id, *set.id);
      }
    }
  };
  add(table.super_pods);
  for (const Group& group : table.groups) add(group.super_pods);
  return out;
}

std::vector<const Server*> RankTable::servers() const {
  std::vector<const Server*> out;
  for (const Group& group : groups) {
    for (const Server& server : group.servers) out.push_back(&server);
  }
  return out;
}

std::size_t RankTable::rank_count() const {
  std::size_t out = ranks.size();
  for (const Server* server : servers()) out += server->devices.size();
  return out;
}

}  // namespace chipweave::domain::ranktable

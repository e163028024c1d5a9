// Servers: their names, and hosts that have two.
#include <array>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/foreign_text.hpp"
#include "common/base/ip_address.hpp"
#include "common/base/text.hpp"
#include "common/domain/ranktable/lint/checks/check.hpp"

namespace chipweave::domain::ranktable {
namespace {

constexpr std::size_t kMaxServerIdBytes = 64;

// Pods on one host share its address. Several hosts under one name, such as 127.0.0.1, are one
// mistake of whatever wrote the table: one finding for each name.
void check_mindie_names(Check& check) {
  struct Named {
    std::vector<const Server*> servers;
    std::set<std::string_view> addresses;
  };
  std::unordered_map<std::string_view, Named> names;
  for (const Server* server : check.servers) {
    if (!server->server_id || server->server_id->empty()) continue;
    Named& named = names[*server->server_id];
    named.servers.push_back(server);
    if (server->server_ip) named.addresses.insert(*server->server_ip);
  }
  for (const Server* server : check.servers) {  // in the order of the text
    if (!server->server_id) continue;
    const auto at = names.find(*server->server_id);
    if (at == names.end() || at->second.servers.size() < 2) continue;
    const Named& named = at->second;
    if (server != named.servers[1]) continue;
    const std::string many =
        named.addresses.size() > 1
            ? concat(" is that of ", named.servers.size(), " servers with ", named.addresses.size(),
                     " different server_ip")
            : concat(" is repeated", named.servers.size() > 2
                                         ? concat(", in ", named.servers.size(), " servers")
                                         : std::string());
    check.warn("RT012", {server->source, "server_id"},
               "server_id " + in_quotes(*server->server_id) + many,
               Place{named.servers[0]->source, "server_id"});
  }
}

void check_names(Check& check) {
  std::unordered_map<std::string_view, const Server*> seen;
  seen.reserve(check.servers.size());
  const bool may_repeat = check.lists_hosts_repeatedly() || check.is(Dialect::modelarts_local);
  const bool mindie = check.is(Dialect::mindie_global);
  for (const Server* server : check.servers) {
    if (!server->server_id) continue;
    const std::string& id = *server->server_id;
    const Place place{server->source, "server_id"};
    if (id.empty()) {
      check.error("RT012", place, "server_id must not be empty");
      continue;
    }
    if (id.size() > kMaxServerIdBytes) {
      check.error("RT012", place,
                  concat("server_id has ", id.size(), " characters; the maximum is 64"));
    }
    if (!may_repeat && !mindie) {
      const auto [at, is_new] = seen.emplace(id, server);
      if (is_new) continue;
      check.error("RT012", place, "server_id " + in_quotes(id) + " is repeated",
                  Place{at->second->source, "server_id"});
    }
  }
  if (mindie) check_mindie_names(check);
}

// The members that a consumer takes for addresses.
struct AddressMember {
  Profile profile;
  Text Server::*member;
  std::string_view name;
  Severity severity;
};
constexpr std::array<AddressMember, 6> kAddressMembers = {{
    {Profile::mindie_llm, &Server::server_id, "server_id", Severity::error},
    {Profile::mindie_llm, &Server::container_ip, "container_ip", Severity::error},
    {Profile::mindie_motor, &Server::server_id, "server_id", Severity::error},
    {Profile::mindie_motor, &Server::server_ip, "server_ip", Severity::error},
    {Profile::modelarts, &Server::server_ip, "server_ip", Severity::warning},
    {Profile::vllm_ascend, &Server::server_id, "server_id", Severity::error},
}};

// Coordinator and controller of MindIE may be named by these words.
bool is_role_word(const Check& check, const Text& id) {
  return check.for_profile(Profile::mindie_motor) && (id == "coordinator" || id == "controller");
}

void check_named_by_address(Check& check) {
  for (const Server* server : check.servers) {
    for (const AddressMember& each : kAddressMembers) {
      const Text& text = server->*each.member;
      if (!check.for_profile(each.profile) || !text || parse_ip(*text)) continue;
      if (each.member == &Server::server_id && is_role_word(check, text)) continue;
      check.add("RT013", each.severity, {server->source, each.name},
                concat(each.name, " ", in_quotes(*text), " is not an IP address"));
    }
    if (check.for_profile(Profile::mindie_llm) && !check.is(Dialect::mindie_llm) &&
        !server->container_ip) {
      check.error("RT005", {server->source}, "member \"container_ip\" is missing");
    }
  }
}

// 172.17.0.0/16 is the default bridge of container engines on every host.
bool is_bridge_address(const Text& text) {
  const auto ip = text ? parse_ip(*text) : std::nullopt;
  return ip && !ip->v6 && ip->bytes[0] == 172 && ip->bytes[1] == 17;
}

void check_hosts(Check& check) {
  std::unordered_map<std::string_view, const Server*> by_host;
  const Server* bridge = nullptr;
  for (const Server* server : check.servers) {
    if (server->host_ip && !server->host_ip->empty()) {
      const auto [at, is_new] = by_host.emplace(*server->host_ip, server);
      if (!is_new && at->second->server_id != server->server_id) {
        check.warn("RT071", {server->source, "host_ip"},
                   "host_ip " + in_quotes(*server->host_ip) + " is also the address of server " +
                       in_quotes(at->second->server_id.value_or("")),
                   Place{at->second->source, "host_ip"});
      }
    }
    if (!is_bridge_address(server->server_id)) continue;
    if (bridge == nullptr) {
      bridge = server;
    } else if (bridge->server_id != server->server_id) {
      check.warn("RT071", {server->source, "server_id"},
                 "server_id " + in_quotes(*server->server_id) + " and " +
                     in_quotes(*bridge->server_id) +
                     " are addresses of a container bridge and may be one host",
                 Place{bridge->source, "server_id"});
      return;
    }
  }
}

}  // namespace

void check_servers(Check& check) {
  check_names(check);
  check_named_by_address(check);
  check_hosts(check);
}

}  // namespace chipweave::domain::ranktable

#include "common/domain/ranktable/lint.hpp"

#include <algorithm>
#include <unordered_set>

#include "common/base/text.hpp"
#include "common/domain/ranktable/lint/check.hpp"

namespace chipweave::domain::ranktable {

bool Check::for_hccl() const {
  switch (profile) {
    case Profile::hccl_910a:
    case Profile::hccl_a2:
    case Profile::hccl_a3:
    case Profile::torch_npu:
    case Profile::mindspore:
      return true;
    default:
      return false;
  }
}

std::vector<Seat> Check::seats() const {
  std::vector<Seat> out;
  out.reserve(table.rank_count());
  for (const Group& group : table.groups) {
    for (const Server& server : group.servers) {
      for (const Device& device : server.devices) out.push_back({&group, &server, &device});
    }
  }
  return out;
}

std::vector<const Server*> Check::servers() const {
  std::vector<const Server*> out;
  for (const Group& group : table.groups) {
    for (const Server& server : group.servers) out.push_back(&server);
  }
  return out;
}

std::size_t Check::machines() const {
  std::unordered_set<std::string_view> ids;
  for (const Server* server : servers()) {
    if (server->server_id && !server->devices.empty()) ids.insert(*server->server_id);
  }
  return ids.size();
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 64;
  return '"' + with_dots(text, kMost) + '"';
}

Findings lint(const RankTable& table, Profile profile) {
  Findings out;
  Check check(table, profile, out);
  check_table(check);
  if (table.dialect == Dialect::hccl_2_0) {
    check_layered(check);
  } else if (table.dialect != Dialect::hccl_2_0_prerelease) {
    check_servers(check);
    check_ranks(check);
    check_devices(check);
    check_addresses(check);
    check_ports(check);
    check_super_pods(check);
    check_modelarts(check);
  }
  return out;
}

}  // namespace chipweave::domain::ranktable

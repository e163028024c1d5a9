#include "common/domain/ranktable/diff.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/text.hpp"

namespace chipweave::domain::ranktable {
namespace {

constexpr const char* kAbsent = "(none)";

std::string text_of(const Text& text) { return text.value_or(kAbsent); }
std::string text_of(const RareText& text) { return text ? *text : std::string(kAbsent); }
std::string text_of(const Number& number) { return number ? std::to_string(*number) : kAbsent; }

// The objects of two lists by key, each with its counterpart; null: only the other list has it. Of
// objects with one key the last counts.
template <class T, class KeyOf>
auto paired(const std::vector<T>& a, const std::vector<T>& b, const KeyOf& key_of) {
  std::map<decltype(key_of(a.front())), std::pair<const T*, const T*>> out;
  for (const T& each : a) out[key_of(each)].first = &each;
  for (const T& each : b) out[key_of(each)].second = &each;
  return out;
}

class Differences {
 public:
  template <class T>
  void compare(const std::string& where, const char* what, const T& a, const T& b) {
    if (a != b) out_.push_back({where, what, text_of(a), text_of(b), false, false});
  }
  void only(const std::string& where, bool in_a) {
    out_.push_back({where, {}, {}, {}, in_a, !in_a});
  }
  // Extra members, for tables of one dialect.
  void compare_kept(const std::string& where, const Extras& a, const Extras& b) {
    for (const auto& [name, pair] : paired(a, b, [](const Extra& extra) { return extra.name; })) {
      const auto json = [](const Extra* extra) {
        return extra == nullptr ? std::string(kAbsent) : extra->json;
      };
      if (json(pair.first) == json(pair.second)) continue;
      out_.push_back({where, name, json(pair.first), json(pair.second), false, false});
    }
  }
  std::vector<Difference> take() { return std::move(out_); }

 private:
  std::vector<Difference> out_;
};

// A device of a table and its place.
struct Entry {
  std::string host;  // with its group
  const Device* device;
  std::size_t position;  // in its group
};
using Entries = std::map<std::string, Entry>;

bool by_group(const RankTable& table) {
  return table.groups.size() > 1 || (table.groups.size() == 1 && table.groups.front().id);
}

std::string group_name(const Group& group) {
  return group.id ? "group " + *group.id + ", " : std::string();
}

std::string server_name(const Server& server) { return "server " + text_of(server.server_id); }

Entries entries_of(const RankTable& table, bool with_group) {
  Entries out;
  std::map<std::string, std::size_t> repeats;
  for (const Group& group : table.groups) {
    std::size_t position = 0;
    for (const Server& server : group.servers) {
      const std::string prefix =
          (with_group ? group_name(group) : std::string()) + server_name(server);
      for (const Device& device : server.devices) {
        std::string key = prefix + ", device " + text_of(device.device_id);
        const std::size_t before = repeats[key]++;
        if (before > 0) key += concat(", entry ", before + 1);
        out.emplace(std::move(key), Entry{prefix, &device, position++});
      }
    }
  }
  return out;
}

// The entries that the other table does not have: a whole server once, else each device.
void only_here(const Entries& here, const Entries& there, bool in_a, Differences& out) {
  std::set<std::string_view> known;
  for (const auto& each : there) known.insert(each.second.host);
  std::string_view reported;
  for (const auto& [where, entry] : here) {
    if (there.count(where) > 0) continue;
    if (known.count(entry.host) > 0) {
      out.only(where, in_a);
    } else if (entry.host != reported) {
      reported = entry.host;
      out.only(entry.host, in_a);
    }
  }
}

void compare_devices(const std::string& where, const Entry& a, const Entry& b, bool same_dialect,
                     bool position_counts, Differences& out) {
  const Device& x = *a.device;
  const Device& y = *b.device;
  out.compare(where, "rank_id", x.rank_id, y.rank_id);
  out.compare(where, "device_ip", x.device_ip, y.device_ip);
  if (!same_dialect) return;
  out.compare(where, "super_device_id", x.super_device_id, y.super_device_id);
  out.compare(where, "device_logical_id", x.logical_id, y.logical_id);
  out.compare(where, "cluster_id", x.cluster_id, y.cluster_id);
  out.compare(where, "super_pod_id", x.super_pod_id, y.super_pod_id);
  out.compare(where, "device_port", x.device_port, y.device_port);
  out.compare(where, "host_port", x.host_port, y.host_port);
  out.compare(where, "device_vnic_port", x.vnic_port, y.vnic_port);
  out.compare(where, "backup_device_ip", x.backup_ip, y.backup_ip);
  out.compare(where, "backup_device_port", x.backup_port, y.backup_port);
  if (position_counts) {
    out.compare(where, "position in its list", Number(static_cast<std::int64_t>(a.position)),
                Number(static_cast<std::int64_t>(b.position)));
  }
  out.compare_kept(where, x.extras, y.extras);
}

void compare_servers(const RankTable& a, const RankTable& b, Differences& out) {
  std::map<std::string, std::vector<const Server*>> others;
  for (const Group& group : b.groups) {
    for (const Server& server : group.servers) {
      others[group_name(group) + server_name(server)].push_back(&server);
    }
  }
  std::map<std::string, std::size_t> next;
  for (const Group& group : a.groups) {
    for (const Server& x : group.servers) {
      const std::string where = group_name(group) + server_name(x);
      const auto at = others.find(where);
      const std::size_t index = next[where]++;
      if (at == others.end() || index >= at->second.size()) {
        if (x.devices.empty()) out.only(where, true);
        continue;
      }
      const Server& y = *at->second[index];
      out.compare(where, "host_ip", x.host_ip, y.host_ip);
      out.compare(where, "container_ip", x.container_ip, y.container_ip);
      out.compare(where, "server_ip", x.server_ip, y.server_ip);
      out.compare(where, "pod_ip", x.pod_ip, y.pod_ip);
      out.compare(where, "pod_name", x.pod_name, y.pod_name);
      out.compare_kept(where, x.extras, y.extras);
    }
  }
  for (const auto& [where, servers] : others) {
    if (servers.size() > next[where] && servers.back()->devices.empty()) out.only(where, false);
  }
}

using Sets = std::optional<std::vector<ServerSet>>;

void compare_sets(const Sets& a, const Sets& b, const char* what, Differences& out) {
  std::map<std::string, std::pair<Text, Text>> by_server;
  const auto add = [&](const Sets& sets, Text std::pair<Text, Text>::*side) {
    for (const ServerSet& set : sets.value_or(std::vector<ServerSet>())) {
      for (const ServerName& name : set.servers) {
        by_server[text_of(name.server_id)].*side = text_of(set.id);
      }
    }
  };
  add(a, &std::pair<Text, Text>::first);
  add(b, &std::pair<Text, Text>::second);
  for (const auto& [name, ids] : by_server) {
    out.compare("server " + name, what, ids.first, ids.second);
  }
}

std::string addresses_of(const NetLayer& layer) {
  std::string out;
  for (const RankAddress& address : layer.addresses) {
    out += (out.empty() ? "" : " ") + text_of(address.address);
    for (const std::string& port : address.ports.value_or(std::vector<std::string>())) {
      out += "@" + port;
    }
    if (address.plane_id) out += "#" + *address.plane_id;
  }
  return out;
}

void compare_layers(const std::string& where, const LayeredRank& a, const LayeredRank& b,
                    Differences& out) {
  const auto number_of = [](const NetLayer& layer) { return layer.layer.value_or(-1); };
  for (const auto& [number, pair] : paired(a.layers, b.layers, number_of)) {
    const std::string at = concat(where, ", layer ", number);
    if (pair.first == nullptr || pair.second == nullptr) {
      out.only(at, pair.first != nullptr);
      continue;
    }
    out.compare(at, "net_instance_id", pair.first->instance_id, pair.second->instance_id);
    out.compare(at, "net_type", pair.first->type, pair.second->type);
    out.compare(at, "addresses", Text(addresses_of(*pair.first)), Text(addresses_of(*pair.second)));
  }
}

void compare_layered(const RankTable& a, const RankTable& b, Differences& out) {
  const auto number_of = [](const LayeredRank& rank) { return rank.rank_id.value_or(-1); };
  for (const auto& [number, pair] : paired(a.ranks, b.ranks, number_of)) {
    const std::string where = concat("rank ", number);
    if (pair.first == nullptr || pair.second == nullptr) {
      out.only(where, pair.first != nullptr);
      continue;
    }
    out.compare(where, "local_id", pair.first->local_id, pair.second->local_id);
    out.compare(where, "device_id", pair.first->device_id, pair.second->device_id);
    out.compare(where, "replaced_local_id", pair.first->replaced_local_id,
                pair.second->replaced_local_id);
    out.compare(where, "device_port", pair.first->device_port, pair.second->device_port);
    out.compare(where, "host_port", pair.first->host_port, pair.second->host_port);
    compare_layers(where, *pair.first, *pair.second, out);
    out.compare_kept(where, pair.first->extras, pair.second->extras);
  }
}

}  // namespace

std::vector<Difference> diff(const RankTable& a, const RankTable& b) {
  Differences out;
  const bool same = a.dialect == b.dialect;
  out.compare("the table", "status", a.status, b.status);
  if (same) {
    out.compare("the table", "version", a.version, b.version);
    out.compare_kept("the table", a.extras, b.extras);
    compare_servers(a, b, out);
    compare_sets(a.super_pods, b.super_pods, "super_pod_id", out);
    compare_sets(a.clusters, b.clusters, "cluster_id", out);
    compare_layered(a, b, out);
  }
  const bool grouped = by_group(a) && by_group(b);
  const bool position_counts = same && a.dialect == Dialect::vllm_ascend;
  const Entries x = entries_of(a, grouped);
  const Entries y = entries_of(b, grouped);
  only_here(x, y, true, out);
  for (const auto& [where, entry] : x) {
    const auto other = y.find(where);
    if (other != y.end()) {
      compare_devices(where, entry, other->second, same, position_counts, out);
    }
  }
  only_here(y, x, false, out);
  return out.take();
}

}  // namespace chipweave::domain::ranktable

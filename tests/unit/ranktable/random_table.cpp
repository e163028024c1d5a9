#include "tests/unit/ranktable/random_table.hpp"

#include "common/domain/ranktable/sdid.hpp"

namespace chipweave::test {

using namespace domain::ranktable;  // NOLINT: a file about that namespace only

namespace {

class Maker {
 public:
  Maker(Dialect dialect, std::mt19937& random) : dialect_(dialect), random_(random) {}

  RankTable make() {
    RankTable out;
    out.dialect = dialect_;
    out.status = "completed";
    out.version = version();
    switch (dialect_) {
      case Dialect::hccl_2_0:
        add_layered(out);
        break;
      case Dialect::modelarts_global:
        add_modelarts(out);
        break;
      case Dialect::mindie_global:
        add_mindie(out);
        break;
      case Dialect::vllm_ascend:
        add_vllm(out);
        break;
      case Dialect::group_list:
        add_template(out);
        break;
      default:
        add_servers(out);
        break;
    }
    out.extras = extras(dialect_ == Dialect::group_list ? "group_list" : "status");
    if (dialect_ == Dialect::hccl_1_1) {
      const bool first = !out.extras.empty() && out.extras.front().after.empty();
      out.extras.insert(out.extras.begin() + (first ? 1 : 0), {"status", "collective_id", "\"c\""});
    }
    return out;
  }

 private:
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool maybe() { return below(2) == 0; }

  Text version() const {
    switch (dialect_) {
      case Dialect::group_list:
        return std::nullopt;
      case Dialect::hccl_1_1:
        return "1.1";
      case Dialect::hccl_1_2:
      case Dialect::vllm_ascend:
        return "1.2";
      case Dialect::hccl_2_0:
        return "2.0";
      default:
        return "1.0";
    }
  }

  // After a member that is always present, or first.
  Extras extras(const char* after) {
    Extras out;
    if (below(3) == 0) out.push_back({"", "x_first", R"({"a":[1,2,{}],"b":"\"\\"})"});
    if (below(3) == 0) out.push_back({after, "x_next", "null"});
    return out;
  }

  std::string ip() {
    const int n = next_ip_++;
    return "10.20." + std::to_string(n / 250) + "." + std::to_string(n % 250 + 1);
  }

  Device device(int id, std::int64_t rank) {
    Device out;
    out.device_id = id;
    out.device_ip = ip();
    out.rank_id = rank;
    out.extras = extras("device_id");
    return out;
  }

  Server server(int index, int devices, std::int64_t& rank) {
    Server out;
    out.server_id = "10.30.0." + std::to_string(index + 1);
    out.lists_devices = true;
    for (int d = 0; d < devices; ++d) out.devices.push_back(device(d, rank++));
    out.extras = extras(dialect_ == Dialect::hccl_1_1 ? "node_addr" : "server_id");
    return out;
  }

  ServerName name(const Server& server) { return {{}, server.server_id, {}}; }

  void add_servers(RankTable& out) {
    const bool one_device = dialect_ == Dialect::llm_datadist;
    const bool local = dialect_ == Dialect::modelarts_local;
    const int servers = one_device || local ? 1 : 1 + below(4);
    const int devices = one_device ? 1 : 1 + below(4);
    std::int64_t rank = 0;
    Group& group = out.groups.emplace_back();
    for (int s = 0; s < servers; ++s) {
      Server& made = group.servers.emplace_back(server(s, devices, rank));
      finish_server(made, s);
    }
    if (dialect_ != Dialect::llm_datadist && dialect_ != Dialect::hccl_1_1) out.count = servers;
    if (local) out.group_id = "0";
    if (dialect_ == Dialect::hccl_1_2) out.super_pods = pods(group.servers);
    if (dialect_ == Dialect::mindspore_cluster) {
      out.clusters.emplace();
      ServerSet& cluster = out.clusters->emplace_back();
      cluster.id = "c0";
      for (const Server& each : group.servers) cluster.servers.push_back(name(each));
    }
  }

  void finish_server(Server& made, int index) {
    if (dialect_ == Dialect::mindie_llm) made.container_ip = "10.40.0." + std::to_string(index + 1);
    if (dialect_ == Dialect::modelarts_local) made.server_ip = made.server_id;
    if (dialect_ == Dialect::modelarts_1980) made.pod_name = "job-worker-" + std::to_string(index);
    const bool hccl = dialect_ == Dialect::hccl_1_0 || dialect_ == Dialect::hccl_1_2;
    if (hccl && maybe()) made.host_ip = "10.50.0." + std::to_string(index + 1);
    for (Device& each : made.devices) {
      if (dialect_ == Dialect::llm_datadist) each.rank_id.reset();
      if (dialect_ == Dialect::hccl_1_2) {
        each.super_device_id = sdid_of(index, static_cast<int>(*each.device_id));
      }
      if (hccl && maybe()) each.device_port = 20000 + *each.rank_id;
      if (hccl && maybe()) each.host_port = 30000 + *each.rank_id;
    }
  }

  std::vector<ServerSet> pods(const std::vector<Server>& servers) {
    std::vector<ServerSet> out;
    for (std::size_t i = 0; i < servers.size(); ++i) {
      if (out.empty() || maybe()) out.emplace_back().id = "pod-" + std::to_string(out.size());
      out.back().servers.push_back(name(servers[i]));
    }
    return out;
  }

  Group& group(RankTable& out, const char* id) {
    Group& made = out.groups.emplace_back();
    made.id = id;
    return made;
  }

  // A coordinator, controller or scheduler.
  static void add_role(Group& group, const char* id) {
    Server& server = group.servers.emplace_back();
    server.server_id = id;
    server.server_ip = "10.60.0.1";
    group.count = 1;
  }

  void add_modelarts(RankTable& out) {
    add_role(group(out, "0"), "10.60.0.1");
    const int size = 1 + below(3);
    int host = 0;
    for (const char* id : {"1", "2"}) {
      Group& made = group(out, id);
      made.count = 1 + below(3);
      for (int i = 0; i < *made.count; ++i) {
        std::int64_t rank = 0;
        Server& instance = made.servers.emplace_back(server(host++, size, rank));
        instance.server_ip = instance.server_id;
      }
    }
  }

  void add_mindie(RankTable& out) {
    add_role(group(out, "0"), "coordinator");
    add_role(group(out, "1"), "controller");
    int host = 0;
    for (const char* id : {"2", "3"}) {
      Group& made = group(out, id);
      made.deploy_server = "0";
      made.count = 1 + below(3);
      std::int64_t rank = 0;
      for (int i = 0; i < *made.count; ++i) {
        Server& each = made.servers.emplace_back(server(host++, 2, rank));
        each.server_ip = "10.70.0." + std::to_string(host);
        std::int64_t logical = 0;
        for (Device& d : each.devices) d.logical_id = logical++;
      }
    }
  }

  void add_vllm(RankTable& out) {
    const int servers = 1 + below(4);
    out.count = servers;
    std::int64_t cluster = 1;
    out.groups.resize(2);
    Group& prefill = out.groups[0];
    Group& decode = out.groups[1];
    prefill.id = "prefill";
    decode.id = "decode";
    for (int s = 0; s < servers; ++s) {
      std::int64_t rank = 0;
      Server made = server(s, 1 + below(3), rank);
      made.extras.clear();
      for (Device& each : made.devices) {
        each.rank_id.reset();
        each.extras.clear();
      }
      (s == 0 || maybe() ? prefill : decode).servers.push_back(std::move(made));
    }
    for (Group* each : {&prefill, &decode}) {
      for (Server& made : each->servers) {
        for (Device& d : made.devices) d.cluster_id = cluster++;
      }
    }
  }

  void add_template(RankTable& out) {
    out.count = 1;
    Group& made = group(out, "hccl_world_group");
    made.count = 1 + below(3);
    made.device_count = *made.count;
    for (int i = 0; i < *made.count; ++i) {
      std::int64_t rank = 0;
      Server& instance = made.servers.emplace_back(server(i, 1, rank));
      instance.pod_name = "pod-" + std::to_string(i);
      instance.devices.front().rank_id.reset();
    }
  }

  void add_layered(RankTable& out) {
    const int ranks = 1 + below(8);
    out.count = ranks;
    for (int r = 0; r < ranks; ++r) {
      LayeredRank& rank = out.ranks.emplace_back();
      rank.rank_id = r;
      rank.local_id = r;
      rank.device_id = r;
      if (maybe()) rank.device_port = 16666;
      for (int layer = 0; layer < 2; ++layer) {
        NetLayer& made = rank.layers.emplace_back();
        made.layer = std::int64_t{layer} * 3;
        made.instance_id = layer == 0 ? "rack0" : "cluster";
        made.type = layer == 0 ? "TOPO_FILE_DESC" : "CLOS";
        RankAddress& address = made.addresses.emplace_back();
        address.type = "IPV4";
        address.address = ip();
        address.ports = std::vector<std::string>{layer == 0 ? "0/" + std::to_string(r) : "d2h"};
        address.extras = extras("addr");
      }
    }
  }

  Dialect dialect_;
  std::mt19937& random_;
  int next_ip_ = 0;
};

}  // namespace

RankTable random_table(Dialect dialect, std::mt19937& random) {
  return Maker(dialect, random).make();
}

}  // namespace chipweave::test

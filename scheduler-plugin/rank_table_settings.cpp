#include "scheduler-plugin/rank_table_settings.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/endpoint.hpp"
#include "common/base/near_names.hpp"
#include "scheduler-plugin/setting_values.hpp"

namespace chipweave::sched {
namespace {

using Values = std::vector<std::string>;

Result<void> set_rank_tables(Config& config, const Values& values) {
  const std::vector<std::string_view> known{"jobs", "mindie", "modelarts", "pd"};
  for (const std::string& name : values) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return make_error(Errc::invalid_argument, unknown_name("table", name, known));
  }
  config.rank_tables = values;
  return {};
}

Result<void> set_server_ids(Config& config, const Values& values) {
  const std::string& value = values[0];
  if (value != "host-ip" && value != "pod-uid")
    return make_error(Errc::invalid_argument, unknown_name("id", value, {"host-ip", "pod-uid"}));
  config.rank_table_pod_uids = value == "pod-uid";
  return {};
}

Result<void> set_clusterd(Config& config, const Values& values) {
  if (values[0] == "off") {
    config.clusterd.reset();
    return {};
  }
  auto endpoint = parse_endpoint(values[0], PortZero::allowed);
  if (!endpoint) return std::move(endpoint).error();
  config.clusterd = *std::move(endpoint);
  return {};
}

}  // namespace

std::vector<Setting> rank_table_settings() {
  return {
      {"rank-tables",
       "which rank tables are written into ConfigMaps: jobs (rings-config-JOB with hccl.json), "
       "mindie (global-ranktable-ID), modelarts (ranktable-JOB and torlist-JOB), "
       "pd (pd-ranktable-NAME, of prefill and decode instances)",
       true, set_rank_tables, [](const Config& c) { return c.rank_tables; }},
      {"rank-table-server-ids",
       "server_id in the tables of jobs: host-ip, where pods on one machine are one server, or "
       "pod-uid",
       false, set_server_ids,
       [](const Config& c) { return Values{c.rank_table_pod_uids ? "pod-uid" : "host-ip"}; }},
      {"clusterd",
       "HOST:PORT where MindIE subscribes to its rank table, with the gRPC services of "
       "MindCluster's ClusterD, or off",
       false, set_clusterd,
       [](const Config& c) { return Values{c.clusterd ? c.clusterd->text() : "off"}; }},
      {"clusterd-tls", "serve --clusterd with the certificate of --tls-cert", false,
       [](Config& c, const Values& v) { return set_flag(c.clusterd_tls, v[0]); },
       [](const Config& c) { return Values{show_flag(c.clusterd_tls)}; }, true},
  };
}

Result<void> check_rank_tables(const Config& config) {
  if (config.standalone && !config.rank_tables.empty())
    return make_error(Errc::invalid_argument, "--rank-tables cannot be combined with --standalone");
  if (config.clusterd_tls && config.tls_cert.empty())
    return make_error(Errc::invalid_argument, "--clusterd-tls requires --tls-cert and --tls-key");
  return {};
}

}  // namespace chipweave::sched

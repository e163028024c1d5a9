#include "cli/ranktable/route/output.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "common/base/named_text.hpp"
#include "common/base/text.hpp"
#include "common/codec/kube/base64.hpp"
#include "common/codec/ranktable/modelarts/config_map.hpp"
#include "common/codec/ranktable/modelarts/job_table.hpp"
#include "common/codec/ranktable/modelarts/route_file.hpp"
#include "common/codec/ranktable/rank_table.hpp"
#include "common/io/files.hpp"
#include "common/io/gzip.hpp"

namespace chipweave::cli {
namespace {

using domain::ranktable::Device;
using domain::ranktable::RankTable;
using domain::ranktable::Server;

Result<std::string> packed(const std::string& text) {
  Result<std::string> bytes = io::gzip(text);
  if (!bytes) return bytes;
  return codec::encode_base64(*bytes);
}

struct RouteOutput {
  std::vector<NamedText> files;  // names are below the folder
  std::vector<std::string> warnings;

  void add(std::string_view name, std::string content) {
    files.push_back({std::string(name), std::move(content)});
  }
};

void add_config_map(const RoutePlanFlags& flags, const codec::JobPods& job,
                    const std::string& prefix,
                    std::vector<std::pair<std::string, std::string>> data, RouteOutput& out) {
  const codec::ConfigMap map{
      prefix + job.job, job.ns, {{"ring-controller.cce", "ascend-1980"}}, std::move(data)};
  if (map.bytes() > codec::kMaxConfigMapBytes) {
    out.warnings.push_back(concat("ConfigMap ", map.name, " has ", map.bytes(),
                                  " bytes, and Kubernetes takes 1 MiB",
                                  (flags.compress ? "" : ": --compress makes it smaller")));
  }
  const bool json = flags.manifest == "json";
  out.add(
      map.name + (json ? ".json" : ".yaml"),
      codec::write_config_map(map, json ? codec::ManifestForm::json : codec::ManifestForm::yaml));
}

std::string digits(const domain::ranktable::Number& number) {
  return number ? std::to_string(*number) : "";
}

codec::DeviceReport report_of(const Server& server, const std::string& pod) {
  codec::DeviceReport out{pod, server.server_id.value_or(""), {}};
  for (const Device& device : server.devices) {
    using domain::ranktable::text_of;
    out.devices.push_back({digits(device.device_id), device.device_ip.value_or(""), "",
                           digits(device.rank_id), std::string(text_of(device.extras, "tor_ip")),
                           std::string(text_of(device.extras, "tor_port"))});
  }
  return out;
}

// Values of annotation ascend-rank-table: one for each pod, and for each node those of its pods.
void add_annotations(const codec::JobPods& job, const RankTable& tors, RouteOutput& out) {
  std::map<std::string, Server> nodes;
  const std::vector<Server>& servers = tors.groups.front().servers;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    const codec::JobPod& pod = job.pods[i];
    out.add("annotations/pod-" + pod.name + ".json",
            codec::write_rank_table_annotation(report_of(servers[i], pod.name)));
    if (pod.node.empty()) continue;
    Server& node = nodes[pod.node];
    node.server_id = servers[i].server_id;
    node.devices.insert(node.devices.end(), servers[i].devices.begin(), servers[i].devices.end());
  }
  for (auto& [name, server] : nodes) {
    std::sort(server.devices.begin(), server.devices.end(),
              [](const Device& a, const Device& b) { return a.device_id < b.device_id; });
    out.add("annotations/node-" + name + ".json",
            codec::write_rank_table_annotation(report_of(server, "")));
  }
}

Result<void> add_tables(const RoutePlanFlags& flags, bool switches, const codec::JobPods& job,
                        const codec::JobTables& tables, const std::string& plan, RouteOutput& out) {
  const std::string ranks = codec::ranktable::write_table(tables.ranks);
  out.add(codec::kJobStartFile, ranks);
  Result<std::string> in_map = flags.compress ? packed(ranks) : Result<std::string>(ranks);
  if (!in_map) return std::move(in_map).error();
  add_config_map(flags, job, "ranktable-",
                 {{std::string(codec::kJobStartFile), *std::move(in_map)}}, out);
  if (!switches) return {};
  const std::string tors = codec::ranktable::write_table(tables.tors);
  out.add(codec::kTorFile, tors);
  Result<std::string> tors_in_map = packed(tors);
  if (!tors_in_map) return std::move(tors_in_map).error();
  std::vector<std::pair<std::string, std::string>> data;
  data.emplace_back(codec::kTorFile, *std::move(tors_in_map));
  if (!plan.empty()) data.emplace_back(codec::kRoutePlanFile, plan);
  add_config_map(flags, job, "torlist-", std::move(data), out);
  if (codec::is_completed(tables.tors)) add_annotations(job, tables.tors, out);
  return {};
}

// For tables: the leaf of the network where devices did not report a switch.
std::vector<std::string> leaves_of(const RouteAnswer& answer) {
  std::vector<std::string> out;
  for (const solver::RoutePod& pod : answer.pods)
    out.push_back(solver::leaf_name(answer.levels.size(), pod.path));
  return out;
}

Result<void> write_output(const std::string& folder, const RouteOutput& output) {
  namespace fs = std::filesystem;
  std::error_code failed;
  fs::create_directories(fs::path(folder) / "annotations", failed);
  if (failed) {
    return make_error(Errc::unavailable, "cannot make the folder: " + failed.message())
        .in("folder " + folder);
  }
  for (const std::string_view name :
       {codec::kJobStartFile, codec::kTorFile, codec::kRoutePlanFile}) {
    const bool written = std::any_of(output.files.begin(), output.files.end(),
                                     [&](const NamedText& file) { return file.name == name; });
    if (!written) fs::remove(fs::path(folder) / name, failed);
  }
  for (const NamedText& file : output.files) {
    auto done = io::write_file_atomically((fs::path(folder) / file.name).string(), file.text);
    if (!done) return done;
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> write_plan_files(const RoutePlanFlags& flags, bool switches,
                                                  RouteInputs& inputs, const RouteAnswer& answer) {
  RouteOutput out;
  std::string plan;
  if (answer.outcome == RouteOutcome::planned) {
    plan = codec::write_route_plan(answer.plan.rank_of);
    out.add(codec::kRoutePlanFile, plan);
  }
  if (inputs.job) {
    if (inputs.network) codec::add_leaf_switches(*inputs.job, leaves_of(answer));
    const auto tables = codec::make_job_tables(*inputs.job, {flags.hyperjob, switches},
                                               inputs.previous ? &*inputs.previous : nullptr);
    if (!tables) return tables.error();
    auto done = add_tables(flags, switches, *inputs.job, *tables, plan, out);
    if (!done) return std::move(done).error();
  }
  if (auto done = write_output(flags.out, out); !done) return std::move(done).error();
  return std::move(out.warnings);
}

}  // namespace chipweave::cli

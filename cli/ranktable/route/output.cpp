#include "cli/ranktable/route/output.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "common/base/text.hpp"
#include "common/codec/kube/base64.hpp"
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

class Output {
 public:
  Output(const codec::JobPods& job, const RouteOutputOptions& options)
      : job_(job), options_(options) {}

  void add(std::string_view name, std::string content) {
    out_.files.push_back({std::string(name), std::move(content)});
  }

  void add_config_map(const std::string& prefix,
                      std::vector<std::pair<std::string, std::string>> data) {
    const codec::ConfigMap map{
        prefix + job_.job, job_.ns, {{"ring-controller.cce", "ascend-1980"}}, std::move(data)};
    if (map.bytes() > codec::kMaxConfigMapBytes) {
      out_.warnings.push_back(concat("ConfigMap ", map.name, " has ", map.bytes(),
                                     " bytes, and Kubernetes takes 1 MiB",
                                     (options_.compress ? "" : ": --compress makes it smaller")));
    }
    const bool yaml = options_.form == codec::ManifestForm::yaml;
    add(map.name + (yaml ? ".yaml" : ".json"), codec::write_config_map(map, options_.form));
  }

  RouteOutput take() { return std::move(out_); }

 private:
  const codec::JobPods& job_;
  const RouteOutputOptions& options_;
  RouteOutput out_;
};

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
void add_annotations(const codec::JobPods& job, const RankTable& tors, Output& out) {
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

Result<void> add_tables(const codec::JobPods& job, const codec::JobTables& tables,
                        const std::string& plan, const RouteOutputOptions& options, Output& out) {
  const std::string ranks = codec::ranktable::write_table(tables.ranks);
  out.add(codec::kJobStartFile, ranks);
  Result<std::string> in_map = options.compress ? packed(ranks) : Result<std::string>(ranks);
  if (!in_map) return std::move(in_map).error();
  out.add_config_map("ranktable-", {{std::string(codec::kJobStartFile), *std::move(in_map)}});
  if (!options.switches) return {};
  const std::string tors = codec::ranktable::write_table(tables.tors);
  out.add(codec::kTorFile, tors);
  Result<std::string> tors_in_map = packed(tors);
  if (!tors_in_map) return std::move(tors_in_map).error();
  std::vector<std::pair<std::string, std::string>> data;
  data.emplace_back(codec::kTorFile, *std::move(tors_in_map));
  if (!plan.empty()) data.emplace_back(codec::kRoutePlanFile, plan);
  out.add_config_map("torlist-", std::move(data));
  if (codec::is_completed(tables.tors)) add_annotations(job, tables.tors, out);
  return {};
}

}  // namespace

Result<RouteOutput> route_output(const RouteAnswer& answer, const codec::JobPods* job,
                                 const codec::JobTables* tables,
                                 const RouteOutputOptions& options) {
  const codec::JobPods none;
  Output out(job != nullptr ? *job : none, options);
  std::string plan;
  if (answer.outcome == RouteOutcome::planned) {
    plan = codec::write_route_plan(answer.plan.rank_of);
    out.add(codec::kRoutePlanFile, plan);
  }
  if (job != nullptr && tables != nullptr) {
    if (auto done = add_tables(*job, *tables, plan, options, out); !done)
      return std::move(done).error();
  }
  return out.take();
}

Result<void> write_route_output(const std::string& folder, const RouteOutput& output) {
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

}  // namespace chipweave::cli

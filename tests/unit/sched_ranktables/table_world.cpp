#include "tests/unit/sched_ranktables/table_world.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "scheduler-plugin/model/gangs/gang_mark.hpp"

namespace chipweave::sched::test {
namespace {

constexpr const char* kResource = "huawei.com/Ascend910";

std::string uid_of(const TestPod& pod) {
  return "uid-" + pod.name + (pod.annotations.contains("life") ? pod.annotations.at("life") : "");
}

}  // namespace

std::string host_ip(const std::string& node) { return "10.0.0." + node.substr(1); }

std::string device_ip(const std::string& node, int device) {
  return "192.168." + node.substr(1) + "." + std::to_string(device + 1);
}

std::string configuration(const TestPod& pod) {
  Json devices = Json::array();
  for (int i = pod.first; i < pod.first + pod.chips; ++i)
    devices.push_back({{"device_id", std::to_string(i)}, {"device_ip", device_ip(pod.node, i)}});
  return Json{{"pod_name", pod.name}, {"server_id", uid_of(pod)}, {"devices", devices}}.dump();
}

codec::KubePod kube_pod(const TestPod& pod) {
  codec::KubePod out;
  out.ns = "ns";
  out.name = pod.name;
  out.uid = uid_of(pod);
  out.node_name = pod.node;
  out.labels = {pod.labels.begin(), pod.labels.end()};
  out.annotations = {pod.annotations.begin(), pod.annotations.end()};
  if (!pod.job.empty()) out.labels["training.kubeflow.org/job-name"] = pod.job;
  if (pod.chips > 0) {
    codec::KubeContainer container;
    container.name = "main";
    container.requests[kResource] = std::to_string(pod.chips);
    out.containers.push_back(std::move(container));
  }
  if (pod.node.empty()) return out;
  out.host_ip = host_ip(pod.node);
  if (pod.pod_ip) out.pod_ip = "10.244." + pod.node.substr(1) + "." + std::to_string(pod.first + 1);
  const char* key = "ascend.kubectl.kubernetes.io/ascend-910-configuration";
  if (pod.addresses && pod.chips > 0) out.annotations.try_emplace(key, configuration(pod));
  return out;
}

std::vector<std::pair<std::string, std::string>> servers(const Json& table) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Json& server : table.at("server_list"))
    out.emplace_back(server.at("server_id"), server.at("device").at(0).at("rank_id"));
  return out;
}

TableWorld::TableWorld(RankTables::Options options) : tables(scheduler, options) {
  tables.add(*this);
}

void TableWorld::see(const TestPod& pod) {
  const codec::KubePod seen = kube_pod(pod);
  if (cluster.find({"ns", pod.name}) == nullptr) {
    PodRequest request = World::request(pod.name, pod.chips, kResource);
    request.uid = seen.uid;
    if (!pod.job.empty()) {
      GangMark mark;
      mark.framework = "trainer";
      mark.name = pod.job;
      if (pod.size > 0) mark.size = pod.size;
      mark.index = pod.index;
      request.mark = std::make_shared<const GangMark>(std::move(mark));
    }
    submit(std::move(request));
  }
  tables.pod_seen(seen);
  tables.update();
}

void TableWorld::gone(const std::string& name) {
  ASSERT_TRUE(cluster.end({"ns", name}).ok());
  tables.pod_gone("ns/" + name);
  tables.update();
}

TestPod TableWorld::member(const std::string& job, int index, int size, int chips) const {
  TestPod pod;
  pod.name = job + "-" + std::to_string(index);
  pod.job = job;
  pod.node = "n" + std::to_string(index);
  pod.chips = chips;
  pod.index = index;
  pod.size = size;
  pod.annotations["hccl/rankIndex"] = std::to_string(index);
  return pod;
}

void TableWorld::job(const std::string& name, int pods, int chips) {
  for (int i = 0; i < pods; ++i) see(member(name, i, pods, chips));
}

Json TableWorld::table(const std::string& job) const {
  const auto at = jobs.find(job);
  return at == jobs.end() ? Json::object() : Json::parse(at->second.text);
}

void TableWorld::job_table(const PublishedTable& table) { jobs[table.name] = table; }

void TableWorld::job_table_gone(const std::string& /*ns*/, const std::string& job) {
  jobs.erase(job);
}

void TableWorld::deployment_table(const PublishedTable& table) {
  deployments[table.name] = table;
  if (!table.text.empty() && (pushed.empty() || pushed.back() != table.text))
    pushed.push_back(table.text);
}

void TableWorld::deployment_table_gone(TableKind /*kind*/, const std::string& /*ns*/,
                                       const std::string& id) {
  deployments.erase(id);
}

}  // namespace chipweave::sched::test

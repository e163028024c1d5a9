// TableWorld — Ascend nodes, jobs on them, and the rank tables that come of it.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/codec/kube/pod/pod.hpp"
#include "scheduler-plugin/ranktables/rank_tables.hpp"
#include "tests/unit/sched/world.hpp"

namespace chipweave::sched::test {

using Json = nlohmann::json;

// What a pod of a test is; what is empty is left out.
struct TestPod {
  std::string name;
  std::string job;
  std::string node;  // bound to it, with the devices from `first` on
  int chips = 8;
  int first = 0;
  int index = 0;
  int size = 1;  // of its job
  bool addresses = true;
  bool pod_ip = true;
  std::map<std::string, std::string> labels{{"ring-controller.atlas", "ascend-910b"}};
  std::map<std::string, std::string> annotations{};
};

// "10.0.0.3" for "n3".
std::string host_ip(const std::string& node);
// Of the device on the node.
std::string device_ip(const std::string& node, int device);
// As MindCluster's device plugin and our scheduler write it.
std::string configuration(const TestPod& pod);
// As the API server serves it.
codec::KubePod kube_pod(const TestPod& pod);
// server_id and first rank of each server of a table.
std::vector<std::pair<std::string, std::string>> servers(const Json& table);

class TableWorld : public World, public RankTableListener {
 public:
  explicit TableWorld(RankTables::Options options = {});

  // The pod is there or has changed: the scheduler and the tables see it.
  void see(const TestPod& pod);
  void gone(const std::string& name);
  // A job of so many pods, one a node from n0 on, all bound.
  void job(const std::string& name, int pods, int chips = 8);
  TestPod member(const std::string& job, int index, int size, int chips = 8) const;

  // hccl.json of the job; an empty object: there is none.
  Json table(const std::string& job) const;
  std::string problem(const std::string& job) const { return jobs.at(job).problem; }
  const std::vector<std::string>& missing(const std::string& job) const {
    return jobs.at(job).missing;
  }
  bool complete(const std::string& job) const {
    return jobs.contains(job) && jobs.at(job).complete;
  }

  // RankTableListener
  void job_table(const PublishedTable& table) override;
  void job_table_gone(const std::string& ns, const std::string& job) override;
  void deployment_table(const PublishedTable& table) override;
  void deployment_table_gone(TableKind kind, const std::string& ns, const std::string& id) override;

  RankTables tables;
  std::map<std::string, PublishedTable> jobs;         // by name
  std::map<std::string, PublishedTable> deployments;  // by id
  // Texts of deployments in the order in which they came, without repetitions.
  std::vector<std::string> pushed;
};

}  // namespace chipweave::sched::test

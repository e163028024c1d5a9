// TablePod — what a pod says about the rank tables that it belongs to: of which job it is, whether
// that asks for one (hccl.json), on which devices it runs and under which addresses, and its part
// in an inference deployment. docs/reference/rank-tables-of-jobs.md has the labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/codec/kube/pod/pod.hpp"
#include "common/codec/ranktable/modelarts/device_report.hpp"
#include "common/domain/ranktable/assembly/member.hpp"
#include "scheduler-plugin/model/pod.hpp"

namespace chipweave::sched {

// The label that MindCluster's operator reads: any value asks for hccl.json.
inline constexpr const char* kRingControllerLabel = "ring-controller.atlas";
// Ours, label or annotation: "auto", a dialect, or "off", whatever other marks say.
inline constexpr const char* kRankTableMark = "chipweave.dev/ranktable";

// ModelArts' and CCE's: the tables of the Volcano plugin configmap1980.
inline constexpr const char* kRingControllerCceLabel = "ring-controller.cce";

// Of a pod whose job asks for the tables of configmap1980.
struct RoutePod {
  std::size_t index = 0;  // in its task
  std::string task;       // empty: it does not say
  bool cabinet = false;   // it asks for switches
  std::optional<codec::DeviceReport> report{};

  friend bool operator==(const RoutePod&, const RoutePod&) = default;
};

// Label of a pod that prefills or decodes, or is the API server of those: its part, and of what.
inline constexpr const char* kPdRoleLabel = "chipweave.dev/pd-role";
inline constexpr const char* kPdDeploymentLabel = "chipweave.dev/pd-deployment";
// Label or annotation: how many pods have its role.
inline constexpr const char* kPdPodsMark = "chipweave.dev/pd-pods";

enum class DeploymentRole {
  none,
  coordinator,  // of a MindIE deployment, as the next two
  controller,
  server,
  scheduler,  // of a deployment of prefill and decode instances, as the next two
  prefill,
  decode,
};
inline bool is_pd(DeploymentRole role) {
  return role == DeploymentRole::scheduler || role == DeploymentRole::prefill ||
         role == DeploymentRole::decode;
}
// Before the names of such deployments and of their pods where those of others are, too. No name
// begins so: none has a slash.
inline constexpr const char* kPdPrefix = "pd/";

struct TablePod {
  PodKey key;
  std::string uid;
  std::string node;  // empty: not bound
  // Its job's name; of a pod without one, its own. One that prefills or decodes is a job alone.
  std::string job;
  bool asks = false;
  // Of the table; nullopt: what the machines need.
  std::optional<domain::ranktable::Dialect> dialect{};
  int chips = 0;      // Ascend chips that it requests
  bool a950 = false;  // of that family
  // nullopt: the table of its job is hccl.json.
  std::optional<RoutePod> route{};
  // From its annotations and its status, without what only the scheduler knows.
  domain::ranktable::Member member;
  std::optional<int> planned_rank{};    // of the plan of its gang
  std::optional<int> framework_rank{};  // hccl/rankIndex
  std::string scale_out{};              // of an Ascend 950: ROCE or UBOE; empty: it does not say
  int sp_block = 0;                     // chips of a logical super pod; 0: it does not say
  std::string problem;                  // what cannot be used, in words; empty: nothing
  DeploymentRole role = DeploymentRole::none;
  std::string deployment;  // its label jobID or kPdDeploymentLabel
  int role_pods = 0;       // 0: it does not say
  // Of its deployment: modelarts_global or vllm_ascend; nullopt: it does not say.
  std::optional<domain::ranktable::Dialect> pd_dialect{};
  domain::ranktable::Text group_deploys{};        // grt-group/deploy-server
  domain::ranktable::Text server_deploys{};       // grt-server/deploy-server
  std::string framework{};                        // MindCluster's label: pytorch, mindspore …
  std::map<std::string, std::string> consumer{};  // labels that consumers select ConfigMaps by

  friend bool operator==(const TablePod&, const TablePod&) = default;
};

// nullopt: it belongs to no table, now or later; so do pods that failed or are being deleted. Cost:
// a few look-ups for other pods.
std::optional<TablePod> read_table_pod(const codec::KubePod& pod);
// The job of a pod that failed or is being deleted, if that asks for a table. nullopt: other pods.
std::optional<std::string> job_of_ended_pod(const codec::KubePod& pod);

}  // namespace chipweave::sched

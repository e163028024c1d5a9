#include "scheduler-plugin/ranktables/table_pod.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "common/codec/mindcluster/pod/job_table.hpp"
#include "common/codec/mindcluster/pod/pod_devices.hpp"
#include "common/codec/ranktable/modelarts/job_pods.hpp"

namespace chipweave::sched {
namespace {

using domain::ranktable::Dialect;

constexpr std::string_view kModelArts = "modelarts-1980";
constexpr const char* kResource950 = "huawei.com/npu";
constexpr const char* kResourceCce = "huawei.com/ascend-1980";
constexpr std::array<const char*, 3> kResources{"huawei.com/Ascend910", kResource950, kResourceCce};
constexpr std::array<const char*, 3> kConsumerLabels{"jobID", kRingControllerLabel,
                                                     kRingControllerCceLabel};

std::string_view find(const codec::StringMap& map, std::string_view key) {
  const auto at = map.find(key);
  return at == map.end() ? std::string_view() : std::string_view(at->second);
}

std::string_view mark_of(const codec::KubePod& pod, std::string_view key) {
  return codec::mindcluster::mark_of(pod.labels, pod.annotations, key);
}

DeploymentRole mindie_role_of(std::string_view app) {
  if (app == "mindie-ms-coordinator") return DeploymentRole::coordinator;
  if (app == "mindie-ms-controller") return DeploymentRole::controller;
  if (app == "mindie-ms-server") return DeploymentRole::server;
  return DeploymentRole::none;
}

void note(TablePod& to, std::string problem) {
  if (to.problem.empty()) to.problem = std::move(problem);
}

std::optional<int> number_of(const codec::KubePod& pod, std::string_view key, int most,
                             TablePod& to) {
  const std::string_view text = mark_of(pod, key);
  if (text.empty()) return std::nullopt;
  const auto number = parse_number<int>(text);
  if (number && *number >= 0 && *number <= most) return number;
  note(to, std::string(key) + " is " + in_quotes(text) + ", which is not a number from 0 to " +
               std::to_string(most));
  return std::nullopt;
}

// Volcano's plugin svc gives the pods of a Job their host names in its subdomain. On CCE another
// label asks.
bool is_in_job_of_volcano(const codec::KubePod& pod) {
  return !pod.subdomain.empty() && mark_of(pod, "volcano.sh/job-name") == pod.subdomain &&
         !codec::count_resource(pod, kResourceCce).value_or(0);
}

std::optional<Dialect> pd_dialect_of(std::string_view mark) {
  for (const Dialect one : {Dialect::modelarts_global, Dialect::vllm_ascend}) {
    if (domain::ranktable::to_string(one) == mark) return one;
  }
  return std::nullopt;
}

void read_mark(const codec::KubePod& pod, TablePod& to) {
  constexpr std::array<Dialect, 3> kDialects{Dialect::hccl_1_0, Dialect::hccl_1_2,
                                             Dialect::hccl_2_0};
  const std::string_view mark = mark_of(pod, kRankTableMark);
  if (is_pd(to.role)) {
    to.pd_dialect = pd_dialect_of(mark);
    if (!mark.empty() && !to.pd_dialect)
      note(to, std::string(kRankTableMark) + " is " + in_quotes(mark) +
                   "; known for prefill and decode: modelarts-global, vllm-ascend");
    return;
  }
  const bool of_cce = pod.labels.contains(kRingControllerCceLabel);
  if (mark.empty()) {
    to.asks = pod.labels.contains(kRingControllerLabel) || of_cce ||
              (to.chips > 0 && is_in_job_of_volcano(pod));
    if (of_cce) to.route.emplace();
    return;
  }
  if (mark == "off") return;
  to.asks = true;
  if (mark == kModelArts || (mark == "auto" && of_cce)) to.route.emplace();
  if (mark == kModelArts || mark == "auto") return;
  const auto* const found = std::find_if(kDialects.begin(), kDialects.end(), [&](Dialect one) {
    return domain::ranktable::to_string(one) == mark;
  });
  if (found != kDialects.end()) {
    to.dialect = *found;
  } else {
    note(to, std::string(kRankTableMark) + " is " + in_quotes(mark) +
                 "; known: auto, off, hccl-1.0, hccl-1.2, hccl-2.0, modelarts-1980");
  }
}

void read_chips(const codec::KubePod& pod, TablePod& to) {
  for (const char* resource : kResources) {
    const auto count = codec::count_resource(pod, resource);
    if (!count || *count <= 0) continue;
    to.chips = static_cast<int>(std::min<std::int64_t>(*count, limits::kMaxChipIndex));
    to.a950 = resource == kResource950;
  }
}

void read_role(const codec::KubePod& pod, TablePod& to) {
  constexpr std::array<std::pair<std::string_view, DeploymentRole>, 3> kRoles{{
      {"scheduler", DeploymentRole::scheduler},
      {"prefill", DeploymentRole::prefill},
      {"decode", DeploymentRole::decode},
  }};
  to.deployment = find(pod.labels, kPdDeploymentLabel);
  const std::string_view role = find(pod.labels, kPdRoleLabel);
  for (const auto& [name, of] : kRoles) {
    if (!to.deployment.empty() && name == role) to.role = of;
  }
  if (to.role != DeploymentRole::none) {
    to.role_pods = number_of(pod, kPdPodsMark, limits::kMaxGangPods, to).value_or(0);
    return;
  }
  if (!to.deployment.empty() || !role.empty())
    note(to, std::string(kPdRoleLabel) + " is " + in_quotes(role) + "; known, with " +
                 kPdDeploymentLabel + ": scheduler, prefill, decode");
  to.deployment = find(pod.labels, "jobID");
  if (!to.deployment.empty()) to.role = mindie_role_of(find(pod.labels, "app"));
}

// MindCluster's label, in any case.
void read_scale_out(const codec::KubePod& pod, TablePod& to) {
  std::string type(mark_of(pod, "scaleout-type"));
  std::transform(type.begin(), type.end(), type.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  if (type.empty() || type == "ROCE" || type == "UBOE") {
    to.scale_out = std::move(type);
  } else {
    note(to, "scaleout-type is " + in_quotes(type) + "; known: RoCE, UBoE");
  }
}

domain::ranktable::Text text_of(const codec::KubePod& pod, std::string_view key) {
  const std::string_view value = find(pod.labels, key);
  return value.empty() ? std::nullopt : std::optional(std::string(value));
}

void read_member(const codec::KubePod& pod, TablePod& to) {
  to.member.pod = pod.name;
  to.member.uid = pod.uid;
  to.member.host_ip = pod.host_ip;
  to.member.pod_ip = pod.pod_ip;
  to.member.hardware = find(pod.annotations, "mind-cluster/hardware-type");
  auto devices = codec::mindcluster::devices_of_pod(pod.annotations);
  if (!devices) return note(to, devices.error().text());
  if (!*devices) return;
  to.member.super_pod = std::move((*devices)->super_pod);
  to.member.devices = std::move((*devices)->devices);
}

void read_route(const codec::KubePod& pod, TablePod& to) {
  RoutePod& route = *to.route;
  route.task = mark_of(pod, "volcano.sh/task-spec");
  route.cabinet = find(pod.annotations, codec::kCabinet) == codec::kCabinet;
  for (const std::string_view key : codec::kSuperPodAnnotations) {
    const std::string_view id = find(pod.annotations, key);
    if (to.member.super_pod.empty() && !id.starts_with('-')) to.member.super_pod = id;
  }
  if (to.chips == 0) return;
  const auto index = codec::index_of_pod(mark_of(pod, codec::kTaskIndex), pod.name);
  if (index) {
    route.index = *index;
  } else {
    note(to, index.error().text());
  }
  auto report = codec::report_of_pod(find(pod.annotations, codec::kAscend1980Configuration),
                                     find(pod.annotations, codec::kAscendRankTable));
  if (!report) return note(to, report.error().text());
  route.report = *std::move(report);
}

bool has_ended(const codec::KubePod& pod) { return pod.ending || pod.phase == "Failed"; }

}  // namespace

std::optional<std::string> job_of_ended_pod(const codec::KubePod& pod) {
  if (!has_ended(pod)) return std::nullopt;
  TablePod marks;
  read_chips(pod, marks);
  read_role(pod, marks);
  read_mark(pod, marks);
  if (!marks.asks) return std::nullopt;
  return codec::mindcluster::job_of_pod(pod.name, pod.labels, pod.annotations);
}

std::optional<TablePod> read_table_pod(const codec::KubePod& pod) {
  if (has_ended(pod)) return std::nullopt;
  TablePod out;
  read_chips(pod, out);
  read_role(pod, out);
  read_mark(pod, out);
  if (!out.asks && out.role == DeploymentRole::none) return std::nullopt;
  out.key = {pod.ns, pod.name};
  out.uid = pod.uid;
  out.node = pod.node_name;
  out.job = is_pd(out.role) ? kPdPrefix + pod.name
                            : codec::mindcluster::job_of_pod(pod.name, pod.labels, pod.annotations);
  out.planned_rank = number_of(pod, "chipweave.dev/rank", limits::kMaxGangPods, out);
  out.framework_rank = number_of(pod, "hccl/rankIndex", limits::kMaxGangPods, out);
  out.sp_block = number_of(pod, "sp-block", limits::kMaxGangPods, out).value_or(0);
  out.framework = find(pod.labels, "framework");
  out.group_deploys = text_of(pod, "grt-group/deploy-server");
  out.server_deploys = text_of(pod, "grt-server/deploy-server");
  for (const char* key : kConsumerLabels) {
    if (auto value = text_of(pod, key)) out.consumer[key] = *std::move(value);
  }
  if (out.a950) read_scale_out(pod, out);
  read_member(pod, out);
  if (out.route) read_route(pod, out);
  return out;
}

}  // namespace chipweave::sched

#include "common/codec/ranktable/modelarts/pod_fields.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/dns_name.hpp"
#include "common/base/text.hpp"
#include "common/codec/text/quoting.hpp"

namespace chipweave::codec {
namespace {

constexpr std::string_view kJobName = "volcano.sh/job-name";
constexpr std::string_view kTaskSpec = "volcano.sh/task-spec";

// Volcano writes both; other tools often write only one.
std::string annotation_or_label(JsonValue object, std::string_view key) {
  std::string out = annotation_of(object, key);
  return out.empty() ? text_or_empty(object["metadata"]["labels"][key]) : out;
}

// Huawei's resources: huawei.com/ascend-1980, huawei.com/Ascend910, huawei.com/npu …
bool is_npu_resource(std::string_view name) {
  constexpr std::string_view kPrefix = "huawei.com/";
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  return name.starts_with("ascend") || name.starts_with("Ascend") || name == "npu";
}

bool asks_for_npu(JsonValue container) {
  for (const char* kind : {"requests", "limits"}) {
    for (const JsonValue amount : container["resources"][kind]) {
      if (is_npu_resource(amount.name()) && text_or_empty(amount) != "0") return true;
    }
  }
  return false;
}

std::string super_pod_of(JsonValue pod) {
  for (const std::string_view key : kSuperPodAnnotations) {
    std::string id = annotation_of(pod, key);
    if (!id.empty() && !id.starts_with('-')) return id;  // negative: none
  }
  return "";
}

}  // namespace

std::string annotation_of(JsonValue object, std::string_view key) {
  return text_or_empty(object["metadata"]["annotations"][key]);
}

JobPodIdentity identity_of(const NetworkObject& pod) {
  JobPodIdentity out;
  out.ns = text_or_empty(pod.value["metadata"]["namespace"]);
  out.job = annotation_or_label(pod.value, kJobName);
  out.task = annotation_or_label(pod.value, kTaskSpec);
  if (!out.task.empty() || out.job.empty()) return out;
  const std::string name = object_name(pod);
  const std::size_t end = name.rfind('-');
  if (name.starts_with(out.job + "-") && end != std::string::npos && end > out.job.size() + 1) {
    out.task = name.substr(out.job.size() + 1, end - out.job.size() - 1);
  }
  return out;
}

bool uses_npu(JsonValue pod) {
  if (!annotation_of(pod, kAscend1980Configuration).empty()) return true;
  if (!annotation_of(pod, kAscendRankTable).empty()) return true;
  const JsonValue containers = list_at(pod["spec"], "containers");
  return std::any_of(containers.begin(), containers.end(), asks_for_npu);
}

Result<JobPod> read_pod_fields(const NetworkObject& pod) {
  JobPod out;
  out.name = object_name(pod);
  if (!is_dns_subdomain(out.name)) {
    return network_error("its name " + quoted_excerpt(out.name) + " is none of a pod")
        .in(object_label(pod));
  }
  const auto index = index_of_pod(annotation_or_label(pod.value, kTaskIndex), out.name);
  if (!index) return Error(index.error()).in(object_label(pod));
  out.index = *index;
  out.node = text_or_empty(pod.value["spec"]["nodeName"]);
  if (!out.node.empty() && !is_dns_subdomain(out.node)) {
    return network_error("its node " + quoted_excerpt(out.node) + " has no name of a node")
        .in(object_label(pod));
  }
  out.host_ip = text_or_empty(pod.value["status"]["hostIP"]);
  out.super_pod = super_pod_of(pod.value);
  out.cabinet = annotation_of(pod.value, kCabinet) == kCabinet;
  auto report = report_of_pod(annotation_of(pod.value, kAscend1980Configuration),
                              annotation_of(pod.value, kAscendRankTable));
  if (!report) return std::move(report).error().in(object_label(pod));
  out.report = *std::move(report);
  return out;
}

}  // namespace chipweave::codec

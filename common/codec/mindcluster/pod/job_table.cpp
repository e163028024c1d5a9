#include "common/codec/mindcluster/pod/job_table.hpp"

#include <array>
#include <utility>

#include "common/codec/json/json_object.hpp"

namespace chipweave::codec::mindcluster {
namespace {

constexpr JsonLimits kLimits{2U << 20U, 2'000'000};
// The name that users know their job by, before that of a part of it.
constexpr std::array<const char*, 7> kJobLabels{"volcano.sh/job-name",
                                                "training.kubeflow.org/job-name",
                                                "jobset.sigs.k8s.io/jobset-name",
                                                "batch.kubernetes.io/job-name",
                                                "job-name",
                                                "deploy-name",
                                                "chipweave.dev/gang"};

std::string_view find(const StringMap& map, std::string_view key) {
  const auto at = map.find(key);
  return at == map.end() ? std::string_view() : std::string_view(at->second);
}

}  // namespace

std::string_view mark_of(const StringMap& labels, const StringMap& annotations,
                         std::string_view key) {
  const std::string_view label = find(labels, key);
  return label.empty() ? find(annotations, key) : label;
}

std::string job_of_pod(const std::string& pod, const StringMap& labels,
                       const StringMap& annotations) {
  for (const char* key : kJobLabels) {
    if (const auto name = mark_of(labels, annotations, key); !name.empty())
      return std::string(name);
  }
  return pod;
}

Result<std::string> status_of_table(std::string_view table) {
  const auto tree = parse_json(table, kLimits);
  if (!tree) return tree.error();
  JsonProblems problems;
  const auto object = JsonObject::tolerant(JsonValue(*tree), problems);
  std::string status = object.text_or_empty("status");
  if (problems.any()) return problems.error();
  return status;
}

}  // namespace chipweave::codec::mindcluster

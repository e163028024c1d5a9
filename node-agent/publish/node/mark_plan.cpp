#include "node-agent/publish/node/mark_plan.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "common/base/text.hpp"

namespace chipweave::agent {
namespace {

using Keys = std::set<std::string, std::less<>>;

constexpr std::string_view kLabels = "labels=";
constexpr std::string_view kAnnotations = "annotations=";
constexpr std::size_t kMostOwned = 256;

struct Owned {
  Keys labels;
  Keys annotations;
};

void read_keys(std::string_view list, bool (*may_own)(std::string_view), Keys& to) {
  while (!list.empty() && to.size() < kMostOwned) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view key = list.substr(0, comma);
    if (may_own(key)) to.emplace(key);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

// "labels=a,b;annotations=c"; what cannot be understood owns nothing.
Owned read_owned(std::string_view text) {
  Owned out;
  const std::size_t end = std::min(text.find(';'), text.size());
  std::string_view labels = text.substr(0, end);
  std::string_view annotations = text.substr(std::min(end + 1, text.size()));
  if (!labels.starts_with(kLabels) || !annotations.starts_with(kAnnotations)) return out;
  labels.remove_prefix(kLabels.size());
  annotations.remove_prefix(kAnnotations.size());
  read_keys(labels, may_own_label, out.labels);
  read_keys(annotations, may_own_annotation, out.annotations);
  return out;
}

std::string joined(const Keys& keys) {
  std::string out;
  for (const std::string& key : keys) out += (out.empty() ? "" : ",") + key;
  return out;
}

std::string write_owned(const Owned& owned) {
  if (owned.labels.empty() && owned.annotations.empty()) return "";
  return std::string(kLabels) + joined(owned.labels) + ";" + std::string(kAnnotations) +
         joined(owned.annotations);
}

// Those of one kind; returns the keys that are ours afterwards.
Keys plan(const char* kind, const codec::StringMap& there, const codec::StringMap& wanted,
          const Keys& ours, codec::StringChanges& changes, std::vector<std::string>& foreign) {
  constexpr std::size_t kMostShown = 60;
  Keys keep;
  for (const auto& [key, value] : wanted) {
    const auto found = there.find(key);
    const bool own = found == there.end() || ours.contains(key);
    if (own) {
      keep.insert(key);
      if (found == there.end() || found->second != value) changes[key] = value;
    } else if (found->second != value) {
      foreign.push_back(std::string(kind) + " " + key + " (" +
                        with_dots(found->second, kMostShown) + ")");
    }
  }
  for (const std::string& key : ours) {
    if (!wanted.contains(key) && there.contains(key)) changes[key] = std::nullopt;
  }
  return keep;
}

}  // namespace

bool may_own_label(std::string_view key) {
  constexpr std::array<std::string_view, 4> kKeys = {"accelerator", "servertype",
                                                     "mind-cluster/npu-chip-memory",
                                                     "node.kubernetes.io/npu.chip.name"};
  constexpr std::array<std::string_view, 5> kPrefixes = {"chipweave.dev/", "nvidia.com/gpu.",
                                                         "nvidia.com/cuda.", "nvidia.com/mig.",
                                                         "metax-tech.com/gpu."};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end() ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return key.starts_with(prefix); });
}

bool may_own_annotation(std::string_view key) {
  constexpr std::array<std::string_view, 5> kKeys = {"baseDeviceInfos", "superPodID", "serverIndex",
                                                     "serverType", "rackID"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

MarkPlan plan_marks(const codec::KubeNodeMarks& node, const NodeMarks& wanted,
                    const codec::StringMap& done) {
  MarkPlan out;
  const auto listed = node.annotations.find(kAgentKeysAnnotation);
  const std::string before = listed == node.annotations.end() ? "" : listed->second;
  const Owned ours = read_owned(before);
  Owned after;
  after.labels =
      plan("label", node.labels, wanted.labels, ours.labels, out.changes.labels, out.foreign);
  after.annotations = plan("annotation", node.annotations, wanted.annotations, ours.annotations,
                           out.changes.annotations, out.foreign);
  for (const auto& [key, value] : done) {
    const auto found = node.annotations.find(key);
    if (found != node.annotations.end() && found->second == value)
      out.changes.annotations[key] = std::nullopt;
  }
  const std::string list = write_owned(after);
  if (list != before) {
    out.changes.annotations[kAgentKeysAnnotation] =
        list.empty() ? std::nullopt : std::optional(list);
  }
  return out;
}

}  // namespace chipweave::agent

#include "node-agent/publish/node/metadata_plan.hpp"

#include <algorithm>
#include <set>

#include "common/base/text.hpp"

namespace chipweave::agent {
namespace {

using Keys = std::set<std::string, std::less<>>;

constexpr std::string_view kLabels = "labels=";
constexpr std::string_view kAnnotations = "annotations=";
constexpr std::size_t kMaxOwned = 256;

struct Owned {
  Keys labels;
  Keys annotations;
};

void read_keys(std::string_view list, bool (*may_own)(std::string_view), Keys& to) {
  while (!list.empty() && to.size() < kMaxOwned) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view key = list.substr(0, comma);
    if (may_own(key)) to.emplace(key);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

// "labels=a,b;annotations=c"; a malformed list owns nothing.
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

std::string write_owned(const Owned& owned) {
  if (owned.labels.empty() && owned.annotations.empty()) return "";
  return std::string(kLabels) + joined(owned.labels, ",") + ";" + std::string(kAnnotations) +
         joined(owned.annotations, ",");
}

// The changes of one kind; returns the keys that the agent owns afterwards.
Keys plan(const char* kind, const codec::StringMap& there, const codec::StringMap& wanted,
          const Keys& ours, codec::StringChanges& changes, std::vector<std::string>& foreign) {
  constexpr std::size_t kMaxShown = 60;
  Keys keep;
  for (const auto& [key, value] : wanted) {
    const auto found = there.find(key);
    const bool own = found == there.end() || ours.contains(key);
    if (own) {
      keep.insert(key);
      if (found == there.end() || found->second != value) changes[key] = value;
    } else if (found->second != value) {
      foreign.push_back(std::string(kind) + " " + key + " (" + with_dots(found->second, kMaxShown) +
                        ")");
    }
  }
  for (const std::string& key : ours) {
    if (!wanted.contains(key) && there.contains(key)) changes[key] = std::nullopt;
  }
  return keep;
}

}  // namespace

MetadataPlan plan_metadata(const codec::KubeNodeMetadata& node, const NodeMetadata& wanted,
                           const codec::StringMap& done) {
  MetadataPlan out;
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

#include "scheduler-plugin/model/gangs/gang_mark.hpp"

#include <utility>

#include "common/base/foreign_text.hpp"
#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched {
namespace gangs {
namespace {

std::string_view value_of(const std::map<std::string, std::string>& map, const char* key) {
  const auto found = map.find(key);
  return found == map.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace

std::string_view PodMarks::label(const char* key) const { return value_of(pod_.labels, key); }

std::string_view PodMarks::annotation(const char* key) const {
  return value_of(pod_.annotations, key);
}

std::string_view PodMarks::label_or_annotation(const char* key) const {
  const std::string_view of_label = label(key);
  return of_label.empty() ? annotation(key) : of_label;
}

std::optional<int> PodMarks::number(const char* key, int least, std::string& problem) const {
  constexpr std::size_t kShown = 32;
  const std::string_view text = label_or_annotation(key);
  if (text.empty()) return std::nullopt;
  const auto number = parse_number<int>(text);
  if (number && *number >= least && *number <= limits::kMaxManifestPods) return number;
  if (problem.empty()) {
    problem = std::string(key) + " is " + in_quotes(std::string(text.substr(0, kShown))) +
              "; expected a number from " + std::to_string(least) + " to " +
              std::to_string(limits::kMaxManifestPods);
  }
  return std::nullopt;
}

std::optional<int> PodMarks::number_in_name(const std::string& prefix) const {
  const std::string_view name = pod_.key.name;
  if (!name.starts_with(prefix + "-")) return std::nullopt;
  const auto number = parse_number<int>(name.substr(prefix.size() + 1));
  return number && *number >= 0 && *number <= limits::kMaxManifestPods ? number : std::nullopt;
}

namespace {

// What replacements need, whatever the framework.
void read_repair(const PodMarks& marks, GangMark& to) {
  constexpr const char* kSpares = "chipweave.dev/spares";
  const int spares = marks.number(kSpares, 0, to.problem).value_or(0);
  if (spares <= kMaxGangSpares) {
    to.spares = spares;
  } else if (to.problem.empty()) {
    to.problem = std::string(kSpares) + " is " + std::to_string(spares) +
                 "; a gang can have at most " + std::to_string(kMaxGangSpares);
  }
  const std::string_view rule = marks.label("fault-scheduling");
  if (rule == "force") to.fault = FaultRule::force;
  if (rule == "grace") to.fault = FaultRule::grace;
}

}  // namespace
}  // namespace gangs

std::optional<GangMark> gang_mark_of(const PodRequest& pod) {
  const gangs::PodMarks marks(pod);
  std::optional<GangMark> out;
  for (const gangs::Framework& framework : gangs::kFrameworks) {
    GangMark mark;
    framework.read(marks, mark);
    if (!out) {
      if (mark.name.empty()) continue;
      mark.framework = framework.name;
      out = std::move(mark);
      continue;
    }
    if (!out->index && mark.index) {
      out->role = std::move(mark.role);
      out->index = mark.index;
    } else if (out->role.empty() && !out->index) {
      out->role = std::move(mark.role);
    }
    if (out->problem.empty()) out->problem = std::move(mark.problem);
  }
  if (out) gangs::read_repair(marks, *out);
  if (out && out->size && out->minimum && *out->minimum > *out->size) {
    out->problem = "at least " + std::to_string(*out->minimum) +
                   " pods must start, and there are " + std::to_string(*out->size);
    out->minimum.reset();
  }
  return out;
}

std::string gang_id(const PodRequest& pod) {
  if (pod.mark == nullptr) return {};
  return pod.key.ns + "/" + pod.mark->framework + "/" + pod.mark->name;
}

std::vector<std::string_view> gang_frameworks() {
  std::vector<std::string_view> names;
  names.reserve(gangs::kFrameworks.size());
  for (const gangs::Framework& framework : gangs::kFrameworks) names.emplace_back(framework.name);
  return names;
}

}  // namespace chipweave::sched

#include "common/base/limits.hpp"
#include "common/base/text.hpp"
#include "scheduler-plugin/model/gangs/frameworks.hpp"

namespace chipweave::sched::gangs {

namespace {

// Before Volcano 1.9 the index is only in the name of the pod, JOB-TASK-INDEX.
std::optional<int> index_in_name(const PodMarks& marks, std::string_view task) {
  const std::string prefix =
      std::string(marks.label_or_annotation("volcano.sh/job-name")) + "-" + std::string(task) + "-";
  const std::string_view name = marks.pod().key.name;
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto index = parse_number<int>(name.substr(prefix.size()));
  return index && *index >= 0 && *index <= limits::kMaxManifestPods ? index : std::nullopt;
}

}  // namespace

// The PodGroup of scheduling.volcano.sh, whose minMember is the minimum; the role is a task of the
// Job.
void read_volcano(const PodMarks& marks, GangMark& to) {
  to.name = marks.annotation("scheduling.k8s.io/group-name");
  if (to.name.empty()) to.name = marks.annotation("scheduling.volcano.sh/group-name");
  to.role = marks.label_or_annotation("volcano.sh/task-spec");
  to.index = marks.number("volcano.sh/task-index", 0, to.problem);
  if (!to.index && !to.role.empty()) to.index = index_in_name(marks, to.role);
}

}  // namespace chipweave::sched::gangs

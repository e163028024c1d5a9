// Frameworks — each reads its own marks from a pod's labels and annotations, and nothing else.
// Sources: the frameworks' own code and documents; docs/reference/annotations-and-labels.md has the
// list.
#pragma once

#include <array>
#include <string_view>

#include "scheduler-plugin/model/gangs/gang_mark.hpp"

namespace chipweave::sched::gangs {

// Views live as long as the pod.
class PodMarks {
 public:
  explicit PodMarks(const PodRequest& pod) : pod_(pod) {}

  // "" also where there is none.
  std::string_view label(const char* key) const;
  std::string_view annotation(const char* key) const;
  std::string_view label_or_annotation(const char* key) const;
  const PodRequest& pod() const { return pod_; }

  // A number that the pod gives under this key, as a label or an annotation. nullopt: it gives
  // none, or one outside [least, limits::kMaxManifestPods], of which `problem` then tells.
  std::optional<int> number(const char* key, int least, std::string& problem) const;
  // The number that ends the pod's name, PREFIX-NUMBER.
  std::optional<int> number_in_name(const std::string& prefix) const;

 private:
  const PodRequest& pod_;
};

// Fills in what the framework's marks say; leaves `name` empty where they name no gang.
using ReadMark = void (*)(const PodMarks& marks, GangMark& to);

void read_own(const PodMarks& marks, GangMark& to);
void read_native(const PodMarks& marks, GangMark& to);
void read_volcano(const PodMarks& marks, GangMark& to);
void read_scheduler_plugins(const PodMarks& marks, GangMark& to);
void read_koordinator(const PodMarks& marks, GangMark& to);
void read_kai(const PodMarks& marks, GangMark& to);
void read_kueue(const PodMarks& marks, GangMark& to);
void read_grove(const PodMarks& marks, GangMark& to);
void read_ack(const PodMarks& marks, GangMark& to);
void read_lws(const PodMarks& marks, GangMark& to);
void read_jobset(const PodMarks& marks, GangMark& to);
void read_trainer(const PodMarks& marks, GangMark& to);
void read_dlrover(const PodMarks& marks, GangMark& to);
void read_ray(const PodMarks& marks, GangMark& to);
void read_ascend(const PodMarks& marks, GangMark& to);
void read_job(const PodMarks& marks, GangMark& to);

struct Framework {
  const char* name;
  ReadMark read;
  // Its gangs are kube-scheduler's own, which tries a gang with a topology constraint in one domain
  // after the other.
  bool native = false;
  bool one_node = false;      // the pods of a gang have one node together (Groups)
  bool one_template = false;  // all pods of a gang are alike
};

// Ours first, then what schedulers go by, then jobs, the outer controller before the inner one: a
// JobSet's pods also carry the name of their Job. KAI's marks come to pods that were made already:
// they must not take one out of the gang that it was planned in.
inline constexpr std::array<Framework, 16> kFrameworks{{
    {"chipweave", read_own},
    {"kubernetes", read_native, true},
    {"volcano", read_volcano},
    {"scheduler-plugins", read_scheduler_plugins},
    {"koordinator", read_koordinator},
    {"kueue", read_kueue},
    {"grove", read_grove},
    {"ack", read_ack, false, true},
    {"lws", read_lws},
    {"jobset", read_jobset},
    {"trainer", read_trainer},
    {"dlrover", read_dlrover},
    {"ray", read_ray},
    {"ascend", read_ascend},
    {"job", read_job, false, false, true},
    {"kai", read_kai},
}};

// Null: there is none of that name.
constexpr const Framework* framework_called(std::string_view name) {
  for (const Framework& one : kFrameworks) {
    if (name == one.name) return &one;
  }
  return nullptr;
}

}  // namespace chipweave::sched::gangs

// Jobs — which pods belong together: the job identity of a pod from the labels that job controllers
// set, and the accelerator pods of each job that the cluster holds.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "scheduler-plugin/app/model.hpp"

namespace chipweave::sched {

// Whether a label of that name says which job a pod belongs to.
bool names_a_job(std::string_view label);
// "" if the pod carries no such label. Never equal for pods of two namespaces.
std::string job_identity(const PodAsk& pod);

class Jobs {
 public:
  void add(const PodAsk& pod);
  void remove(const PodAsk& pod);
  // Whether the job has accelerator pods besides the one with this uid.
  bool has_others(const std::string& job, const std::string& uid) const;

 private:
  std::map<std::string, std::set<std::string>> members_;
};

}  // namespace chipweave::sched

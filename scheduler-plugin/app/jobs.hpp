// Jobs — which pods belong together: the job identity of a pod from the labels that job controllers
// set, and how many accelerator pods of each job the cluster holds.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "scheduler-plugin/app/model.hpp"

namespace chipweave::sched {

// "" if the pod carries no such label and is in no gang. Never equal for pods of two namespaces.
std::string job_identity(const PodRequest& pod);

class Jobs {
 public:
  // Each pod once.
  void add(const PodRequest& pod);
  void remove(const PodRequest& pod);
  // How many pods with chips the job has.
  std::size_t members(const std::string& job) const;

 private:
  std::map<std::string, std::size_t> members_;
};

}  // namespace chipweave::sched

// Jobs — how many accelerator pods of each job the cluster holds. Owner: the loop thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "scheduler-plugin/model/pod.hpp"

namespace chipweave::sched {

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

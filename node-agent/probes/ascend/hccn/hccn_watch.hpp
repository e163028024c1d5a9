// HccnWatch — runs hccn_tool as an HccnSchedule says, on a thread of its own: a tool that takes
// seconds, or hangs, does not delay those who read the answers.
//
// Its destructor waits for the running call, at most the ten seconds of its time limit.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/base/result.hpp"
#include "node-agent/probes/ascend/hccn/hccn_schedule.hpp"

namespace chipweave::agent {

class HccnWatch {
 public:
  // Arguments of the program → its output. Called on the thread.
  using RunTool = std::function<Result<std::string>(const std::vector<std::string>&)>;

  explicit HccnWatch(RunTool run_tool);
  // Runs the program at that path.
  explicit HccnWatch(const std::string& tool);
  HccnWatch(const HccnWatch&) = delete;
  HccnWatch& operator=(const HccnWatch&) = delete;
  ~HccnWatch();

  void set_targets(const std::vector<HccnTarget>& targets);
  std::map<int, HccnAnswers> answers() const;
  std::uint64_t version() const;

 private:
  void run();

  RunTool run_tool_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  HccnSchedule schedule_;  // under mutex_, as the next
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace chipweave::agent

#include "node-agent/probes/ascend/hccn/hccn_watch.hpp"

#include <chrono>
#include <utility>

#include "common/io/hccn_program.hpp"

namespace chipweave::agent {

HccnWatch::HccnWatch(RunTool run_tool)
    : run_tool_(std::move(run_tool)), thread_([this] { run(); }) {}

// A new one for each call: the object never recovers from a tool that hung.
HccnWatch::HccnWatch(const std::string& tool)
    : HccnWatch([tool](const std::vector<std::string>& arguments) {
        return io::HccnProgram(tool).answer(arguments);
      }) {}

HccnWatch::~HccnWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void HccnWatch::set_targets(const std::vector<HccnTarget>& targets) {
  {
    const std::lock_guard lock(mutex_);
    schedule_.set_targets(targets);
  }
  changed_.notify_all();
}

std::map<int, HccnAnswers> HccnWatch::answers() const {
  const std::lock_guard lock(mutex_);
  return schedule_.answers();
}

std::uint64_t HccnWatch::version() const {
  const std::lock_guard lock(mutex_);
  return schedule_.version();
}

void HccnWatch::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto question = schedule_.next(std::chrono::steady_clock::now());
    if (question) {
      lock.unlock();
      const Result<std::string> output = run_tool_(question->arguments);
      lock.lock();
      schedule_.take(*question, output, std::chrono::steady_clock::now());
    } else if (const auto due = schedule_.due()) {
      changed_.wait_until(lock, *due);
    } else {
      changed_.wait(lock);
    }
  }
}

}  // namespace chipweave::agent

#include "common/io/hccn_program.hpp"

#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

#include "common/codec/ascend/hccn/hccn_tool.hpp"
#include "common/io/child_process.hpp"

namespace chipweave::io {
namespace {

constexpr const char* kTool = "/usr/local/Ascend/driver/tools/hccn_tool";
constexpr std::chrono::milliseconds kBusyPause{200};
constexpr int kTries = 5;  // of a tool that is busy

HccnProgram::RunTool runner_of(const std::string& path) {
  return [path](const std::vector<std::string>& words) -> Result<std::string> {
    std::vector<std::string> command = {path};
    command.insert(command.end(), words.begin(), words.end());
    ChildLimits limits;
    limits.max_bytes = codec::ascend::kMaxHccnToolBytes;
    return run_child(command, limits).transform([](const ChildOutput& out) { return out.text; });
  };
}

}  // namespace

std::string installed_hccn_tool() {
  return ::access(kTool, X_OK) == 0 ? kTool : find_on_path("hccn_tool");
}

HccnProgram::HccnProgram(const std::string& path)
    : HccnProgram(runner_of(path), [] { std::this_thread::sleep_for(kBusyPause); }) {}

Result<std::string> HccnProgram::answer(const std::vector<std::string>& words) {
  for (int tries = 1;; ++tries) {
    Result<std::string> output = run_tool_(words);
    if (!output && output.error().code == Errc::deadline) {
      run_tool_ = [why = output.error()](const std::vector<std::string>&) {
        return Result<std::string>(why);
      };
    }
    const bool busy = output && output->find("is busy") != std::string::npos;
    if (!busy || tries == kTries) return output;
    pause_();
  }
}

}  // namespace chipweave::io

#include "cli/ranktable_tools/hccn_program.hpp"

#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

#include "common/codec/ascend/hccn_tool.hpp"
#include "common/io/child_process.hpp"

namespace chipweave::cli {
namespace {

constexpr const char* kTool = "/usr/local/Ascend/driver/tools/hccn_tool";
constexpr std::chrono::milliseconds kBusyPause{200};
constexpr int kTries = 5;  // of a tool that is busy

HccnProgram::Ask asker_of(const std::string& path) {
  return [path](const std::vector<std::string>& words) -> Result<std::string> {
    std::vector<std::string> command = {path};
    command.insert(command.end(), words.begin(), words.end());
    io::ChildLimits limits;
    limits.most_bytes = codec::ascend::kMaxHccnToolBytes;
    Result<io::ChildOutput> output = io::run_child(command, limits);
    if (!output) return std::move(output).error();
    return std::move(output->text);
  };
}

}  // namespace

Result<std::string> find_hccn_tool(const std::string& named) {
  if (named.empty()) {
    return ::access(kTool, X_OK) == 0 ? std::string(kTool) : io::find_on_path("hccn_tool");
  }
  if (::access(named.c_str(), X_OK) == 0) return named;
  return make_error(Errc::not_found,
                    "argument --hccn-tool: there is no program " + named + " that may be run");
}

HccnProgram::HccnProgram(const std::string& path)
    : HccnProgram(asker_of(path), [] { std::this_thread::sleep_for(kBusyPause); }) {}

Result<std::string> HccnProgram::answer(const std::vector<std::string>& words) {
  for (int tries = 1;; ++tries) {
    Result<std::string> output = ask_(words);
    if (!output && output.error().code == Errc::deadline) {
      ask_ = [why = output.error()](const std::vector<std::string>&) {
        return Result<std::string>(why);
      };
    }
    const bool busy = output && output->find("is busy") != std::string::npos;
    if (!busy || tries == kTries) return output;
    pause_();
  }
}

}  // namespace chipweave::cli

// HccnProgram — runs hccn_tool: retries while it is busy, and stops calling it after it has hung
// once, since it would then hang for every device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::io {

// The path of the driver's hccn_tool, otherwise of the one on PATH; "" if there is none.
std::string installed_hccn_tool();

class HccnProgram {
 public:
  // Arguments of the program → its output.
  using RunTool = std::function<Result<std::string>(const std::vector<std::string>&)>;

  explicit HccnProgram(const std::string& path);
  // pause: called before each retry of a busy tool.
  HccnProgram(RunTool run_tool, std::function<void()> pause)
      : run_tool_(std::move(run_tool)), pause_(std::move(pause)) {}

  Result<std::string> answer(const std::vector<std::string>& words);

 private:
  RunTool run_tool_;
  std::function<void()> pause_;
};

}  // namespace chipweave::io

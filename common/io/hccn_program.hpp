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
  using Ask = std::function<Result<std::string>(const std::vector<std::string>&)>;

  explicit HccnProgram(const std::string& path);
  // pause: called before each retry of a busy tool.
  HccnProgram(Ask ask, std::function<void()> pause)
      : ask_(std::move(ask)), pause_(std::move(pause)) {}

  Result<std::string> answer(const std::vector<std::string>& words);

 private:
  Ask ask_;
  std::function<void()> pause_;
};

}  // namespace chipweave::io

// HccnProgram — hccn_tool of this machine as something to ask: it is asked again while it is busy,
// and no more once it hung, which it would do for every device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace chipweave::io {

// The path of the driver's own, else of the one on PATH; "" where there is none.
std::string installed_hccn_tool();

class HccnProgram {
 public:
  // The words behind the program's name → what it prints.
  using Ask = std::function<Result<std::string>(const std::vector<std::string>&)>;

  explicit HccnProgram(const std::string& path);
  // pause: between a busy tool and the next try.
  HccnProgram(Ask ask, std::function<void()> pause)
      : ask_(std::move(ask)), pause_(std::move(pause)) {}

  Result<std::string> answer(const std::vector<std::string>& words);

 private:
  Ask ask_;
  std::function<void()> pause_;
};

}  // namespace chipweave::io

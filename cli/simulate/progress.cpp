#include "cli/simulate/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace chipweave::cli {

Progress::Progress(std::size_t total)
    : total_(std::max<std::size_t>(total, 1)), terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (!drawn_.empty()) std::fprintf(stderr, "\r\x1b[K");
}

void Progress::show(std::size_t done, const std::string& what) {
  if (!terminal_) return;
  constexpr std::size_t kWidth = 40;
  const std::size_t filled = std::min(done, total_) * kWidth / total_;
  std::string bar =
      fmt::format("[{}{}] {:3} % {}", std::string(filled, '#'), std::string(kWidth - filled, '.'),
                  std::min(done, total_) * 100 / total_, what);
  if (bar == drawn_) return;
  drawn_ = std::move(bar);
  std::fprintf(stderr, "\r\x1b[K%s", drawn_.c_str());
  std::fflush(stderr);
}

std::uint64_t steady_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

}  // namespace chipweave::cli

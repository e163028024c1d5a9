#include "common/base/clock.hpp"

#include <array>
#include <ctime>

namespace chipweave {

std::string rfc3339(Clock::Wall time) {
  const std::time_t seconds =
      std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(time));
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

std::string rfc3339_micros(Clock::Wall time) {
  constexpr std::size_t kDigits = 6;
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(time - second);
  const std::string digits = std::to_string(rest.count());
  std::string out = rfc3339(second);
  out.pop_back();  // the Z
  return out + "." + std::string(kDigits - digits.size(), '0') + digits + "Z";
}

}  // namespace chipweave

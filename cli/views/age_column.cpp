#include "cli/views/age_column.hpp"

#include <cstdint>

#include "common/base/age.hpp"
#include "common/codec/kube/rfc3339_time.hpp"

namespace chipweave::cli {

std::string age_since(const std::string& time, std::chrono::system_clock::time_point now) {
  const std::int64_t since = codec::seconds_of(time);
  if (since == 0) return "-";
  const std::chrono::system_clock::time_point at{std::chrono::seconds(since)};
  return age_text(std::chrono::duration_cast<std::chrono::seconds>(now - at));
}

}  // namespace chipweave::cli

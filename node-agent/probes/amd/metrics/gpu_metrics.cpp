#include "node-agent/probes/amd/metrics/gpu_metrics.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace chipweave::agent {
namespace {

using domain::LinkTraffic;
using domain::ThrottleReason;
using domain::TrafficKind;

constexpr std::size_t kXgmiLinks = 8;
constexpr std::uint64_t kUnit = 1024;  // bytes
constexpr unsigned kFormat = 1;

// Offsets of the accumulated data of all links.
struct XgmiLayout {
  unsigned content;  // the second part of the version
  std::size_t read;
  std::size_t written;
};
constexpr std::array<XgmiLayout, 4> kXgmi = {
    {{4, 104, 168}, {6, 128, 192}, {7, 136, 200}, {8, 136, 200}}};

// Bits of the chip-independent status (drivers/gpu/drm/amd/pm/swsmu/inc/amdgpu_smu.h).
constexpr unsigned kThrottleContent = 3;
constexpr std::size_t kThrottleStatus = 112;
constexpr std::uint64_t kPower = 0x0000'0000'0000'ffff;
constexpr std::uint64_t kCurrent = 0x0000'0000'ffff'0000;
constexpr std::uint64_t kThermal = 0x0000'ffff'0000'0000;

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  // Little endian; nullopt beyond the end, and for all ones, which mean that there is no value.
  template <class Number>
  std::optional<Number> at(std::size_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(Number)) return std::nullopt;
    std::uint64_t out = 0;
    for (std::size_t i = sizeof(Number); i-- > 0;) {
      out = out << 8U | static_cast<unsigned char>(bytes_[offset + i]);
    }
    const auto number = static_cast<Number>(out);
    return number == std::numeric_limits<Number>::max() ? std::nullopt : std::optional(number);
  }

 private:
  std::string_view bytes_;
};

std::optional<std::uint64_t> data_at(const Bytes& bytes, std::size_t offset) {
  const auto amount = bytes.at<std::uint64_t>(offset);
  const bool fits = amount && *amount <= std::numeric_limits<std::uint64_t>::max() / kUnit;
  return fits ? std::optional(*amount * kUnit) : std::nullopt;
}

}  // namespace

GpuMetricsTable parse_gpu_metrics(std::string_view text) {
  GpuMetricsTable out;
  const auto size = Bytes(text).at<std::uint16_t>(0);
  const auto format = Bytes(text).at<std::uint8_t>(2);
  const auto content = Bytes(text).at<std::uint8_t>(3);
  if (!size || format != kFormat || !content) return out;
  const Bytes bytes(text.substr(0, *size));
  for (const XgmiLayout& layout : kXgmi) {
    if (layout.content != *content) continue;
    for (std::size_t link = 0; link < kXgmiLinks; ++link) {
      const auto read = data_at(bytes, layout.read + link * sizeof(std::uint64_t));
      const auto written = data_at(bytes, layout.written + link * sizeof(std::uint64_t));
      if (!read || !written) continue;
      out.links.push_back({TrafficKind::xgmi, static_cast<int>(link), *written, *read});
    }
  }
  if (*content == kThrottleContent) {
    if (const auto status = bytes.at<std::uint64_t>(kThrottleStatus)) {
      out.throttled = {{ThrottleReason::power, (*status & kPower) != 0},
                       {ThrottleReason::thermal, (*status & kThermal) != 0},
                       {ThrottleReason::current, (*status & kCurrent) != 0}};
    }
  }
  return out;
}

}  // namespace chipweave::agent

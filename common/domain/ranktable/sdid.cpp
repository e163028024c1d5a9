#include "common/domain/ranktable/sdid.hpp"

namespace chipweave::domain::ranktable {
namespace {

constexpr int kMaxServerIndex = 47;
constexpr int kNoSuperPod = 168;
constexpr int kLastOfHost = 199;

}  // namespace

std::int64_t sdid_of(std::int64_t server_index, int device_id) {
  const std::int64_t chip = device_id / 2;
  const std::int64_t die = device_id % 2;
  return (server_index << 22) | (chip << 18) | (die << 16) | device_id;
}

std::optional<Sdid> decode_sdid(std::int64_t sdid) {
  if (sdid < 0 || sdid > INT64_C(0xFFFFFFFF)) return std::nullopt;
  Sdid out;
  out.server_index = sdid >> 22;
  out.chip = static_cast<int>(sdid >> 18 & 0xF);
  out.die = static_cast<int>(sdid >> 16 & 0x3);
  out.device_id = static_cast<int>(sdid & 0xFFFF);
  if (out.die > 1 || out.device_id != out.chip * 2 + out.die) return std::nullopt;
  return out;
}

bool is_vnic_address(const IpAddress& address, std::int64_t device_id) {
  if (address.v6 || address.bytes[0] != 192) return false;
  const int server = address.bytes[1];
  const int lane = address.bytes[2];
  return (server <= kMaxServerIndex || server == kNoSuperPod) && lane >= 2 && lane <= 5 &&
         device_id == kLastOfHost - address.bytes[3];
}

}  // namespace chipweave::domain::ranktable

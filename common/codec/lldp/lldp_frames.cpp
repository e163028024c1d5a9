// LLDP frames as they come from the wire. Type-length-value elements: 7 bits type, 9 bits length
// (IEEE 802.1AB-2016, 8.4); the subtypes of port ids and chassis ids are in 8.5.2 and 8.5.3, the
// management address in 8.5.9.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "common/base/ip_address.hpp"
#include "common/codec/lldp/lldp.hpp"
#include "common/codec/lldp/lldp_text.hpp"

namespace chipweave::codec {
namespace {

constexpr std::size_t kEthernetHeader = 14;
constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxFrame = 4096;  // networkctl's
constexpr unsigned kEtherTypeLldp = 0x88cc;
constexpr std::size_t kMacBytes = 6;

enum Type : unsigned {
  kEnd = 0,
  kChassisId = 1,
  kPortId = 2,
  kTimeToLive = 3,
  kPortDescription = 4,
  kSystemName = 5,
  kManagementAddress = 8,
};
constexpr unsigned kPortIdMac = 3;
constexpr unsigned kPortIdNetworkAddress = 4;

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

std::string mac_text(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::array<char, 4> two{};
    std::snprintf(two.data(), two.size(), "%02x", byte_at(bytes, i));
    if (!out.empty()) out += ':';
    out += two.data();
  }
  return out;
}

// Address family 1 is IPv4, 2 IPv6; "" for any other.
std::string address_text(unsigned family, std::string_view bytes) {
  const bool v4 = family == 1 && bytes.size() == 4;
  const bool v6 = family == 2 && bytes.size() == 16;
  if (!v4 && !v6) return "";
  IpAddress out;
  out.v6 = v6;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    out.bytes[i] = static_cast<std::uint8_t>(byte_at(bytes, i));
  }
  return out.text();
}

// Names end with NULs on some devices.
std::string name_text(std::string_view bytes) {
  while (!bytes.empty() && bytes.back() == '\0') bytes.remove_suffix(1);
  return lldp_ascii(bytes);
}

class FrameReader {
 public:
  std::optional<LldpNeighbour> read(std::string_view frame) {
    if (frame.size() < kEthernetHeader) return std::nullopt;
    if ((byte_at(frame, 12) << 8U | byte_at(frame, 13)) != kEtherTypeLldp) return std::nullopt;
    frame.remove_prefix(kEthernetHeader);
    while (frame.size() >= 2) {
      const unsigned head = byte_at(frame, 0) << 8U | byte_at(frame, 1);
      const std::size_t length = head & 0x1ffU;
      if (frame.size() - 2 < length) return std::nullopt;
      if (head >> 9U == kEnd) return finished();
      take(head >> 9U, frame.substr(2, length));
      frame.remove_prefix(2 + length);
    }
    return std::nullopt;  // without its end the frame is cut
  }

 private:
  void take(unsigned type, std::string_view value) {
    switch (type) {
      case kChassisId:
        chassis_ = value.size() >= 2;
        break;
      case kPortId:
        if (value.size() >= 2) take_port(byte_at(value, 0), value.substr(1));
        break;
      case kTimeToLive:
        lives_ = value.size() == 2;
        break;
      case kPortDescription:
        description_ = name_text(value);
        break;
      case kSystemName:
        out_.system = name_text(value);
        break;
      case kManagementAddress:
        if (out_.address.empty()) out_.address = management_address(value);
        break;
      default:
        break;
    }
  }

  void take_port(unsigned subtype, std::string_view id) {
    port_is_mac_ = subtype == kPortIdMac && id.size() == kMacBytes;
    if (port_is_mac_) {
      out_.port = mac_text(id);
    } else if (subtype == kPortIdNetworkAddress) {
      out_.port = address_text(byte_at(id, 0), id.substr(1));
    } else {
      out_.port = name_text(id);
    }
  }

  // One byte length of what follows: family and address.
  static std::string management_address(std::string_view value) {
    if (value.size() < 2) return "";
    const std::size_t length = byte_at(value, 0);
    if (length < 1 || value.size() - 1 < length) return "";
    return address_text(byte_at(value, 1), value.substr(2, length - 1));
  }

  std::optional<LldpNeighbour> finished() {
    if (!chassis_ || !lives_ || out_.port.empty()) return std::nullopt;
    if (port_is_mac_ && !description_.empty()) out_.port = description_;
    return std::move(out_);
  }

  LldpNeighbour out_;
  std::string description_;
  bool chassis_ = false;
  bool lives_ = false;
  bool port_is_mac_ = false;
};

}  // namespace

Result<std::vector<LldpNeighbour>> parse_lldp_frames(std::string_view bytes) {
  if (bytes.size() > kMaxLldpBytes) {
    return make_error(Errc::limit_exceeded, "LLDP frames of " + std::to_string(bytes.size()) +
                                                " bytes, at most " + std::to_string(kMaxLldpBytes));
  }
  std::vector<LldpNeighbour> out;
  while (!bytes.empty() && out.size() < kMaxLldpNeighbours) {
    if (bytes.size() < kLengthBytes) {
      return make_error(Errc::invalid_argument, "LLDP frames: the last length is cut");
    }
    std::uint64_t length = 0;
    for (std::size_t i = kLengthBytes; i-- > 0;) length = length << 8U | byte_at(bytes, i);
    bytes.remove_prefix(kLengthBytes);
    if (length >= kMaxFrame || length > bytes.size()) {
      return make_error(Errc::invalid_argument, "LLDP frames: one of " + std::to_string(length) +
                                                    " bytes where " + std::to_string(bytes.size()) +
                                                    " are left");
    }
    const auto size = static_cast<std::size_t>(length);
    if (auto one = FrameReader().read(bytes.substr(0, size))) out.push_back(std::move(*one));
    bytes.remove_prefix(size);
  }
  return out;
}

}  // namespace chipweave::codec

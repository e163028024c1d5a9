// LLDP frames as a switch would send them, and networkd's file of them. Constructed, not captured.
#pragma once

#include <string>
#include <vector>

#include "common/base/ip_address.hpp"

namespace chipweave::codec {

inline std::string tlv(unsigned type, const std::string& value) {
  const unsigned head = type << 9U | static_cast<unsigned>(value.size());
  return std::string{static_cast<char>(head >> 8U), static_cast<char>(head & 0xffU)} + value;
}

// To the nearest bridge, from some address, type LLDP.
inline std::string ethernet() {
  return std::string("\x01\x80\xc2\x00\x00\x0e\x00\x11\x22\x33\x44\x55\x88\xcc", 14);
}

inline std::string chassis() { return tlv(1, std::string("\x04\x00\x11\x22\x33\x44\x55", 7)); }
inline std::string time_to_live() { return tlv(3, std::string("\x00\x78", 2)); }
inline std::string end_mark() { return tlv(0, ""); }

// Family, address, then the interface's numbering: subtype, four bytes, no object id.
inline std::string management(const std::string& address) {
  const IpAddress ip = parse_ip(address).value();
  std::string bytes(1, ip.v6 ? '\x02' : '\x01');
  for (int i = 0; i < ip.bits() / 8; ++i) {
    bytes += static_cast<char>(ip.bytes[static_cast<std::size_t>(i)]);
  }
  return tlv(8, std::string(1, static_cast<char>(bytes.size())) + bytes +
                    std::string("\x02\x00\x00\x00\x01\x00", 6));
}

// port: an interface name.
inline std::string made_frame(const std::string& system, const std::string& port,
                              const std::string& address) {
  return ethernet() + chassis() + tlv(2, "\x05" + port) + time_to_live() + tlv(5, system) +
         management(address) + end_mark();
}

inline std::string file_of(const std::vector<std::string>& frames) {
  std::string out;
  for (const std::string& frame : frames) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      out += static_cast<char>(static_cast<unsigned long long>(frame.size()) >> shift & 0xffU);
    }
    out += frame;
  }
  return out;
}

}  // namespace chipweave::codec

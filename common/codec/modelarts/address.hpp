// IP addresses as rank tables hold them. Nothing is resolved: a name is no address.
#pragma once

#include <string_view>

namespace chipweave::codec {

// IPv4 with four decimal parts, or IPv6 with or without "%scope".
bool is_ip_address(std::string_view text);
// The same, several joined by commas: devices with two ports.
bool is_address_list(std::string_view text);

}  // namespace chipweave::codec

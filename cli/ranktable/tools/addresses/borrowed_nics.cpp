#include "cli/ranktable/tools/addresses/borrowed_nics.hpp"

#include <optional>
#include <string_view>

#include "cli/ranktable/tools/words.hpp"
#include "common/base/foreign_text.hpp"

namespace chipweave::cli {
namespace {

constexpr int kFirstPort = 16667;
constexpr int kLastPort = 65535;

Error bad(const char* option, const std::string& what) {
  return make_error(Errc::invalid_argument, std::string("argument ") + option + ": " + what);
}

}  // namespace

Result<BorrowedNics> BorrowedNics::parse(const std::string& list,
                                         const std::vector<std::string>& range) {
  BorrowedNics out;
  out.next_port_ = kFirstPort;
  out.last_port_ = kLastPort;
  if (range.size() == 2) {
    const auto first = whole_number(range[0], kLastPort);
    const auto last = whole_number(range[1], kLastPort);
    if (!first || !last || *first < 1 || *first > *last) {
      return bad("--device-port-range", in_quotes(range[0] + " " + range[1]) +
                                            " is no range of ports: two numbers from 1 to 65535, "
                                            "the first not above the second");
    }
    out.next_port_ = *first;
    out.last_port_ = *last;
  }
  if (list.empty()) return out;
  for (const std::string_view word : split_commas(list)) {
    if (!parse_ip(word)) {
      return bad(
          "--replace-device-list",
          in_quotes(word) + " is no address: write them with commas between, without blanks");
    }
    out.avoided_.emplace(word);
  }
  out.unused_ = out.avoided_;
  return out;
}

Result<codec::ranktable::PdDevice> BorrowedNics::resolve(int device, const std::string& address,
                                                         DeviceAddresses& addresses) {
  if (!avoided_.contains(address)) return codec::ranktable::PdDevice{device, address, {}};
  unused_.erase(address);
  const int sibling = device ^ 1;
  const Result<Ports> ports = addresses.of(sibling);
  if (!ports) {
    return Error(ports.error())
        .in("argument --replace-device-list: device " + std::to_string(device) +
            " needs the NIC of its sibling die");
  }
  const std::string& borrowed = ports->front().address;
  if (avoided_.contains(borrowed)) {
    return bad("--replace-device-list", "device " + std::to_string(device) + " (" + address +
                                            ") would use the NIC of device " +
                                            std::to_string(sibling) + ", and its address " +
                                            borrowed + " is already in replace device");
  }
  if (next_port_ > last_port_) {
    return bad("--device-port-range", "has no port left for device " + std::to_string(device));
  }
  return codec::ranktable::PdDevice{device, borrowed, next_port_++};
}

}  // namespace chipweave::cli

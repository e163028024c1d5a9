#include "cli/ranktable/tools/addresses/borrowed_nics.hpp"

#include <string_view>

#include "common/base/foreign_text.hpp"
#include "common/base/text.hpp"
#include "common/codec/ranktable/tools/pd_instances.hpp"

namespace chipweave::cli {
namespace {

using codec::ranktable::argument_error;

constexpr int kFirstPort = 16667;
constexpr int kLastPort = 65535;

constexpr const char* kRangeOption = "--device-port-range";
constexpr const char* kListOption = "--replace-device-list";

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
      return argument_error(kRangeOption,
                            "expected two ports from 1 to 65535 in ascending order, got ",
                            in_quotes(range[0] + " " + range[1]));
    }
    out.next_port_ = static_cast<int>(*first);
    out.last_port_ = static_cast<int>(*last);
  }
  if (list.empty()) return out;
  for (const std::string_view word : split(list, ',')) {
    if (!parse_ip(word)) {
      return argument_error(kListOption, "expected addresses separated by commas, got ",
                            in_quotes(word));
    }
    out.avoided_.emplace(word);
  }
  out.unused_ = out.avoided_;
  return out;
}

Result<codec::ranktable::PdDevice> BorrowedNics::resolve(int device, const std::string& address,
                                                         const DeviceAddresses& addresses) {
  if (!avoided_.contains(address)) return codec::ranktable::PdDevice{device, address, {}};
  unused_.erase(address);
  const int sibling = device ^ 1;
  const Result<Ports> ports = addresses(sibling);
  if (!ports) {
    return Error(ports.error())
        .in(concat("argument ", kListOption, ": device ", device,
                   " needs the NIC of its sibling die"));
  }
  const std::string& borrowed = ports->front().address;
  if (avoided_.contains(borrowed)) {
    return argument_error(kListOption, "device ", device, " (", address,
                          ") would use the NIC of device ", sibling,
                          ", but the list has its address ", borrowed, " too");
  }
  if (next_port_ > last_port_) {
    return argument_error(kRangeOption, "has no port left for device ", device);
  }
  return codec::ranktable::PdDevice{device, borrowed, next_port_++};
}

}  // namespace chipweave::cli

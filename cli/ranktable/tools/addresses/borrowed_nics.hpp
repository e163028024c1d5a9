// BorrowedNics — which devices use the NIC of their sibling die because their own is to be avoided.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/ranktable/tools/addresses/device_addresses.hpp"
#include "common/base/result.hpp"
#include "common/codec/ranktable/tools/pd_tables.hpp"

namespace chipweave::cli {

class BorrowedNics {
 public:
  // list: addresses with commas between, or empty; range: empty, or two ports. Errors name the
  // option.
  static Result<BorrowedNics> parse(const std::string& list, const std::vector<std::string>& range);

  // The device as the table has it: under its own address, or, where that is to be avoided, under
  // that of device id xor 1 with a port that no other device of this table has.
  Result<codec::ranktable::PdDevice> resolve(int device, const std::string& address,
                                             DeviceAddresses& addresses);
  // Addresses of the list that no device had.
  const std::set<std::string>& unused() const { return unused_; }

 private:
  std::set<std::string> avoided_;
  std::set<std::string> unused_;
  int next_port_ = 0;
  int last_port_ = 0;
};

}  // namespace chipweave::cli

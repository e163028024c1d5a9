// BorrowedNics — devices whose own NIC must not be used take the NIC of their sibling die.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/ranktable/tools/addresses/device_addresses.hpp"
#include "common/base/result.hpp"
#include "common/codec/ranktable/tools/generated_tables.hpp"

namespace chipweave::cli {

class BorrowedNics {
 public:
  // list: addresses separated by commas, or empty; range: empty, or two ports. Errors name the
  // option.
  static Result<BorrowedNics> parse(const std::string& list, const std::vector<std::string>& range);

  // The device for the table: with its own address, or, if that must not be used, with the address
  // of device id xor 1 and a port that no other device of this table uses.
  Result<codec::ranktable::PdDevice> resolve(int device, const std::string& address,
                                             const DeviceAddresses& addresses);
  // Addresses of the list that none of the resolved devices has.
  const std::set<std::string>& unused() const { return unused_; }

 private:
  std::set<std::string> avoided_;
  std::set<std::string> unused_;
  int next_port_ = 0;
  int last_port_ = 0;
};

}  // namespace chipweave::cli

// HcclRequest — what the words of hccl_tools.py and merge_hccl.py ask for: the table of one server,
// or one made of several.
#pragma once

#include <string>
#include <vector>

#include "cli/ranktable/tools/addresses/address_flags.hpp"
#include "cli/ranktable/tools/argparse.hpp"
#include "common/base/result.hpp"

namespace chipweave::cli {

inline constexpr int kMaxDevicesOfServer = 64;

struct HcclRequest {
  int first = 0;  // of the interval of devices
  int last = 8;   // behind it
  // visible[i]: the physical id of device i, as written and checked to be a number.
  std::vector<std::string> visible;
  std::string server_ip;  // empty: what the host name resolves to
  AddressFlags addresses;
};

ArgSpec hccl_spec(const std::string& program);
// Errors: invalid_argument, in the reference's sense: a wrong value, not wrong usage.
Result<HcclRequest> hccl_request(const ArgWords& words);

ArgSpec merge_hccl_spec(const std::string& program);

}  // namespace chipweave::cli

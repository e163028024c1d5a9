// PdInstances — the prefill and decode instances of a machine, as the options of a generator list
// them ("4,5": an instance of two devices).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/base/text.hpp"

namespace chipweave::codec::ranktable {

inline constexpr int kMaxDeviceId = 1023;

// An error about an option as Python's argparse words it. parts: of the message.
template <class... Parts>
Error argument_error(std::string_view option, const Parts&... parts) {
  return make_error(Errc::invalid_argument, concat("argument ", option, ": ", parts...));
}

using DeviceIds = std::vector<int>;  // of one instance, in the order of its ranks

struct PdInstances {
  std::vector<DeviceIds> prefill;
  std::vector<DeviceIds> decode;
  std::vector<std::string> warnings;
};

// Errors name the option: a wrong device id, a device used twice, instances of one kind that differ
// in size, two instances that would share a file name because their ids are equal without commas
// (1,23 and 12,3). Prefill and decode instances of different size: a warning, with `strict` an
// error.
Result<PdInstances> read_pd_instances(const std::vector<std::string>& prefill,
                                      const std::vector<std::string>& decode, bool strict);

}  // namespace chipweave::codec::ranktable
